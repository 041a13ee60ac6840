"""Fixtures for the end-to-end tests: they run the real binaries of a build folder (QA_BUILD, else ./build)."""

import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

import wire

REPO = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("QA_BUILD") or REPO / "build").resolve()
SANITIZER_REPORT = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:")
# Sanitizers make everything slower; a deadline only bounds a failure, so a long one costs nothing.
DEADLINE = 30.0
IS_SANITIZED = bool(os.environ.get("QA_SANITIZED"))
# Of what has to be there within a second. A sanitizer's build is several times slower.
SECOND = 10.0 if IS_SANITIZED else 1.0
# Who connects by hand may be kept from its hello by a busy machine for longer than the two seconds that qad waits. Tests
# of that time ask for one of their own.
PATIENT = ("--limit", "hello_ms=60000")


def wait_until(predicate, timeout=DEADLINE, what="the condition"):
    """Polls until predicate() is true, and returns its value. AssertionError names what after timeout seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {timeout} s for {what}"
        time.sleep(0.005)


def clean_environment(**more):
    """The environment without what would lead libqa, qad or qactl elsewhere; values of None are left out."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("QA_", "QAD_"))}
    kept.update(more)
    return {key: str(value) for key, value in kept.items() if value is not None}


def assert_no_report(path, who):
    text = path.read_text(errors="replace") if path.exists() else ""
    assert not SANITIZER_REPORT.search(text), f"{who} has a sanitizer's report:\n{text}"


def end_process(process):
    """Kills and reaps; whatever state it is in."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE)


def stop_process(pid):
    """SIGSTOP, and waits until every thread has stopped: until then one may still answer."""
    os.kill(pid, signal.SIGSTOP)

    def has_stopped():
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        return all((task / "stat").read_text().rsplit(")", 1)[1].split()[0] == "T" for task in tasks)

    wait_until(has_stopped, what=f"{pid} to stop")


def is_connectable(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


class Qad:
    """A qad of one's own on a private socket."""

    def __init__(self, socket_path, log_path):
        self.socket_path = socket_path
        self.log_path = log_path
        self.process = None

    def start(self, *arguments, **environment):
        assert self.process is None or self.process.poll() is not None, "qad runs already"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [BUILD / "qad" / "qad", "--socket", str(self.socket_path), *PATIENT, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean_environment(**environment))
        wait_until(lambda: self.process.poll() is not None or is_connectable(self.socket_path), what="qad to listen")
        assert self.process.poll() is None, f"qad ended with {self.process.returncode}: {self.log()}"
        return self

    @property
    def pid(self):
        return self.process.pid

    @property
    def http(self):
        """Where it listens when it was started with --http, by its log."""
        found = wait_until(lambda: re.search(r"HTTP at http://\[?([0-9a-f.:]+)\]?:(\d+)/", self.log()), what="HTTP in the log")
        return found[1], int(found[2])

    def log(self):
        return self.log_path.read_text(errors="replace")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)

    def stop(self, number=signal.SIGTERM):
        """Ends it as an administrator does: exit code 0, the socket is gone, no sanitizer complained."""
        self.process.send_signal(number)
        code = self.process.wait(DEADLINE)
        assert code == 0, f"qad ended with {code}: {self.log()}"
        assert not os.path.lexists(self.socket_path), "qad left its socket behind"
        assert_no_report(self.log_path, "qad")


class Result:
    """What a run of qactl gave."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"qactl: exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Target:
    """The C program of target.c on libqa, or another one with the same habits."""

    def __init__(self, process, error_path):
        self.process = process
        self.error_path = error_path
        self.pending = b""

    @property
    def pid(self):
        return self.process.pid

    def send(self, command):
        os.write(self.process.stdin.fileno(), command.encode() + b"\n")

    def has_answer(self):
        return b"\n" in self.pending or bool(select.select([self.process.stdout], [], [], 0)[0])

    def answer_line(self, timeout=120.0):
        deadline = time.monotonic() + timeout
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"the target gave no answer in {timeout} s"
            data = os.read(self.process.stdout.fileno(), 4096)
            assert data, f"the target ended with {self.process.wait(DEADLINE)}: {self.errors()}"
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode()

    def answer(self, timeout=120.0):
        """The numbers of an answer "ok key=number ..." as a dict."""
        line = self.answer_line(timeout)
        assert line.split()[:1] == ["ok"], f"the target answered: {line}"
        return {key: int(value) for key, _, value in (word.partition("=") for word in line.split()[1:]) if value}

    def ask(self, command, timeout=120.0):
        self.send(command)
        return self.answer(timeout)

    def ask_line(self, command, timeout=120.0):
        self.send(command)
        return self.answer_line(timeout)

    def errors(self):
        return self.error_path.read_text(errors="replace")

    def fds(self):
        """Its open descriptors as a dict of number to what it is."""
        found = {}
        for entry in pathlib.Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                found[int(entry.name)] = os.readlink(entry)
            except FileNotFoundError:
                pass
        return found

    def rss_bytes(self):
        return int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * resource.getpagesize()

    def agent_task(self):
        """The /proc folder of its agent thread, or None."""
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == "qa-agent":
                return task
        return None

    def quit(self):
        """Ends it in the usual way, by the end of main; asserts exit code 0 and quiet sanitizers."""
        self.send("quit")
        assert self.process.wait(DEADLINE) == 0, self.errors()
        assert_no_report(self.error_path, "the target")


def agent_state(program):
    task = program.agent_task()
    return task and (task / "stat").read_text().rsplit(")", 1)[1].split()[0]


def wait_asleep(program):
    wait_until(lambda: agent_state(program) == "S", what="the agent to sleep")


def wait_watching(program):
    """Until it sleeps on inotify, which it does without when it is young."""
    def is_watching():
        task = program.agent_task()
        try:
            return task and "anon_inode:inotify" in [os.readlink(entry) for entry in (task / "fd").iterdir()]
        except FileNotFoundError:  # closed meanwhile
            return False

    wait_until(is_watching, what="the agent to watch")
    wait_asleep(program)


@pytest.fixture
def socket_dir():
    """A short folder of its own: socket paths have at most 107 bytes."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="qa-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def socket_path(socket_dir):
    return socket_dir / "qad.sock"


