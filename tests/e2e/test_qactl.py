"""qactl's command line, its exit codes and what it says when something is wrong; qad is a fake one here."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile

import msgpack
import pytest

import fake_qad
from fake_qad import DOCVIEW, ROWS, Error, Raw, Silence, fake, raising  # noqa: F401, a fixture
from harness import BUILD, clean_environment, wait_until

QACTL = BUILD / "qactl" / "qactl"
NOBODY = 65534


# The command line


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"], ["help", "help"]])
def test_help(qactl, words):
    result = qactl(*words)
    assert (result.code, result.err) == (0, "")
    for word in ("Usage: qactl", "ps", "stats TARGET", "trim [TARGET]", "--socket PATH", "QAD_SOCKET", "Exit status"):
        assert word in result.out


@pytest.mark.parametrize("command,options", [("ps", ["--json"]), ("stats", ["--json", "--all-classes"]),
                                             ("trim", ["--json", "--all"])])
def test_help_of_a_command(qactl, command, options):
    results = [qactl(command, "--help"), qactl(command, "-h"), qactl("help", command), qactl(command, "x", "--help")]
    assert {(one.code, one.out, one.err) for one in results} == {(0, results[0].out, "")}
    assert f"Usage: qactl {command}" in results[0].out
    for option in [*options, "--socket PATH", "--help"]:
        assert re.search(rf"^ .*{option}  ", results[0].out, re.MULTILINE)
    others = {"--all", "--all-classes"} - set(options)
    assert not any(re.search(rf"{option} ", results[0].out) for option in others)


def test_help_and_man_page_fit_a_terminal_of_100_columns(qactl):
    for words in (["--help"], ["ps", "--help"], ["stats", "--help"], ["trim", "--help"]):
        assert max(map(len, qactl(*words).out.splitlines())) <= 100


@pytest.mark.parametrize("words", [["--version"], ["-V"], ["ps", "--version"]])
def test_version(qactl, words):
    result = qactl(*words)
    assert result.code == 0 and re.fullmatch(r"qactl \d+\.\d+\.\d+\n", result.out)


@pytest.mark.parametrize("words,says", [
    ([], "Usage: qactl"),
    (["frobnicate"], "no such command: frobnicate"),
    (["help", "frobnicate"], "no such command: frobnicate"),
    (["help", "ps", "stats"], "not also for stats"),
    (["--frobnicate"], "unknown option --frobnicate"),
    (["-x"], "unknown option -x"),
    (["ps", "--frobnicate"], "unknown option --frobnicate"),
    (["ps", "-xh"], "unknown option -x"),
    (["ps", "\x1b[2J"], r"too many words, from here: \x1b[2J"),
    (["ps", "--all"], "ps does not take --all"),
    (["stats", "--all", "x"], "stats does not take --all"),
    (["trim", "--all-classes", "x"], "trim does not take --all-classes"),
    (["--json", "ps"], "--json comes after the command"),
    (["ps", "--json=yes"], "--json takes no value"),
    (["ps", "--socket"], "--socket needs a PATH"),
    (["-s"], "--socket needs a PATH"),
    (["ps", "--socket", ""], "must not be empty"),
    (["stats"], "name a target"),
    (["stats", ""], "must not be empty"),
    (["trim"], "name a target"),
    (["stats", "a", "b"], "INTERVAL: not a number that fits: b"),
    (["stats", "a", "1", "2", "b"], "too many words, from here: b"),
    (["trim", "--all", "a", "b"], "too many words, from here: b"),
])
def test_usage_errors(qactl, words, says):
    result = qactl(*words)
    assert result.code == 64 and result.out == ""
    assert says in result.err
    assert re.search(r"^(Usage: qactl|Try 'qactl .*--help'\.$|qactl: --socket)", result.err, re.MULTILINE)


@pytest.mark.parametrize("words", [
    ["--socket", "S", "stats", "editor", "--json"], ["stats", "--json", "--socket=S", "editor"],
    ["stats", "editor", "--json", "--socket", "S"],
    ["-s", "S", "stats", "--json", "editor"], ["stats", "--json", "--", "editor"],
])
def test_options_may_stand_before_and_after_operands(fake, qactl, socket_path, words):
    fake()
    words = [word.replace("S", str(socket_path)) if "S" in word else word for word in words]
    elsewhere = {} if "--" in words else {"QAD_SOCKET": "/nowhere"}
    result = qactl(*words, **elsewhere)
    assert result.code == 0 and result.json["pid"] == 4242


def test_a_target_called_like_an_option(fake, qactl):
    one = fake_qad.target(command="--all")
    fake(ps=lambda params: {"targets": [one]})
    assert qactl("trim", "--", "--all").code == 0


# qad is not there, or no qad


def test_no_socket_names_the_addresses_and_what_to_do(qactl, tmp_path):
    result = qactl("ps", QAD_SOCKET=None, XDG_RUNTIME_DIR=tmp_path)
    assert result.code == 69 and result.out == ""
    for part in ("qad is not reachable", "/run/qad/qad.sock: ", f"{tmp_path}/qad/qad.sock: No such file",
                 f"/tmp/qad-{os.geteuid()}/qad.sock: ", "Start it with 'qad'", "systemctl restart qad.socket", "--socket"):
        assert part in result.err, result


def test_no_socket_at_a_chosen_address(qactl, socket_path):
    for result in (qactl("ps"), qactl("ps", "--socket", socket_path, QAD_SOCKET=None)):
        assert result.code == 69 and f"{socket_path}: No such file" in result.err
        assert "/run/qad" not in result.err
        assert "Start" in result.err


def test_stale_socket(qactl, socket_path):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path))
    result = qactl("ps")
    assert result.code == 69 and "nobody listens" in result.err


def test_no_permission(socket_path, fake):
    """A socket of root that others may not open."""
    fake()
    os.chmod(socket_path, 0o600)
    os.chmod(socket_path.parent, 0o755)
    result = run_as(NOBODY, "ps", QAD_SOCKET=socket_path)
    assert result.returncode == 69 and f"{socket_path}: Permission denied" in result.stderr


def run_as(uid, *words, groups=None, **environment):
    """qactl as another user, from a copy that this one can reach."""
    program = shutil.copy(QACTL, tempfile.mkdtemp(prefix="qa-", dir="/tmp"))
    try:
        os.chmod(os.path.dirname(program), 0o755)
        become = ["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={groups}" if groups else "--clear-groups"]
        return subprocess.run([*become, program, *map(str, words)], capture_output=True, text=True, timeout=60,
                              env=clean_environment(**environment))
    finally:
        shutil.rmtree(os.path.dirname(program))


@pytest.fixture
def someone():
    """A user who does not exist, and its /tmp/qad-UID, made by somebody else before. Other tests may do so at the same time."""
    for uid in range(64_000, 64_900):
        path = f"/tmp/qad-{uid}"
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)
            break
    else:
        pytest.fail("tests that were killed left all of /tmp/qad-64000 to 64899: remove them")
    yield uid, path
    shutil.rmtree(path)


def test_a_directory_in_tmp_that_is_anothers_is_not_trusted(fake, someone):
    uid, someones_directory = someone
    fake(path=someones_directory + "/qad.sock")
    os.chmod(someones_directory + "/qad.sock", 0o666)
    result = run_as(uid, "ps", XDG_RUNTIME_DIR=None)
    assert result.returncode == 69
    assert f"{someones_directory}/qad.sock: not used: its directory must belong to you" in result.stderr
    os.chown(someones_directory, uid, uid)
    os.chmod(someones_directory, 0o700)
    assert run_as(uid, "ps", XDG_RUNTIME_DIR=None).returncode == 0


@pytest.mark.parametrize("how", ["option", "variable"])
def test_path_too_long(qactl, how):
    path = "/tmp/" + "x" * 103
    result = qactl("ps", "--socket", path) if how == "option" else qactl("ps", QAD_SOCKET=path)
    assert result.code == 64 and "too long for a socket; at most 107 bytes" in result.err
    assert ("--socket" if how == "option" else "QAD_SOCKET") in result.err
    path = path[:-1]
    result = qactl("ps", "--socket", path) if how == "option" else qactl("ps", QAD_SOCKET=path)
    assert result.code == 69


def test_a_socket_that_accepts_and_says_nothing(fake, qactl, socket_path):
    fake(hello=raising(Silence()))
    result = qactl("ps", timeout=20)
    assert result.code == 69 and f"qad at {socket_path} did not answer within 3 s" in result.err


def test_a_socket_that_never_accepts(qactl, socket_path):
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        listener.bind(str(socket_path))
        listener.listen(0)
        first.connect(str(socket_path))
        result = qactl("ps", timeout=20)
    assert result.code == 69 and "does not accept connections in time" in result.err


@pytest.mark.parametrize("words", [["ps"], ["stats", "7"]])
def test_a_qad_that_falls_silent(fake, qactl, words):
    fake(ps=raising(Silence()), stats=raising(Silence()))
    result = qactl(*words, timeout=20)
    assert result.code == 69 and "did not answer within 3 s" in result.err and result.out == ""


def test_qad_tells_how_long_an_answer_may_take(fake, qactl):
    """qad's deadlines are settings: who gave up before them would take a busy qad for a dead one."""
    fake(hello=lambda params: {"protocol": 1, "version": "9", "pid": 1, "stats_ms": 10, "trim_ms": 1_000},
         ps=raising(Silence()), trim=raising(Silence()))
    result = qactl("ps", timeout=20)
    assert result.code == 69 and "did not answer within 1 s" in result.err
    result = qactl("trim", "7", timeout=20)
    assert result.code == 69 and "did not answer within 2 s" in result.err


