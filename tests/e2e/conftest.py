"""Fixtures for the end-to-end tests: they run the real binaries of a build folder (QA_BUILD, else ./build)."""

import functools
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

import wire
from figures import assert_sums
from harness import BUILD, SANITIZER_REPORT, assert_no_report, clean_environment, end_process, wait_until
from programs import Qad, Result, Target


@pytest.fixture
def socket_dir():
    """A short folder of its own: socket paths have at most 107 bytes."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="qa-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def open_dir():
    """A folder of root's that other users may enter; so not below /tmp, where qad insists on a closed one."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="qa-", dir="/var/tmp"))
    folder.chmod(0o755)
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
def fake_of():
    """Makes targets by hand of a qad that the test names; the test answers for them, and all end with it."""
    made = []

    def make(qad, kind=wire.FakeTarget, **options):
        made.append(kind(qad.socket_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture
def fake(qad, fake_of):
    """As fake_of, of the usual qad."""
    return functools.partial(fake_of, qad)


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