@pytest.fixture
def qad_factory(socket_dir, socket_path):
    """Makes a Qad that is not started yet; all are killed at the end of the test."""
    made = []

    def make(path=None):
        made.append(Qad(path or socket_path, socket_dir / f"qad-{len(made)}.log"))
        return made[-1]

    yield make
    for qad in made:
        if qad.process:
            end_process(qad.process)
            assert_no_report(qad.log_path, "qad")


@pytest.fixture
def qad(qad_factory):
    """A qad that runs; at the end it is stopped, and must have stopped well unless the test ended it itself."""
    qad = qad_factory().start()
    yield qad
    if qad.process.poll() is None:
        qad.stop()
    elif qad.process.returncode != -signal.SIGKILL:
        assert qad.process.returncode == 0, f"qad ended with {qad.process.returncode}: {qad.log()}"


@pytest.fixture
def client(qad):
    """A connection to qad that has said hello as a client."""
    connection = wire.client(qad.socket_path)
    yield connection
    connection.close()


@pytest.fixture
def fake(qad):
    """Makes targets by hand, which a test answers for; all end with the test."""
    made = []

    def make(kind=wire.FakeTarget, **options):
        made.append(kind(qad.socket_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture
def served(qad_factory):
    """A qad with HTTP, and a client of its socket in .client."""
    made = []

    def start(*options):
        qad = qad_factory().start("--http", "127.0.0.1:0", *options)
        qad.client = wire.client(qad.socket_path)
        made.append(qad)
        return qad

    yield start
    for qad in made:
        if qad.process.poll() is None:
            qad.stop()


@pytest.fixture
def fake_of():
    """As fake, for a qad that the test names first."""
    made = []

    def make(qad, kind=wire.FakeTarget, **options):
        made.append(kind(qad.socket_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


def targets_of(client, **params):
    """What ps tells of each target, by pid."""
    return {target["pid"]: target for target in client.call("ps", **params)["targets"]}


def wait_for_target(client, pid):
    return wait_until(lambda: targets_of(client, figures=False).get(pid), what=f"target {pid} in ps")


@pytest.fixture
def qactl(socket_path):
    """Runs the real client: qactl("stats", pid, "--json"). Keyword arguments go into its environment."""

    def run(*arguments, timeout=60.0, **environment):
        environment.setdefault("QAD_SOCKET", socket_path)
        done = subprocess.run([BUILD / "qactl" / "qactl", *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=timeout, env=clean_environment(**environment))
        assert not SANITIZER_REPORT.search(done.stderr), done.stderr
        return Result(done)

    return run


@pytest.fixture
def target(socket_dir, socket_path):
    """Makes targets: target(QA_NAME="x"). They look for qad at the private socket; all are killed at the end."""
    made = []

    def make(program=None, arguments=(), preexec_fn=None, **environment):
        environment.setdefault("QA_CHECK", "off")  # sanitizer builds turn it on, and there are no caches then
        environment.setdefault("QAD_SOCKET", socket_path)
        error_path = socket_dir / f"target-{len(made)}.err"
        with open(error_path, "wb") as error:
            process = subprocess.Popen([program or BUILD / "tests" / "e2e" / "target", *arguments],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error, bufsize=0,
                                       preexec_fn=preexec_fn, env=clean_environment(**environment))
        made.append(Target(process, error_path))
        if program is None:
            assert made[-1].answer_line() == "ok ready"
        return made[-1]

    yield make
    for one in made:
        end_process(one.process)
        one.process.stdin.close()
        one.process.stdout.close()
    for one in made:
        assert_no_report(one.error_path, "a target")


@pytest.fixture
def stats(qactl):
    """Waits until qad knows the target, and returns its figures of now, checked: every sum must hold."""

    def ask(pid, *arguments):
        wait_until(lambda: qactl("stats", pid, "--json").code == 0, what=f"{pid} to be known to qad")
        result = qactl("stats", pid, "--json", *arguments)
        assert result.code == 0, result
        return assert_sums(result.json)

    return ask


PARTS = ("thread_bytes", "partial_bytes", "empty_bytes", "slack_bytes")


def assert_sums(figures):
    """held = used + cached and cached = its four parts, in every row and in total; totals are the rows' sums."""
    for row in [figures, *figures["classes"]]:
        assert row["held_bytes"] == row["used_bytes"] + row["cached_bytes"], row
        assert row["cached_bytes"] == sum(row[part] for part in PARTS), row
        assert all(value >= 0 for key, value in row.items() if key.endswith("_bytes")), row
    for row in figures["classes"]:
        if row["block_size"]:
            assert row["used_bytes"] == row["used_blocks"] * row["block_size"], row
            assert row["held_bytes"] <= row["pages"] * figures["page_size"], row  # less what was given back inside
    for key in ("held_bytes", "used_bytes", "cached_bytes", *PARTS):
        assert figures[key] == sum(row[key] for row in figures["classes"]), key
    return figures


def row_of(figures, block_size):
    """The row of a class; of zeros when it is not shown."""
    for row in figures["classes"]:
        if row["block_size"] == block_size:
            return row
    keys = ("pages", "held_bytes", "used_bytes", "cached_bytes", *PARTS, "used_blocks", "allocs", "frees")
    return {"block_size": block_size, **{key: 0 for key in keys}}