def test_a_qad_that_trickles_is_bounded_too(fake, qactl):
    """An answer of 4 KiB, a byte now and then: the deadline is for the whole."""
    fakes = fake(hello=raising(Silence()))
    process = subprocess.Popen([QACTL, "ps"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=clean_environment(QAD_SOCKET=fakes.listener.getsockname()))
    wait_until(lambda: fakes.asked, what="hello")
    answer = iter(msgpack.packb([1, 1, None, "x" * 4096]))

    def has_given_up():
        try:
            fakes.peers[0].sendall(bytes([next(answer)]))
        except BrokenPipeError:
            pass
        return process.poll() is not None

    wait_until(has_given_up, timeout=20, what="qactl to give up")
    assert process.returncode == 69 and "did not answer within" in process.communicate()[1]


@pytest.mark.parametrize("data", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xdd\xff\xff\xff\xff", b"\xc1", b"\x90",
                                  b"\x93\x02\xa1x\x80\xc1", b"\x94\x01\x05\xc0\xc0", b"\x94" * 20, b"\x00" * 100])
@pytest.mark.parametrize("close", [True, False])
def test_garbage_is_76(fake, qactl, socket_path, data, close):
    for method in ("hello", "ps"):
        if os.path.exists(socket_path):
            os.unlink(socket_path)
        fake(**{method: raising(Raw(data, close=close))})
        result = qactl("ps", timeout=20)
        assert result.code == 76 and result.out == "" and f"{socket_path}: what listens there" in result.err, result


