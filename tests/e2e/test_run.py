"""qactl run: a program that knows nothing of libqa runs on it, as it would without qactl."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading

import pytest

from harness import BUILD, clean_environment, end_process, wait_until

pytestmark = pytest.mark.plain_only  # a sanitizer has a malloc of its own

QACTL = BUILD / "qactl" / "qactl"
LIBRARY = (BUILD / "libqa" / "libqa_malloc.so").resolve()
STRANGER = 54321  # no user of this machine


def pid_listening_at(path):
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(str(path))
        return struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def qads_at(path):
    """Of those that qactl starts, all of that path: also one that is still starting, beside another that was first."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[0] == b"qad" and str(path).encode() in words:
                found.append(int(process.name))
    return found


@pytest.fixture
def own_qad(socket_path):
    """Ends the qads that a test had qactl start; gives the pid of the one that listens."""
    yield lambda: pid_listening_at(socket_path)
    for pid in qads_at(socket_path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not qads_at(socket_path), what="qad to end")


# What the program gets, and what comes back


def test_the_program_runs_on_libqa_under_its_own_pid(qad, qactl, target):
    one = target(QACTL, ["run", "--name", "label", "/usr/bin/python3", "-c",
                         "import os, sys\nprint('ok pid=%d' % os.getpid(), flush=True)\nsys.stdin.readline()"])
    assert one.answer()["pid"] == one.pid
    wait_until(lambda: qactl("stats", "label", "--json").code == 0, what="the program to be known to qad")
    figures = qactl("stats", "label", "--json").json
    assert figures["pid"] == one.pid and figures["used_bytes"] > 1000 and figures["name"] == "label"
    assert qactl("trim", "label").code == 0
    one.send("end")
    assert one.process.wait(30) == 0


@pytest.mark.parametrize("options", [[], ["--stats-at-exit"]])
@pytest.mark.parametrize("script,code", [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("exit 64", 64),
                                         ("kill -TERM $$", -signal.SIGTERM), ("kill -KILL $$", -signal.SIGKILL),
                                         ("kill -SEGV $$", -signal.SIGSEGV)])
def test_the_exit_status_is_the_program_s_own(qad, qactl, options, script, code):
    assert qactl("run", *options, "sh", "-c", script).code == code


def test_what_follows_the_command_is_its_own(qad, qactl):
    result = qactl("run", "echo", "--name", "-s", "--", "x")
    assert (result.code, result.out) == (0, "--name -s -- x\n")
    assert qactl("run", "--", "echo", "-n", "y").out == "y"


def state_of_process(*prefix, socket_path):
    """What a program inherits: ignored and blocked signals, descriptors, working folder, environment."""
    code = ("import json, os, re\n"
            "status = open('/proc/self/status').read()\n"
            "print(json.dumps([re.findall(r'Sig(?:Ign|Blk):.*', status), sorted(os.listdir('/proc/self/fd')), os.getcwd(),"
            " os.getpgrp() == int(os.environ['GROUP']), dict(os.environ)]))\n")
    done = subprocess.run([*prefix, "/usr/bin/python3", "-SIc", code], capture_output=True, text=True, timeout=30,
                          stdin=subprocess.DEVNULL, cwd="/usr",
                          env=clean_environment(QAD_SOCKET=socket_path, LD_PRELOAD="libdl.so.2", GROUP=os.getpgrp()))
    assert done.returncode == 0, done.stderr
    state = json.loads(done.stdout)
    return state[:4], state[4]


@pytest.mark.parametrize("options", [[], ["--stats-at-exit"]])
def test_the_program_is_started_as_without_qactl(qad, socket_path, options):
    plain, plain_environment = state_of_process(socket_path=socket_path)
    state, environment = state_of_process(QACTL, "run", *options, socket_path=socket_path)
    assert state == plain
    assert environment.pop("LD_PRELOAD") == f"{LIBRARY}:libdl.so.2", "what was preloaded before is kept"
    plain_environment.pop("LD_PRELOAD")
    environment.pop("QA_STATS_FILE", None)
    assert environment == plain_environment


