"""qad as a daemon: its place in the file system, its signals, its command line."""

import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess

import pytest

import wire
from harness import BUILD, DEADLINE, PATIENT, SANITIZER_REPORT, clean_environment, wait_until

QAD = BUILD / "qad" / "qad"


def run_qad(*arguments, **environment):
    """A qad that is expected to end by itself."""
    done = subprocess.run([QAD, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=DEADLINE, env=clean_environment(**environment))
    assert not SANITIZER_REPORT.search(done.stderr), done.stderr
    return done


def serves(path):
    return wire.client(path).call("ps") is not None


# the socket


def test_a_stale_socket_is_replaced(qad_factory, socket_path):
    first = qad_factory().start()
    first.kill()
    assert socket_path.is_socket()
    second = qad_factory().start()
    assert serves(socket_path)
    second.stop()


def test_a_live_socket_is_refused_and_left_alone(qad, socket_path):
    done = run_qad("--socket", socket_path)
    assert done.returncode == 69
    assert f"another qad is already listening on {socket_path}; end it" in done.stderr and "--socket" in done.stderr
    assert serves(socket_path)


@pytest.mark.parametrize("is_stale", [True, False])
def test_of_many_started_at_once_just_one_listens(socket_path, is_stale):
    for _ in range(10):  # two must meet in a short moment for it to go wrong
        if is_stale:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left_behind:
                left_behind.bind(str(socket_path))
        started = [subprocess.Popen([QAD, *PATIENT, "--socket", socket_path], stderr=subprocess.DEVNULL,
                                    env=clean_environment()) for _ in range(8)]
        try:
            wait_until(lambda: sum(one.poll() is None for one in started) == 1, what="all but one to give up")
            assert [one.returncode for one in started if one.poll() is not None] == [69] * 7
            assert serves(socket_path)
        finally:
            for one in started:
                one.terminate()
                one.wait(DEADLINE)
        assert os.listdir(socket_path.parent) == []


def test_who_sees_the_name_can_connect(qad_factory, socket_path):
    """Also right at the start: the name appears when the socket already listens."""
    for _ in range(20):
        process = subprocess.Popen([QAD, "--socket", socket_path], stderr=subprocess.DEVNULL, env=clean_environment())
        while not os.path.lexists(socket_path):
            assert process.poll() is None
        connection = wire.connect(socket_path)
        assert stat.S_IMODE(os.stat(socket_path).st_mode) == 0o666
        connection.close()
        process.terminate()
        assert process.wait(DEADLINE) == 0


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_not_a_socket_is_not_touched(socket_path, kind):
    if kind == "file":
        socket_path.write_text("precious")
    elif kind == "folder":
        socket_path.mkdir()
    else:
        socket_path.symlink_to("elsewhere")
    done = run_qad("--socket", socket_path)
    assert done.returncode == 69
    assert f"{socket_path} is there and is not a socket" in done.stderr
    assert os.path.lexists(socket_path)
    assert kind != "file" or socket_path.read_text() == "precious"


def test_a_socket_that_another_one_took_over_is_left_alone(qad, socket_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(f"{socket_path}.other")
        other.listen(16)
        os.rename(f"{socket_path}.other", socket_path)
        qad.process.terminate()
        assert qad.process.wait(DEADLINE) == 0
        assert socket_path.is_socket()


def test_a_path_of_107_bytes_is_served_and_a_longer_one_explained(qad_factory, socket_dir):
    path = pathlib.Path(str(socket_dir / "x").ljust(107, "x"))
    qad = qad_factory(path).start()
    assert serves(path)
    qad.stop()
    done = run_qad("--socket", f"{path}x")
    assert done.returncode == 64 and "107 bytes" in done.stderr
    done = run_qad(QAD_SOCKET=f"{path}x")
    assert done.returncode == 64 and "107 bytes" in done.stderr


def test_a_long_folder_and_a_short_name_still_fit(qad_factory, socket_dir):
    folder = pathlib.Path(str(socket_dir / "d").ljust(105, "d"))
    folder.mkdir(0o700)
    qad = qad_factory(folder / "s").start()
    assert serves(folder / "s")
    qad.stop()
    assert os.listdir(folder) == []


def test_qad_makes_the_folder_of_its_socket(qad_factory, socket_dir):
    path = socket_dir / "new" / "qad.sock"
    qad_factory(path).start().stop()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_folder_below_tmp_that_others_can_enter_is_refused(socket_dir):
    folder = socket_dir / "open"
    folder.mkdir()
    folder.chmod(0o755)
    done = run_qad("--socket", folder / "qad.sock")
    assert done.returncode == 73 and "closed to others" in done.stderr


def test_a_folder_that_can_not_be_made_is_explained(socket_dir):
    done = run_qad("--socket", socket_dir / "no" / "such" / "qad.sock")
    assert done.returncode == 73 and "No such file or directory; make it, or choose another with --socket" in done.stderr


def test_a_place_where_no_socket_can_be_is_explained():
    done = run_qad("--socket", "/proc/qad.sock")
    assert done.returncode == 73 and "can not listen on /proc/qad.sock" in done.stderr and "--socket" in done.stderr


def test_the_address_comes_from_the_environment(socket_path):
    process = subprocess.Popen([QAD], stderr=subprocess.DEVNULL, env=clean_environment(QAD_SOCKET=socket_path))
    wait_until(socket_path.exists, what="the socket")
    assert serves(socket_path)
    process.terminate()
    assert process.wait(DEADLINE) == 0


# signals and descriptors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_with_peers_and_open_questions(qad, socket_path, number):
    target = wire.FakeTarget(socket_path)
    client = wire.client(socket_path)
    for method in ("stats", "trim", "ps"):
        client.ask(method, pid=target.pid)
    for _ in range(3):
        target.question()
    half = wire.connect(socket_path)
    half.send_bytes(b"\x94\x00")
    qad.stop(number)
    assert client.is_closed() and half.is_closed() and target.connection.is_closed()
    assert "handles were left open" not in qad.log()
    target.end()


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGHUP, None),
                                          (signal.SIGPIPE, None)])