def test_a_notification_between_is_ignored(fake, qactl):
    def answer(params):
        fakes.peers[-1].sendall(b"\x93\x02\xa4news\x80")
        return fake_qad.stats_of(DOCVIEW, ROWS)

    fakes = fake(stats=answer)
    assert qactl("stats", "4242").code == 0


@pytest.mark.parametrize("method", ["hello", "ps", "stats"])
def test_qad_ends_before_it_answers(fake, qactl, method):
    fake(**{method: raising(Raw(b"\x94\x01", close=True))})
    result = qactl("stats", "editor")
    assert result.code == 69 and "ended the connection before it answered" in result.err


def test_another_version(fake, qactl):
    fake(hello=raising(Error("version", "protocol 1 is not spoken here")))
    result = qactl("ps")
    assert result.code == 76 and "protocol 1 is not spoken here" in result.err


def test_too_many_connections(fake, qactl):
    fake(hello=raising(Error("busy", "you have 1,024 connections")))
    result = qactl("ps")
    assert result.code == 75 and "you have 1,024 connections" in result.err and "try again" in result.err


# What qad answers


@pytest.mark.parametrize("code,status,says", [
    ("bad_request", 76, "what qad says"), ("version", 76, "what qad says"),
    ("unknown_method", 76, "what qad says (unknown_method); it is older than this qactl: start it anew"),
    ("no_target", 67, "no such target: pid 4242"), ("gone", 67, "pid 4242: ended while it was asked"),
    ("timeout", 75, "pid 4242: did not answer in time"),
    ("not_allowed", 77, "pid 4242: may be looked at but not trimmed"),
    ("busy", 75, "try again"), ("failed", 76, "what qad says"), ("news\x1b", 76, r"what qad says (news\x1b)"),
])
@pytest.mark.parametrize("command", ["stats", "trim"])
def test_exit_code_of_each_error(fake, qactl, command, code, status, says):
    fake(**{command: raising(Error(code))})
    result = qactl(command, "4242")
    assert result.code == status and says in result.err and result.out == ""