def test_within_itself_the_library_is_named_once(qad, qactl):
    result = qactl("run", QACTL, "run", "printenv", "LD_PRELOAD")
    assert (result.code, result.out) == (0, f"{LIBRARY}\n")


def test_socket_and_name_reach_the_program(qad, qactl, socket_path):
    result = qactl("run", "--socket", socket_path, "--name", "two words", "sh", "-c", 'echo "$QAD_SOCKET $QA_NAME"',
                   QAD_SOCKET=None)
    assert (result.code, result.out) == (0, f"{socket_path} two words\n")


def test_a_script_without_a_first_line_is_the_shell_s(qad, qactl, tmp_path):
    script = tmp_path / "script"
    script.write_text('echo "$1" "$2"; exit 3\n')
    script.chmod(0o755)
    result = qactl("run", script, "a b", "c")
    assert (result.code, result.out) == (3, "a b c\n")


# qad


def test_a_qad_is_started_and_belongs_to_nobody(qactl, own_qad, socket_path, socket_dir):
    result = qactl("run", "sh", "-c", "ps -o pid= --ppid $$ | wc -l")
    assert result.code == 0 and result.err == "", result
    pid = own_qad()
    assert os.readlink(f"/proc/{pid}/exe") == str((BUILD / "qad" / "qad").resolve())
    assert os.getsid(pid) != os.getsid(0)
    parent = int(re.search(r"PPid:\t(\d+)", open(f"/proc/{pid}/status").read()).group(1))
    assert parent not in (os.getpid(), pid)
    assert {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (1, 2)} == {f"{socket_path}.log"}
    assert os.stat(f"{socket_path}.log").st_mode & 0o777 == 0o600
    assert qactl("run", "true").code == 0 and own_qad() == pid, "the second finds the first's"


