"""Each limit as a setting: it holds at the value that it is set to, and others are served on."""

import contextlib
import os
import signal
import subprocess
import time

import msgpack
import pytest

import wire
from harness import BUILD, stop_process, wait_until

QAD = BUILD / "qad" / "qad"


@pytest.fixture
def limited(qad_factory):
    """A qad with limits, and a client that is inside before anything else."""
    made = []

    def start(*settings, client=True):
        words = [word for setting in settings for word in ("--limit", setting)]
        made.append(qad_factory().start(*words))
        return made[-1], wire.client(made[-1].socket_path) if client else None

    yield start
    for qad in made:
        qad.stop()


def wait_for_target(client, target):
    wait_until(lambda: [row for row in client.call("ps", figures=False)["targets"] if row["pid"] == target.pid])


def test_health_tells_those_in_force(limited):
    qad, client = limited("connections=7", "queue_client_bytes=2M", "trim_ms=77")
    limits = client.call("health")["limits"]
    assert (limits["connections"], limits["queue_client_bytes"], limits["trim_ms"]) == (7, 2 << 20, 77)
    assert limits["stats_ms"] == 2_000


@pytest.mark.parametrize("name", ["connections", "connections_of_user"])
def test_connections(limited, name):
    qad, client = limited(f"{name}=3")
    others = [wire.client(qad.socket_path) for _ in range(2)]
    refused = wire.connect(qad.socket_path)
    with pytest.raises(wire.RemoteError) as error:
        refused.call("hello", protocol=1, role="client")
    assert error.value.code == "busy" and f"3 connections already (limit {name})" in error.value.map["message"]
    assert client.call("ps") == {"targets": []}
    others[0].close()
    wait_until(lambda: client.call("health")["clients"] == 2)
    wire.client(qad.socket_path).close()


def test_one_that_goes_without_hello_takes_no_connection(limited):
    """Its end and the next hello are there in the same round of the loop."""
    qad, _ = limited("connections=1", client=False)
    stop_process(qad.pid)
    gone = wire.connect(qad.socket_path)
    gone.close()
    next_one = wire.connect(qad.socket_path)
    number = next_one.ask("hello", protocol=1, role="client")
    os.kill(qad.pid, signal.SIGCONT)
    assert next_one.answer_to(number)["protocol"] == 1


def test_before_hello(limited):
    qad, client = limited("before_hello=1", "hello_ms=3600000")
    silent = wire.connect(qad.socket_path)
    wait_until(lambda: wire.client(qad.socket_path).call("health")["dropped_peers"] == 1, what="it to be too many")
    assert silent.is_closed()


def test_the_time_for_hello(limited):
    qad, client = limited("hello_ms=2500")  # more than the usual two seconds
    began = time.monotonic()
    assert wire.connect(qad.socket_path).is_closed() and time.monotonic() - began > 2.2
    assert client.call("health")["dropped_peers"] == 1


def test_hello_bytes(limited):
    qad, client = limited("hello_bytes=256")
    small, large = wire.connect(qad.socket_path), wire.connect(qad.socket_path)
    small.send_bytes(hello_of(256))
    assert small.receive()[2] is None
    large.send_bytes(hello_of(257))
    assert large.is_closed()
    assert client.call("ps") == {"targets": []}


def hello_of(size):
    return wire.frame_of_size(size, lambda pad: [0, 1, "hello", {"protocol": 1, "role": "client", "pad": pad}])


def test_frames_of_clients(limited):
    qad, client = limited("frame_client_bytes=1024")
    client.send_bytes(wire.frame_of_size(1_024, lambda pad: [0, 9, "ps", {"pad": pad}]))
    assert client.receive()[:3] == [1, 9, None]
    client.send_bytes(wire.frame_of_size(1_025, lambda pad: [0, 9, "ps", {"pad": pad}]))
    assert client.is_closed()
    assert "limit 1024 bytes" in qad.log()


def test_frames_of_targets(limited, fake_of):
    qad, client = limited("frame_target_bytes=64K")
    good, bad = fake_of(qad), fake_of(qad)
    for target, size in ((good, 65_536), (bad, 65_537)):
        number = client.ask("stats", pid=target.pid)
        asked, _, _ = target.question()
        rows = {"classes": []}
        target.connection.send_bytes(wire.frame_of_size(
            size, lambda pad: [1, asked, None, {**wire.totals_of(), **rows, "pad": pad}]))
        if target is good:
            assert client.answer_to(number)["used_bytes"] == 24_000
        else:
            with pytest.raises(wire.RemoteError, match="gone"):
                client.answer_to(number)


def test_answers(limited, fake_of):
    qad, client = limited("frame_answer_bytes=64K")
    target = fake_of(qad)
    number = client.ask("stats", pid=target.pid)
    asked, _, _ = target.question()
    target.answer(asked, {**wire.totals_of(), "classes": [wire.row_of(size, name="x" * 64) for size in range(400)]})
    with pytest.raises(wire.RemoteError, match="failed"):
        client.answer_to(number)
    assert client.call("health")["targets"] == 1