def test_no_such_target_says_what_to_check(fake, qactl):
    fake(stats=raising(Error("no_target")))
    for operand in ("4242", "nobody", "0", "99999999999999999999999"):
        result = qactl("stats", operand)
        assert result.code == 67 and result.out == ""
        for part in ("no such target: ", operand, "libqa", "QA_AGENT=off", "another user", "qactl ps"):
            assert part in result.err, result


@pytest.mark.parametrize("wrong", [{"pid": None}, {"held_bytes": "many"}, {"classes": 5}, {"classes": [5]},
                                   {"command": 7}, {"uptime_s": -1}])
def test_an_answer_that_makes_no_sense(fake, qactl, wrong):
    fake(stats=lambda params: {**fake_qad.stats_of(DOCVIEW, ROWS), **wrong})
    result = qactl("stats", "4242")
    assert result.code == 76 and result.out == ""
    assert f"({next(iter(wrong))})" in result.err or "(params)" in result.err


@pytest.mark.parametrize("key", ["pid", "command", "name", "uid", "uptime_s", "rss_bytes", "held_bytes", "threads",
                                 "classes"])
def test_a_missing_key(fake, qactl, key):
    fake(stats=lambda params: {k: v for k, v in fake_qad.stats_of(DOCVIEW, ROWS).items() if k != key})
    result = qactl("stats", "4242")
    assert result.code == 76 and f"({key})" in result.err


@pytest.mark.parametrize("command", ["stats", "trim"])
def test_an_answer_to_what_was_not_asked(fake, qactl, command):
    fake(**{command: raising(Raw(msgpack.packb([1, 12345, None, {}])))})
    result = qactl(command, "4242")
    assert result.code == 76 and "not asked" in result.err


# Output


@pytest.mark.parametrize("words", [["ps"], ["ps", "--json"], ["stats", "4242"], ["trim", "4242"], ["--help"],
                                   ["--version"]])
def test_output_that_can_not_be_written(fake, words):
    path = fake().listener.getsockname()
    environment = clean_environment(QAD_SOCKET=path)
    with open("/dev/full", "w") as full:
        done = subprocess.run([QACTL, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 74 and "No space left on device" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([QACTL, *words], stdout=writer, stderr=subprocess.PIPE, text=True, env=environment)
    os.close(writer)
    assert done.returncode == 74 and "Broken pipe" in done.stderr
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', QACTL, *words], stderr=subprocess.PIPE, text=True,
                          env=environment)
    assert done.returncode == 74 and "could be written" in done.stderr
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&- 2>&- <&-', QACTL, *words], env=environment)
    assert done.returncode == 74


def test_a_closed_stdout_does_not_become_the_connection(fake):
    """The table is longer than stdio's buffer, so it is written while the connection is open."""
    targets = [{**fake_qad.target(pid=1 + i), **fake_qad.totals()} for i in range(200)]
    fakes = fake(ps=lambda params: {"targets": targets})
    done = subprocess.run(["sh", "-c", 'exec "$0" ps >&-', QACTL], stderr=subprocess.PIPE, text=True,
                          env=clean_environment(QAD_SOCKET=fakes.path))
    assert done.returncode == 74
    fakes.close()
    assert fakes.garbage == [] and [method for method, _ in fakes.asked] == ["hello", "ps"]