def test_a_signal_may_come_as_soon_as_the_socket_is_there(socket_path, number, code):
    for _ in range(20):
        process = subprocess.Popen([QAD, "--socket", socket_path], stderr=subprocess.DEVNULL, env=clean_environment())
        while not os.path.lexists(socket_path):
            assert process.poll() is None
        process.send_signal(number)
        if code is None:
            assert serves(socket_path)
            process.terminate()
        assert process.wait(DEADLINE) == 0
        assert os.listdir(socket_path.parent) == []


def test_signals_one_after_the_other_end_it_as_one(qad_factory, socket_path):
    """The later ones find it closing, and must not kill it there. The moment is short: about one round in six hits it."""
    for _ in range(40):
        qad = qad_factory().start()
        qad.process.terminate()
        while os.path.lexists(socket_path):
            pass
        for _ in range(50):
            os.kill(qad.process.pid, signal.SIGTERM)  # a zombie may be sent one, too
        assert qad.process.wait(DEADLINE) == 0


def test_it_goes_on_after_sighup_and_a_broken_pipe(qad, socket_path):
    for number in (signal.SIGHUP, signal.SIGPIPE):
        qad.process.send_signal(number)
    target = wire.FakeTarget(socket_path)
    client = wire.client(socket_path)
    for _ in range(20):  # answers to somebody who is not there any more
        leaver = wire.client(socket_path)
        leaver.ask("ps", figures=False)
        leaver.ask("stats", pid=target.pid)
        leaver.close()
    assert client.call("ps", figures=False)["targets"][0]["pid"] == target.pid
    target.end()


