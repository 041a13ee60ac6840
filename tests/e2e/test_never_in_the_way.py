"""
Twenty targets at full speed while everything happens to their qad: nothing is lost, nothing leaks, and all of them are
back soon after there is a good one. QA_RESTARTS=1000 makes the long one as long as it was for the release.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading

import pytest

import wire
from harness import BUILD, IS_SANITIZED, PATIENT, is_connectable, wait_until

TARGETS, THREADS, OPERATIONS = 20, 2, 4_000 if IS_SANITIZED else 20_000
RESTARTS = int(os.environ.get("QA_RESTARTS", "20"))
# Twenty programs at full speed on few processors, and sanitizers: a second is asked for of an idle machine (test_lives.py).
BACK_S = 20.0


class Busy:
    """Targets that are always at it: when one has done its load it gets the next."""

    def __init__(self, make):
        self.targets = [make() for _ in range(TARGETS)]
        for one in self.targets:
            one.ask("alloc 1 1000 24 8")
            one.ask("load 2 1000 0")
        self.before = [self.owned(one) for one in self.targets]
        self.rounds = 0
        for one in self.targets:
            one.send(f"load {THREADS} {OPERATIONS} 0")

    @staticmethod
    def owned(one):
        tasks = {(task / "comm").read_text().strip() for task in pathlib.Path(f"/proc/{one.pid}/task").iterdir()}
        agent = one.agent_task()
        descriptors = len(list((agent / "fd").iterdir())) if agent else 0
        return sorted(one.fds()), tasks, descriptors

    @staticmethod
    def check(result):
        assert result["bad"] == 0 and result["failed"] == 0 and result["checked"] > 0, result

    def work(self):
        """Takes what is done and gives more; every target must have been moving since the last time."""
        for one in self.targets:
            self.check(one.answer())
            one.send(f"load {THREADS} {OPERATIONS} 0")
        self.rounds += 1

    def end(self, client):
        for one in self.targets:
            self.check(one.answer())
        for one, before in zip(self.targets, self.before):
            assert one.ask("check 1") == {"blocks": 1_000, "bad": 0}
            fds, tasks, descriptors = self.owned(one)
            assert fds == before[0] and tasks == before[1], "descriptors and threads are those of before"
            assert descriptors <= before[2] + 1, "the agent has at most its connection more"
            stats = client.call("stats", pid=one.pid)
            assert stats["used_bytes"] == 24_000 + sum(row["used_bytes"] for row in stats["classes"]
                                                       if row["block_size"] != 24), "no block is lost"
            one.quit()


@pytest.fixture
def busy(target):
    return Busy(target)


def are_back(client, busy):
    wanted = {one.pid for one in busy.targets}
    wait_until(lambda: {row["pid"] for row in client.call("ps", figures=False)["targets"]} == wanted, timeout=BACK_S,
               what="all targets to be back")


def finish(qad, busy):
    client = wire.client(qad.socket_path)
    are_back(client, busy)
    busy.end(client)
    client.close()


def test_qad_is_killed_and_started_again_and_again(qad, busy):
    for number in range(RESTARTS):
        qad.process.send_signal(signal.SIGKILL if number % 2 else signal.SIGTERM)
        qad.process.wait(30)
        qad.start()
        if number % 10 == 9:
            client = wire.client(qad.socket_path)
            are_back(client, busy)
            client.close()
            busy.work()
    finish(qad, busy)


def test_qad_is_stopped_and_goes_on(qad, busy):
    client = wire.client(qad.socket_path)
    are_back(client, busy)
    numbers = [client.ask("stats", pid=one.pid) for one in busy.targets]
    qad.process.send_signal(signal.SIGSTOP)
    for _ in range(3):
        busy.work()  # nobody waits for it
    qad.process.send_signal(signal.SIGCONT)
    for number in numbers:
        frame = client.receive()
        assert frame[0] == 1 and frame[1] in numbers
    client.close()
    finish(qad, busy)


@pytest.mark.parametrize("what", ["socket", "folder"])
def test_its_socket_or_folder_is_deleted(qad_factory, socket_dir, target, what):
    path = socket_dir / "sub" / "qad.sock"
    qad = qad_factory(path).start()
    busy = Busy(lambda: target(QAD_SOCKET=path))
    client = wire.client(path)
    are_back(client, busy)
    if what == "socket":
        path.unlink()
    else:
        shutil.rmtree(path.parent)
    busy.work()
    are_back(client, busy)  # they never left
    client.close()
    wait_until(lambda: is_connectable(path), timeout=BACK_S, what="qad to listen there again")
    finish(qad, busy)
    qad.stop()


@pytest.mark.parametrize("what", ["socket", "folder"])
def test_qad_ends_and_so_does_its_socket_or_folder(qad_factory, socket_dir, target, what):
    path = socket_dir / "sub" / "qad.sock"
    first = qad_factory(path).start()
    busy = Busy(lambda: target(QAD_SOCKET=path))
    first.kill()
    if what == "socket":
        path.unlink()
    else:
        shutil.rmtree(path.parent)
    busy.work()
    second = qad_factory(path).start()
    finish(second, busy)
    second.stop()


class Impostor:
    """Listens in qad's place; what it does with a connection is behave's. Ends by itself when it is left."""

    def __init__(self, path, behave):
        path.unlink(missing_ok=True)
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen(64)
        self.behave = behave
        self.connections = []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections.append(connection)
            with contextlib.suppress(OSError):
                self.behave(connection)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(30)
        for connection in self.connections:
            connection.close()
        self.path.unlink(missing_ok=True)


def say_nothing(_):
    pass


def say_garbage(connection):
    connection.sendall(os.urandom(4_096))


def claim_gigabytes(connection):
    connection.sendall(b"\xdd\xff\xff\xff\xff" + b"\x94\x00\x01\xdb\xff\xff\xff\xff")


def ask_endlessly(connection):
    connection.settimeout(0.2)
    connection.sendall(b"\x94\x01\x00\xc0\x83\xa8protocol\x01\xa7version\xa1x\xa3pid\x01")
    connection.sendall(b"\x94\x00\x01\xa5stats\x81\xa7classes\xc3" * 20_000)


def hang_up(connection):
    connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("behave", [say_nothing, say_garbage, claim_gigabytes, ask_endlessly, hang_up])
def test_another_program_sits_in_its_place(qad_factory, socket_path, target, behave):
    first = qad_factory().start()
    busy = Busy(target)
    client = wire.client(socket_path)
    are_back(client, busy)
    client.close()
    first.kill()
    with Impostor(socket_path, behave) as impostor:
        wait_until(lambda: len(impostor.connections) >= 1, timeout=60, what="targets to come")
        for _ in range(2):
            busy.work()
    second = qad_factory().start()
    finish(second, busy)
    second.stop()


def test_the_disk_of_its_log_is_full(qad_factory, socket_path, target):
    """/dev/full takes no byte: qad goes on without a word."""
    with open("/dev/full", "wb") as full:
        process = subprocess.Popen([BUILD / "qad" / "qad", *PATIENT, "-vv", "--socket", socket_path],
                                   stdin=subprocess.DEVNULL, stdout=full, stderr=full)
    try:
        wait_until(socket_path.exists)
        one = target()
        client = wire.client(socket_path)
        wait_until(lambda: client.call("ps", figures=False)["targets"])
        bad = wire.connect(socket_path)
        bad.send_bytes(b"\xc1")
        assert bad.is_closed()
        assert client.call("trim", pid=one.pid)["pid"] == one.pid
        one.quit()
    finally:
        process.terminate()
        assert process.wait(30) == 0
