"""qad under a service manager: readiness, watchdog, a socket that is handed over, another user, the units."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess

import pytest

import wire
from harness import BUILD, PATIENT, assert_no_report, clean_environment, end_process, wait_until

QAD = BUILD / "qad" / "qad"


@pytest.fixture
def run(socket_dir):
    """Starts a qad in ways that the usual fixture does not know; kills it at the end."""
    made = []
    log = socket_dir / "log"

    def start(*arguments, **options):
        environment = clean_environment(**options.pop("environment", {}))
        with open(log, "ab") as file:
            made.append(subprocess.Popen([str(word) for word in arguments], stdin=subprocess.DEVNULL, stdout=file,
                                         stderr=file, env=environment, **options))
        made[-1].text = log.read_text
        return made[-1]

    yield start
    for process in made:
        end_process(process)
    assert_no_report(log, "qad")


@pytest.fixture
def notified(socket_dir):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(socket_dir / "notify"))
        receiver.settimeout(wire.DEADLINE)
        yield receiver


def test_ready_watchdog_and_stopping_are_told(run, notified, socket_dir, socket_path):
    process = run(QAD, *PATIENT, "-s", socket_path,
                  environment={"NOTIFY_SOCKET": socket_dir / "notify", "WATCHDOG_USEC": "200000"})
    assert notified.recv(1_024).startswith(b"READY=1\n")
    wire.client(socket_path).close()
    for _ in range(3):
        assert notified.recv(1_024) == b"WATCHDOG=1"
    process.terminate()
    wait_until(lambda: notified.recv(1_024) == b"STOPPING=1", what="STOPPING=1")
    assert process.wait(wire.DEADLINE) == 0


def test_a_watchdog_for_another_process_is_not_fed(run, notified, socket_dir, socket_path):
    process = run(QAD, "-s", socket_path, environment={"NOTIFY_SOCKET": socket_dir / "notify", "WATCHDOG_USEC": "20000",
                                                       "WATCHDOG_PID": "1"})
    assert notified.recv(1_024).startswith(b"READY=1\n")
    assert wire.connect(socket_path).is_closed()  # two seconds
    process.terminate()
    assert notified.recv(1_024) == b"STOPPING=1"


def test_a_stopped_qad_feeds_no_watchdog(run, notified, socket_dir, socket_path):
    process = run(QAD, "-s", socket_path, environment={"NOTIFY_SOCKET": socket_dir / "notify", "WATCHDOG_USEC": "100000"})
    wait_until(lambda: notified.recv(1_024) == b"WATCHDOG=1")
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: " T " in pathlib.Path(f"/proc/{process.pid}/stat").read_text(), what="qad to stop")
    notified.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            notified.recv(1_024)
    notified.settimeout(1)
    with pytest.raises(TimeoutError):
        notified.recv(1_024)
    process.send_signal(signal.SIGCONT)
    notified.settimeout(wire.DEADLINE)
    assert notified.recv(1_024) == b"WATCHDOG=1"


def handed_over(run, descriptor, *arguments, count=1, pid="$$"):
    """qad with that descriptor as number 3, as systemd starts it."""

    def prepare():
        os.dup2(descriptor, 3)

    return run("/bin/sh", "-c", f'LISTEN_PID={pid} LISTEN_FDS={count} exec "$0" "$@"', QAD, *PATIENT, *arguments,
               preexec_fn=prepare, pass_fds=(3,))


def test_a_socket_that_is_handed_over_is_used_and_left(run, socket_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_path))
        listening.listen(16)
        early = wire.connect(socket_path)  # waits in the queue until qad is there
        process = handed_over(run, listening.fileno(), "-s", "/not/used")
        assert early.call("hello", protocol=1, role="client")["protocol"] == 1
        process.terminate()
        assert process.wait(wire.DEADLINE) == 0
        assert os.path.lexists(socket_path)
        late = wire.connect(socket_path)
        second = handed_over(run, listening.fileno())
        assert late.call("hello", protocol=1, role="client")["pid"] == os.getpid()
        assert f"listening on {socket_path}" in second.text()


def test_a_descriptor_that_is_no_such_socket_is_refused(run, tmp_path):
    with open(tmp_path / "file", "wb") as file, socket.socket(socket.AF_UNIX) as not_listening:
        for one, count in ((file, 1), (not_listening, 1), (not_listening, 2)):
            process = handed_over(run, one.fileno(), count=count)
            assert process.wait(wire.DEADLINE) == 64
            assert "LISTEN_FDS must be one Unix stream socket that listens" in process.text()


def test_descriptors_for_another_process_are_not_taken(run, socket_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_path) + ".other")
        listening.listen(1)
        process = handed_over(run, listening.fileno(), "-s", socket_path, pid="1")
        wait_until(socket_path.exists, what="its own socket")
        wire.client(socket_path).close()
        assert process.poll() is None


# another user


def status_of(pid, key):
    return re.search(rf"^{key}:\s*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE).group(1).split()


def test_root_becomes_another_user(run, open_dir, target, qactl):
    path = open_dir / "qad.sock"
    process = run(QAD, "-s", path, "--user", "nobody")
    wait_until(lambda: "listening" in process.text())
    wait_until(lambda: status_of(process.pid, "Uid") == ["65534"] * 4, what="qad to be nobody")
    assert status_of(process.pid, "Gid") == ["65534"] * 4 and set(status_of(process.pid, "Groups")) <= {"65534"}
    assert set(status_of(process.pid, "CapEff") + status_of(process.pid, "CapPrm")) == {"0" * 16}
    mine = target(QAD_SOCKET=path)
    wait_until(lambda: qactl("stats", mine.pid, QAD_SOCKET=path).code == 0, what="a target of root")
    (row,) = qactl("ps", "--json", QAD_SOCKET=path).json
    assert row["command"] == "target" and row["rss_bytes"] > 0 and row["uid"] == 0
    assert row["exe"] == ""  # what it lacks, as documented
    assert qactl("trim", mine.pid, QAD_SOCKET=path).code == 0
    process.terminate()
    assert process.wait(wire.DEADLINE) == 0
    again = run(QAD, *PATIENT, "-s", path, "--user", "65534")
    wait_until(lambda: again.text().count("listening on") == 2, what="the next one, in place of what stayed")
    wire.client(path).close()
    assert "warning" not in again.text() and "error" not in again.text()


def test_a_process_that_proc_hides_is_refused_and_the_log_says_why(run, open_dir, target):
    path = open_dir / "qad.sock"
    process = run("unshare", "--mount", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh", QAD, "-s", path,
                  "--user", "nobody")
    wait_until(lambda: "listening" in process.text(), what="qad to listen")
    hidden = target(QAD_SOCKET=path)
    wait_until(lambda: f" {hidden.pid} of uid 0: qad can not read the process in /proc" in process.text(), what="the line")
    assert "(hidepid)" in process.text()


def test_a_directory_that_qad_made_is_the_users(run, socket_dir):
    os.chmod(socket_dir, 0o711)
    path = socket_dir / "new" / "qad.sock"
    process = run(QAD, "-s", path, "--user", "nobody")
    wait_until(path.exists)
    wait_until(lambda: path.parent.stat().st_uid == 65_534)
    process.terminate()
    assert process.wait(wire.DEADLINE) == 0
    assert not path.exists()


def test_a_directory_that_the_user_may_not_enter_is_told(run, socket_dir):
    process = run(QAD, "-s", socket_dir / "qad.sock", "--user", "nobody")
    assert process.wait(wire.DEADLINE) == 73
    (line,) = process.text().splitlines()
    assert "user nobody may not enter the directory of" in line and "--socket" in line


@pytest.mark.plain_only  # a sanitizer's library wants to be the first one
def test_a_user_who_puts_a_link_in_place_of_the_socket_changes_no_other_file(run, open_dir):
    """Root makes the socket, in a directory of the user's: what is between two of its steps is the user's choice."""
    secret, link = open_dir / "secret", open_dir / "their" / "qad.sock"
    secret.touch(mode=0o600)
    link.parent.mkdir()
    process = run(QAD, "-s", link, "--user", "nobody", environment={
        "LD_PRELOAD": BUILD / "tests" / "e2e" / "libswap_socket.so", "SWAP_SOCKET": secret})
    wait_until(link.is_symlink, what="the link in place of the socket")
    process.terminate()
    assert process.wait(wire.DEADLINE) == 0
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_users_that_there_are_not_or_that_one_may_not_become(run, socket_dir):
    os.chmod(socket_dir, 0o711)
    process = run(QAD, "-s", socket_dir / "q", "--user", "no-such-user")
    assert process.wait(wire.DEADLINE) == 67 and 'there is no user "no-such-user"' in process.text()
    shutil.copy(QAD, socket_dir / "qad")
    (socket_dir / "own").mkdir(mode=0o700)
    os.chown(socket_dir / "own", 4_711, 4_711)
    process = run("setpriv", "--reuid=4711", "--regid=4711", "--clear-groups", socket_dir / "qad", "-s",
                  socket_dir / "own" / "q", "--user", "nobody")
    assert process.wait(wire.DEADLINE) == 77
    assert re.search("can not become user nobody: .*; only root can: start qad as root, or without --user", process.text())
    assert not list((socket_dir / "own").iterdir())


# units


@pytest.fixture
def units(tmp_path):
    """The units as built, with the qad of the build, in a folder each for the host and for a user."""
    for manager, suffix in (("system", ""), ("user", "-user")):
        (tmp_path / manager).mkdir()
        for kind in ("service", "socket"):
            text = (BUILD / "contrib" / "systemd" / f"qad{suffix}.{kind}").read_text()
            assert "@" not in re.sub(r"=.*@(system-service|privileged|resources)", "", text)
            text = re.sub(r"^ExecStart=\S+/qad ", f"ExecStart={QAD} ", text, flags=re.MULTILINE)
            (tmp_path / manager / f"qad.{kind}").write_text(text)
    return tmp_path


@pytest.mark.parametrize("manager", ["system", "user"])
def test_the_units_are_understood_by_systemd(units, manager):
    folder = units / manager
    done = subprocess.run(["systemd-analyze", f"--{manager}", "verify", "--man=no", folder / "qad.service",
                           folder / "qad.socket"], capture_output=True, text=True, timeout=60,
                          env=clean_environment(XDG_RUNTIME_DIR=units))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("unit", ["qad.service", "qad-user.service", "qad-http.conf"])
def test_options_of_a_drop_in_reach_qad_whatever_other_drop_ins_there_are(unit):
    text = (BUILD / "contrib" / "systemd" / unit).read_text()
    starts = re.findall(r"^#? *ExecStart=(.+)$", text, re.MULTILINE)
    assert starts and all(re.search(r"/qad (.* )?\$QAD_OPTIONS$", start) for start in starts)
    # Else systemd would warn of a variable that is not set, at each start.
    assert unit == "qad-http.conf" or text.index("\nEnvironment=QAD_OPTIONS=\n") < text.index("\nExecStart=")


def test_the_service_is_hardened(units):
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=15",
                           units / "system" / "qad.service"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (units / "system" / "qad.service").read_text()
    for what in ("ProtectProc=", "ProcSubset=", "PrivateUsers=yes", "PrivatePIDs=yes"):  # would hide processes or uids
        assert not re.search(f"^{what}", text, re.MULTILINE)


@pytest.mark.parametrize("manager", ["system", "user"])
def test_the_units_with_http(units, manager):
    drop_in = units / manager / "qad.service.d"
    drop_in.mkdir()
    text = (BUILD / "contrib" / "systemd" / "qad-http.conf").read_text()
    (drop_in / "http.conf").write_text(re.sub(r"^ExecStart=\S+/qad ", f"ExecStart={QAD} ", text, flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", f"--{manager}", "verify", "--man=no", units / manager / "qad.service"],
                          capture_output=True, text=True, timeout=60, env=clean_environment(XDG_RUNTIME_DIR=units))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    options = re.search(r"^ExecStart=\S+/qad (.+)$", text, re.MULTILINE)[1].split()
    assert options == ["--http", "127.0.0.1:9464", "$QAD_OPTIONS"] and "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6" in text
