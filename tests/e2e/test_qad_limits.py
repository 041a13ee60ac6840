"""How much one peer or user may send, ask and keep waiting: whoever wants more, the others go on being served."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess

import msgpack
import pytest

import wire
from harness import wait_until
from programs import wait_for_target

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def qad(qad_factory):
    """As the usual one, but AddressSanitizer does not keep what was freed: some tests look at resident memory."""
    options = [os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=0", "thread_local_quarantine_size_kb=0"]
    qad = qad_factory().start(ASAN_OPTIONS=":".join(filter(None, options)))
    yield qad
    print(qad.log())  # pytest shows it when the test failed
    qad.stop()


def resident_kib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() // KIB


# frames


def test_hello_may_have_1_kib_and_no_more(qad):
    hello = {"protocol": 1, "role": "client", "pad": ""}
    room = KIB - len(msgpack.packb([0, 1, "hello", {**hello, "pad": "x" * 256}])) + 256
    fits, too_large = wire.connect(qad.socket_path), wire.connect(qad.socket_path)
    assert len(msgpack.packb([0, 1, "hello", {**hello, "pad": "x" * room}])) == KIB
    assert fits.call("hello", {**hello, "pad": "x" * room})["protocol"] == 1
    too_large.ask("hello", {**hello, "pad": "x" * (room + 1)})
    with pytest.raises(wire.Closed):
        too_large.receive()


def test_a_client_frame_may_have_16_kib_and_no_more(qad, client):
    other = wire.client(qad.socket_path)

    def request(frame_bytes):
        return wire.frame_of_size(frame_bytes, lambda pad: [0, 1, "ps", {"figures": False, "pad": pad}])

    client.send_bytes(request(16 * KIB))
    assert client.receive()[2] is None
    other.send_bytes(request(16 * KIB + 1))
    assert other.is_closed()


def test_a_target_frame_may_have_1_mib_and_no_more(client, fake):
    good, bad = fake(), fake()

    def answer(asked, frame_bytes):
        result = {**wire.totals_of(), "classes": []}
        return wire.frame_of_size(frame_bytes, lambda pad: [1, asked, None, {**result, "pad": pad}])

    number = client.ask("stats", pid=good.pid)
    good.connection.send_bytes(answer(good.question()[0], MIB))
    assert client.answer_to(number)["classes"] == []
    number = client.ask("stats", pid=bad.pid)
    with contextlib.suppress(OSError):  # qad may hang up in the middle
        bad.connection.send_bytes(answer(bad.question()[0], MIB + 1))
    assert bad.connection.is_closed()
    with pytest.raises(wire.RemoteError) as error:
        client.answer_to(number)
    assert error.value.code == "gone"


MANY_TARGETS = """
import msgpack, os, signal, socket, sys
for _ in range(int(sys.argv[2])):
    if os.fork() == 0:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        connection.sendall(msgpack.packb([0, 1, "hello", {"protocol": 1, "role": "target"}]))
        connection.recv(1000)
        signal.pause()
signal.pause()
"""


def test_an_answer_too_large_for_a_frame_is_an_error(qad, client, socket_dir):
    """A thousand targets whose executable has a path of 4 KiB: more than the 4 MiB of an answer."""
    there = os.open(socket_dir, os.O_RDONLY)
    bytes_left = 4090 - len(str(socket_dir))
    while bytes_left > 0:  # step by step, since no call takes so long a path
        name = "d" * min(250, bytes_left)
        os.mkdir(name, dir_fd=there)
        there, above = os.open(name, os.O_RDONLY, dir_fd=there), there
        os.close(above)
        bytes_left -= len(name) + 1
    shutil.copy("/usr/bin/python3", f"/proc/self/fd/{there}/p")
    many = subprocess.Popen([f"/proc/self/fd/{there}/p", "-c", MANY_TARGETS, qad.socket_path, "1022"],
                            env={**os.environ, "PYTHONHOME": "/usr"}, pass_fds=[there], start_new_session=True)
    os.close(there)
    try:
        # An error already while they come, so it is found by the error rather than by a count.
        wait_until(lambda: is_too_large(client), what="the answer to be too large")
        assert client.error_of("stats", pid=1) == "no_target"
    finally:
        os.killpg(many.pid, signal.SIGKILL)
        many.wait()
    wait_until(lambda: not is_too_large(client) and client.call("ps", figures=False) == {"targets": []},
               what="them to be gone")


def is_too_large(client):
    try:
        client.call("ps", figures=False)
    except wire.RemoteError as error:
        assert error.code == "failed" and "larger than a frame" in error.map["message"]
        return True
    return False


# what waits


def test_a_client_that_does_not_read_is_dropped_and_others_are_served(qad, client, fake):
    wait_for_target(client, fake(kind=wire.ServingTarget).pid)
    deaf = wire.client(qad.socket_path)
    deaf.socket.setblocking(False)
    request = msgpack.packb([0, 1, "x" * 31, {}]) * 1000

    def is_dropped():
        try:
            deaf.socket.send(request)
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            return True
        assert client.call("ps", figures=False)["targets"]
        return False

    wait_until(is_dropped, timeout=120, what="the deaf client to be dropped")
    assert "does not read its answers" in qad.log()
    # Bounded: qad did not keep more than the queue allows, and gave it back.
    assert resident_kib(qad.pid) < 64 * KIB


def test_a_target_that_does_not_read_is_bounded_too(qad, client, fake):
    """However often it is asked, one question of a kind is on its way; its own requests drown only itself."""
    deaf = fake()
    deaf.connection.socket.setblocking(False)
    request = msgpack.packb([0, 1, "x" * 31, {}]) * 1000

    def is_dropped():
        try:
            deaf.connection.socket.send(request)
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            return True
        return False

    wait_until(is_dropped, timeout=120, what="the deaf target to be dropped")
    assert client.call("ps") == {"targets": []}


def test_64_requests_may_wait_and_one_more_is_busy(client, fake):
    target = fake()
    numbers = [client.ask("stats", pid=target.pid) for _ in range(64)]
    assert client.error_of("stats", pid=target.pid) == "busy"
    asked, _, params = target.question()
    target.answer(asked, wire.stats_of(params))
    target.answer_stats()
    assert sorted(client.receive()[1] for _ in numbers) == numbers
    number = client.ask("stats", pid=target.pid)
    target.answer_stats()
    assert client.answer_to(number)["pid"] == target.pid


def test_what_all_connections_of_a_user_hold_together_is_bounded(qad, client):
    """80 targets with nearly 1 MiB of a frame each would be 80 MiB; qad keeps 64 for one user."""
    head = b"\x94\x01\x01\xc0\x81\xa1k\xdc\x01\x00"
    body = (b"\xda\x0f\xfc" + b"x" * 4092) * 255
    holders = []
    for _ in range(80):
        child = wire.Child(qad.socket_path)
        holders.append(child)
        child.connection.call("hello", protocol=1, role="target")
        with contextlib.suppress(OSError):  # those above the limit are cut off
            child.connection.send_bytes(head + body)
    try:
        wait_until(lambda: "too much waits for this user" in qad.log(), what="the limit to be met")
        assert client.call("ps", figures=False)["targets"]
        assert resident_kib(qad.pid) < 100 * KIB
    finally:
        for child in holders:
            child.end()
    wait_until(lambda: client.call("ps", figures=False) == {"targets": []}, what="them to be gone")
