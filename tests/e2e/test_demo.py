"""script/demo as a user runs it: the story, its end, and that nothing is left when it is interrupted."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile

import pytest

from harness import BUILD, REPO, clean_environment, wait_until

pytestmark = pytest.mark.plain_only  # it compares resident sizes

DEMO = REPO / "script" / "demo"


def environment(**more):
    return clean_environment(**{"QA_BUILD": BUILD, **more})


@pytest.fixture
def temporary():
    """Where the demo makes its folder; short, as a socket lies in it."""
    with tempfile.TemporaryDirectory(prefix="qa-", dir="/tmp") as folder:
        yield pathlib.Path(folder)


def processes_of(folder):
    """Processes whose environment names a folder of ours."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder).encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def opened_table(text):
    return text.split("It opened a document")[1].split("It closed")[0]


def test_the_demo_tells_its_story_and_leaves_nothing(tmp_path, temporary):
    done = subprocess.run([DEMO], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=170,
                          env=environment(TMPDIR=temporary))
    assert done.returncode == 0, done.stdout + done.stderr
    for command in ("qactl ps", "qactl stats docview", "qactl trim docview"):
        assert f"$ {command}\n" in done.stdout
    assert done.stdout.count("$ qactl stats docview\n") == 3
    # Open: the control blocks of the pointers are the row of 24, and the objects lie in the pools that are theirs.
    used = dict(re.findall(r"^ *(24|32|64) .* (\d+(?:  fields|  records)?)$", opened_table(done.stdout), re.MULTILINE))
    assert int(used["24"]) >= 5 << 20 and used["32"] == f"{4 << 20}  fields" and used["64"] == f"{1 << 20}  records", used
    mib = dict(re.findall(r"^  (start|open|closed|trimmed) +([\d.]+)$", done.stdout, re.MULTILINE))
    assert float(mib["open"]) > 100 and float(mib["closed"]) > 100
    assert float(mib["trimmed"]) <= float(mib["start"]) + 2
    assert "\x1b" not in done.stdout, "no colours into a pipe"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_demo_leaves_nothing(number, code, temporary):
    process = subprocess.Popen([DEMO], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, env=environment(TMPDIR=temporary), start_new_session=True)
    try:
        for line in process.stdout:
            if line.startswith("$ qactl ps"):
                break
        folder = next(temporary.iterdir())
        assert processes_of(folder)
        os.killpg(process.pid, number)  # as a terminal's Ctrl-C does
        process.stdout.read()
        assert process.wait(60) == code
        wait_until(lambda: not processes_of(folder), what="all of the demo's processes to end")
        assert not folder.exists()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_failing_build_is_told(tmp_path):
    done = subprocess.run([DEMO], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                          env=environment(QA_BUILD=tmp_path / "build", CC="/bin/false"))
    assert done.returncode == 1
    assert "the build failed" in done.stderr


def test_help_and_usage():
    done = subprocess.run([DEMO, "--help"], capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and done.stdout.startswith("usage: script/demo")
    done = subprocess.run([DEMO, "surprise"], capture_output=True, text=True, env=environment())
    assert done.returncode == 64 and "usage:" in done.stderr and done.stdout == ""


def test_docview_says_what_is_wrong_and_goes_on(tmp_path):
    """The sample program itself: bad input, then good input."""
    bad = tmp_path / "bad.txt"
    bad.write_text("one\ttwo\tthree\tfour\nonly\ttwo\n")
    good = tmp_path / "good.txt"
    good.write_text("one\ttwo\tthree\tfour\n" * 9)
    lines = ["close", f"open {bad}", "open /nowhere", f"open {good}", "close", "kept", "dance", "quit"]
    done = subprocess.run([BUILD / "examples" / "docview"], input="\n".join(lines) + "\n", capture_output=True,
                          text=True, timeout=30, env=clean_environment(QA_AGENT="off"))
    answers = done.stdout.splitlines()
    assert done.returncode == 0
    assert answers[0] == "error: no document is open"
    assert answers[1].startswith(f"error: {bad}, line 2: ")
    assert answers[2] == "error: cannot open /nowhere: No such file or directory"
    assert answers[3:6] == ["opened 9 records, 171 bytes", "closed, 1 record kept", "one | two | three | four"]
    assert answers[6].startswith("error: the commands are")


@pytest.mark.parametrize("path, code", [("/nowhere", 66), ("/etc/passwd", 65)])
def test_docview_ends_with_a_code_when_its_file_is_bad(path, code):
    done = subprocess.run([BUILD / "examples" / "docview", path], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=30, env=clean_environment(QA_AGENT="off"))
    assert done.returncode == code and done.stdout.startswith("error: ")