@pytest.mark.parametrize("setting", ["queue_client_bytes=64K", "memory_of_user_bytes=1M"])
def test_who_does_not_read(limited, fake_of, setting):
    qad, client = limited(setting)
    lazy = wire.client(qad.socket_path)
    target = fake_of(qad, kind=wire.ServingTarget)
    wait_for_target(client, target)
    with contextlib.suppress(OSError):
        lazy.socket.settimeout(5)
        while qad.log().count("dropped client") == 0:
            for _ in range(60):
                lazy.ask("history", pid=target.pid)
    assert ("does not read" in qad.log()) or ("too much waits" in qad.log())
    assert client.call("health")["rss_bytes"] < 64 << 20


def test_a_target_that_does_not_read(limited, fake_of):
    qad, client = limited("queue_target_bytes=4096", "stats_ms=20")
    target = fake_of(qad)
    target.connection.socket.settimeout(5)
    with contextlib.suppress(OSError):
        while "it does not read" not in qad.log():
            target.connection.send_bytes(msgpack.packb([0, 1, "later", {}]) * 400)
    wait_until(lambda: client.call("health")["targets"] == 0, what="it to be gone")


def test_requests_of_a_client(limited, fake_of):
    qad, client = limited("requests_of_client=2")
    target = fake_of(qad)
    numbers = [client.ask("stats", pid=target.pid) for _ in range(3)]
    with pytest.raises(wire.RemoteError, match="busy"):
        client.answer_to(numbers[2])
    for _ in range(2):
        target.answer_stats()
        with contextlib.suppress(TimeoutError, ValueError):
            client.receive(timeout=1)
    assert wire.client(qad.socket_path).call("health")["clients"] == 2


def test_requests_of_a_user(limited, fake_of):
    qad, client = limited("requests_of_user=2")
    target = fake_of(qad)
    first, second = wire.client(qad.socket_path), wire.client(qad.socket_path)
    first_stats = first.ask("stats", pid=target.pid)
    number, _, params = target.question()
    second.ask("stats", pid=target.pid)
    assert second.error_of("health") == client.error_of("health") == "busy"
    target.answer(number, wire.stats_of(params))
    assert first.answer_to(first_stats)["pid"] == target.pid
    assert client.call("health")["clients"] == 3
    second.close()
    wait_until(lambda: client.call("health")["clients"] == 2, what="its request to end with it")
    third_stats, fourth_stats = (client.ask("stats", pid=target.pid) for _ in range(2))
    assert client.error_of("health") == "busy"
    for _ in range(2):
        target.answer_stats()
    assert client.answer_to(third_stats) and client.answer_to(fourth_stats)


def test_watches_of_a_user(limited):
    qad, client = limited("watches_of_user=3")
    watchers = [wire.client(qad.socket_path) for _ in range(3)]
    for one in watchers:
        one.call("watch")
    with pytest.raises(wire.RemoteError) as error:
        client.call("watch")
    assert error.value.code == "busy" and "limit watches_of_user" in error.value.map["message"]
    watchers[0].close()
    wait_until(lambda: client.call("health")["watches"] == 2, what="the watch to end with its client")
    client.call("watch")
    assert wire.client(qad.socket_path).error_of("watch") == "busy"


def test_watches_of_a_client(limited):
    qad, client = limited("watches_of_client=2", "watch_ms=500")
    assert client.error_of("watch", interval_ms=499) == "bad_request"
    client.call("watch", interval_ms=86_400_000)
    frames = []
    number = client.ask("watch", interval_ms=86_400_000)
    while not (frames and frames[-1][:2] == [1, number]):
        frames.append(client.receive())
    number = client.ask("watch", interval_ms=86_400_000)
    while not frames[-1][:2] == [1, number]:
        frames.append(client.receive())
    assert frames[-1][2]["code"] == "busy"


def test_deadlines(limited, fake_of):
    qad, client = limited("stats_ms=2500", "trim_ms=150")  # more than the usual two seconds, and less than thirty
    target = fake_of(qad)
    for method, seconds in (("stats", 2.5), ("trim", 0.15)):
        began = time.monotonic()
        assert client.error_of(method, pid=target.pid, timeout=25) == "timeout"
        assert time.monotonic() - began > seconds * 0.9


@pytest.mark.parametrize("setting, words", [("nothing=1", "no such limit"), ("connections", "NAME=VALUE"),
                                            ("connections=0", "outside"), ("connections=x", "NAME=VALUE")])
def test_settings_that_make_no_sense(setting, words):
    done = subprocess.run([QAD, "--limit", setting], capture_output=True, text=True, timeout=60)
    assert done.returncode == 64 and words in done.stderr and setting in done.stderr


def test_the_list_of_limits():
    done = subprocess.run([QAD, "--limit", "help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
    title, *rows = done.stdout.splitlines()
    assert title.split() == ["NAME", "DEFAULT", "LEAST", "MOST"] and len(rows) == 24
    assert all(int(row.split()[2]) <= int(row.split()[1]) <= int(row.split()[3]) for row in rows)