def test_what_the_parent_left_does_not_matter(qad_factory, socket_dir, monkeypatch):
    """Signals that are blocked or ignored, a umask that closes everything, a log file that may not grow."""
    qad = qad_factory(socket_dir / "made" / "qad.sock")
    every = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}

    def leave():
        signal.pthread_sigmask(signal.SIG_BLOCK, every)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.umask(0o777)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    started = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **options: started(*words, preexec_fn=leave, **options))
    qad.start()
    assert (socket_dir / "made").stat().st_mode & 0o777 == 0o700
    assert wire.client(qad.socket_path).call("ps") == {"targets": []}
    qad.stop()


def test_a_directory_that_everybody_may_write_to_is_told(qad_factory, open_dir):
    open_dir.chmod(0o1777)
    qad = qad_factory(open_dir / "qad.sock").start()
    assert "everybody may write" not in qad.log()
    qad.stop()
    open_dir.chmod(0o777)
    qad.start()
    assert "everybody may write to the directory" in qad.log()


def test_without_standard_descriptors_it_works(socket_path):
    """No socket may become descriptor 2 and get the log."""
    process = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" -vv --socket "$1" 0<&- 1>&- 2>&-', QAD, socket_path],
                               env=clean_environment())
    wait_until(socket_path.exists, what="the socket")
    connection = wire.client(socket_path)
    assert connection.call("ps") == {"targets": []}
    assert sorted(os.readlink(f"/proc/{process.pid}/fd/{number}") for number in (0, 1, 2)) == ["/dev/null"] * 3
    process.terminate()
    assert process.wait(DEADLINE) == 0


@pytest.mark.plain_only  # a sanitizer opens files too
def test_with_too_few_descriptors_it_says_so_and_ends(socket_path):
    for files in (4, 12):
        done = subprocess.run([QAD, "--socket", socket_path], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=DEADLINE, env=clean_environment(),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        assert done.returncode == 71 and "raise the limit of open files" in done.stderr, done
        assert not os.path.lexists(socket_path)


# the command line


def test_help_and_version():
    help_text = run_qad("--help")
    assert help_text.returncode == 0 and help_text.stderr == ""
    for word in ("--socket", "--read-group", "--admin-group", "--verbose", "QAD_SOCKET", "Exit status"):
        assert word in help_text.stdout
    version = run_qad("--version")
    assert version.returncode == 0 and version.stdout.startswith("qad ")
    assert run_qad("-h").stdout == help_text.stdout and run_qad("-V").stdout == version.stdout


@pytest.mark.parametrize("arguments", [["--nonsense"], ["extra"], ["--socket"], ["--socket", ""]])
def test_wrong_usage_is_64(arguments):
    done = run_qad(*arguments)
    assert done.returncode == 64 and "Try 'qad --help'." in done.stderr and done.stdout == ""


def test_a_wrong_option_is_an_error_for_the_journal_too(tmp_path):
    with open(tmp_path / "journal", "w+b") as journal:
        found = os.fstat(journal.fileno())
        done = subprocess.run([QAD, "--read-group", "no\nsuch"], stderr=journal, timeout=60,
                              env=clean_environment(JOURNAL_STREAM=f"{found.st_dev}:{found.st_ino}"))
        journal.seek(0)
        assert done.returncode == 67
        assert journal.read() == b'<3>qad: error: there is no group "no\\x0asuch" (see getent group)\n'


@pytest.mark.parametrize("option", ["--read-group", "--admin-group"])
def test_an_unknown_group_is_named(option, socket_path):
    done = run_qad("--socket", socket_path, option, "no-such-group")
    assert done.returncode == 67 and '"no-such-group"' in done.stderr


def test_the_log_escapes_what_a_process_chose(qad_factory, socket_path):
    qad = qad_factory().start("-v")
    target = wire.FakeTarget(socket_path, name="evil\x1b[2J\nqad: forged \u009b")
    wait_until(lambda: "evil" in qad.log(), what="the target in the log")
    assert r"evil\x1b[2J\x0aqad: forged \xc2\x9b" in qad.log()
    target.end()
    qad.stop()