def test_two_at_once_start_one(socket_path, own_qad, qactl):
    codes = []
    threads = [threading.Thread(target=lambda: codes.append(qactl("run", "true").code)) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert codes == [0] * 4 and own_qad() > 0


def test_no_start_refuses(qactl, socket_path):
    result = qactl("run", "--no-start", "echo", "it ran")
    assert (result.code, result.out) == (69, "") and "not reachable" in result.err
    assert not os.path.lexists(socket_path)


def test_a_qad_that_can_not_start_is_told_with_what_it_says(qactl, socket_dir):
    (socket_dir / "qad.sock").mkdir()
    result = qactl("run", "echo", "it ran")
    assert (result.code, result.out) == (69, "")
    assert "can not start qad" in result.err and "ended at once" in result.err
    assert re.search(r"^  qad: ", result.err, re.MULTILINE), result.err
    result = qactl("run", "true", QAD_SOCKET=socket_dir / "missing" / "folder" / "qad.sock")
    assert result.code == 69 and "can not start qad" in result.err


def test_the_log_is_not_written_through_a_link(qactl, socket_path, socket_dir):
    victim = socket_dir / "victim"
    victim.write_text("untouched")
    os.symlink(victim, f"{socket_path}.log")
    result = qactl("run", "true")
    assert result.code == 69 and "qad.sock.log" in result.err
    assert victim.read_text() == "untouched"


# Programs that can not


def build_static(folder):
    source = folder / "static.c"
    source.write_text("int main(void) { return 5; }\n")
    subprocess.run(["gcc", "-static", source, "-o", folder / "static"], check=True)
    return folder / "static"


def test_a_static_program_is_told_before(qad, qactl, tmp_path):
    program = build_static(tmp_path)
    result = qactl("run", program)
    assert result.code == 126 and "statically linked" in result.err
    script = tmp_path / "script"
    script.write_text(f"#!{program} -x\n")
    script.chmod(0o755)
    assert "statically linked" in qactl("run", script).err
    script.write_text("#!/usr/bin/env static\n")
    result = qactl("run", "script", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert result.code == 126 and "statically linked" in result.err


@pytest.mark.parametrize("mode,name", [(0o4755, "su"), (0o2755, "expiry")])
def test_a_program_that_gains_privileges_is_told_before(qad, qactl, tmp_path, mode, name):
    program = shutil.which(name)  # as Debian has it: it gives us root's user or a group
    if os.geteuid() == 0:  # who gains nothing by that
        program = tmp_path / name
        shutil.copy("/bin/true", program)
        os.chown(program, STRANGER, STRANGER)
        program.chmod(mode)
    result = qactl("run", program)
    assert result.code == 126 and "gains privileges" in result.err
    if os.geteuid() == 0:
        program.chmod(0o755)
        assert qactl("run", program).code == 0


def test_what_is_not_there_or_not_executable(qad, qactl, tmp_path):
    (tmp_path / "plain").write_text("text")
    for word, code, says in (("no-such-command", 127, "no such command in PATH"), ("/no/such/file", 127, "No such file"),
                             (tmp_path / "plain", 126, "not executable"), (tmp_path, 126, "Is a directory"),
                             ("", 127, "no such command")):
        result = qactl("run", word)
        assert (result.code, result.out) == (code, "") and says in result.err, result
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    result = qactl("run", script)
    assert result.code == 127 and "/no/such/interpreter" in result.err


def test_usage(qactl):
    for words, says in (([], "name the program"), (["--name", "", "true"], "--name takes 1 to 64 bytes"),
                        (["--name", "x" * 65, "true"], "--name takes 1 to 64 bytes"), (["--json", "true"], "does not take"),
                        (["--name"], "--name needs a NAME")):
        result = qactl("run", *words)
        assert result.code == 64 and says in result.err, result


# The library


def test_the_library_can_be_named(qad, qactl, tmp_path):
    result = qactl("run", "printenv", "LD_PRELOAD", QA_MALLOC_LIBRARY=BUILD / "libqa" / "libqa_malloc.so")
    assert result.out == f"{LIBRARY}\n"
    result = qactl("run", "true", QA_MALLOC_LIBRARY=tmp_path / "none.so")
    assert result.code == 78 and "QA_MALLOC_LIBRARY names" in result.err
    folder = tmp_path / "a b"
    folder.mkdir()
    shutil.copy(LIBRARY, folder / "libqa_malloc.so")
    result = qactl("run", "true", QA_MALLOC_LIBRARY=folder / "libqa_malloc.so")
    assert result.code == 78 and "space or colon" in result.err


def test_a_qactl_alone_says_where_it_looked(qad, tmp_path, socket_path):
    shutil.copy(QACTL, tmp_path / "qactl")
    done = subprocess.run([tmp_path / "qactl", "run", "true"], capture_output=True, text=True, timeout=30,
                          env=clean_environment(QAD_SOCKET=socket_path))
    assert done.returncode == 78 and "libqa_malloc.so.0 is neither beside qactl nor in " in done.stderr


def test_an_installation_that_was_moved_finds_its_own(qad, tmp_path, socket_path):
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path / "root"], check=True,
                   capture_output=True)
    moved = tmp_path / "moved"
    (tmp_path / "root").rename(moved)
    program, = moved.rglob("bin/qactl")
    done = subprocess.run([program, "run", "printenv", "LD_PRELOAD"], capture_output=True, text=True, timeout=30,
                          env=clean_environment(QAD_SOCKET=socket_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(moved.resolve())) and "libqa_malloc.so" in done.stdout


# --stats-at-exit



def test_stats_at_exit(qad, qactl):
    result = qactl("run", "--stats-at-exit", "--name", "label", "/usr/bin/python3", "-c",
                   "import os\nif os.fork():\n    os.wait()\n    print('data')")
    assert (result.code, result.out) == (0, "data\n"), "stdout is the program's"
    assert result.err.count("TOTAL") == 1, "a forked child writes nothing"
    heading = re.match(r"python3 \(label\), pid \d+, user \w+, up \d+s, libqa [\d.]+, pages of 64.0 KiB\n", result.err)
    assert heading, result.err
    for row in ("  held  ", "  used  ", "  cached  ", "  rss  ", "  threads  ", "large  ", "TOTAL  "):
        assert row in result.err


def test_stats_at_exit_tells_what_was_leaked(qad, qactl, tmp_path):
    source, program = tmp_path / "leak.c", tmp_path / "leak"
    source.write_text("#include <stdlib.h>\n#include <stdio.h>\n"
                      "int main(void) { for (int i = 0; i < 4096; i++) *(volatile char *)malloc(1000) = 1; puts(\"data\"); return 9; }\n")
    subprocess.run(["gcc", source, "-o", program], check=True)
    result = qactl("run", "--stats-at-exit", program)
    assert (result.code, result.out) == (9, "data\n")
    row = re.search(r"^ +1024 +(\d+) +.* (\d+)$", result.err, re.MULTILINE)
    assert row and int(row.group(2)) >= 4096, result.err


@pytest.mark.parametrize("end, code, says", [("os.kill(os.getpid(), 9)", -signal.SIGKILL, "a signal ended it"),
                                             ("os._exit(4)", 4, "it left by _exit"),
                                             ("os.fork() and (os.wait(), os._exit(4))", 4, "it left by _exit")])
def test_stats_at_exit_of_a_sudden_end_are_those_of_before(qad, qactl, end, code, says):
    """What qad had last, and how old that is; a child that leaves by exit is not the program."""
    seconds = 0.2

    def run_longer():
        nonlocal seconds
        seconds *= 2  # until qactl has looked between the allocation and the end
        result = qactl("run", "--stats-at-exit", "/usr/bin/python3", "-c",
                       f"import os, time\nkept = bytearray(9 << 20)\ntime.sleep({seconds})\n{end}")
        assert result.code == code and f"no figures of its end: {says}" in result.err, result
        return re.search(r"^large +- +9\.", result.err, re.MULTILINE) and result

    result = wait_until(run_longer, what="figures from before the end")
    assert re.search(r"python3, pid \d+: no figures of its end: .*; those of \d+ m?s before it:\n"
                     r"python3, pid \d+, user \w+, up \d+s, libqa", result.err), result.err
    assert "last known" not in result.err and result.err.count("TOTAL") == 1


def test_stats_at_exit_without_figures_says_why(qad, qactl):
    """Unknown to qad; and with a qad that ends meanwhile nothing is said in between."""
    for script, code, says in (("kill -KILL $$", -signal.SIGKILL, "a signal ended it"), ("exec /usr/bin/env -i true", 0, "became a")):
        result = qactl("run", "--stats-at-exit", "sh", "-c", script, QA_AGENT="off")
        assert result.code == code and re.fullmatch(rf"qactl: sh, pid \d+: no figures of its end: .*{says}.*, before qad knew any\n",
                                                    result.err), result


def test_stats_at_exit_goes_on_without_qad(qad, target):
    one = target(QACTL, ["run", "--stats-at-exit", "/usr/bin/python3", "-c", "print('ok ready=1', flush=True)\ninput()"])
    assert one.answer() == {"ready": 1}
    end_process(qad.process)
    one.send("end")
    assert one.process.wait(30) == 0
    assert one.errors().count("TOTAL") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
def test_signals_go_on_to_the_program(qad, target, number):
    code = ("import signal, sys\nfor n in (1, 2, 10, 12, 15): signal.signal(n, lambda n, f: (print('ok got=%d' % n, flush=True), sys.exit(n)))\n"
            "print('ok ready=1', flush=True)\nwhile True: signal.pause()")
    one = target(QACTL, ["run", "--stats-at-exit", "/usr/bin/python3", "-c", code])
    assert one.answer() == {"ready": 1}
    one.process.send_signal(number)
    assert one.answer() == {"got": number}
    assert one.process.wait(30) == number
    assert "TOTAL" in one.errors()
