"""Connections: how many there may be, what happens without descriptors, and what they cost when nothing is asked."""

import os
import pathlib
import resource
import signal
import time

import pytest

import wire
from harness import stop_process, wait_until
from programs import targets_of, wait_for_target


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def say_hello(connection):
    return connection.ask("hello", protocol=1, role="client")


def test_who_does_not_say_hello_keeps_nobody_from_coming(qad, client):
    mute = [wire.connect(qad.socket_path) for _ in range(64)]
    half = [wire.connect(qad.socket_path) for _ in range(236)]
    for one in half:
        one.send_bytes(b"\x94\x00")
    assert wire.client(qad.socket_path).call("ps") == {"targets": []}
    # Of so many of one user the oldest go when more come: as soon as they have had time to say hello.
    wait_until(lambda: wire.client(qad.socket_path).call("health")["dropped_peers"] >= 10, what="the oldest to go")
    assert mute[0].is_closed() and "have not said hello" in qad.log()


def test_64_may_be_silent_for_their_time(qad, client):
    mute = [wire.connect(qad.socket_path) for _ in range(64)]
    wait_until(lambda: client.call("health")["before_hello"] == 64, what="all to be there")
    assert client.call("health")["dropped_peers"] == 0
    for one in mute:
        assert one.answer_to(say_hello(one))["protocol"] == 1


@pytest.mark.parametrize("are_there_before", [False, True])
def test_who_says_hello_at_once_is_served_however_many_they_are(qad, are_there_before):
    """qad is stopped meanwhile: what it has not read yet was said all the same, and long ago."""
    many = [wire.connect(qad.socket_path) for _ in range(100)] if are_there_before else []
    if are_there_before:
        wire.client(qad.socket_path)  # all before it are accepted
    stop_process(qad.pid)
    many += [wire.connect(qad.socket_path) for _ in range(100)]
    numbers = [say_hello(one) for one in many]
    end = time.monotonic() + 0.15  # after 100 ms it would be silence
    wait_until(lambda: time.monotonic() > end)
    os.kill(qad.pid, signal.SIGCONT)
    for one, number in zip(many, numbers):
        assert one.answer_to(number)["protocol"] == 1


def test_1024_connections_of_a_user_and_no_more(qad):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    try:
        inside = [wire.client(qad.socket_path) for _ in range(1024)]
        outside = wire.connect(qad.socket_path)
        assert outside.error_of("hello", protocol=1, role="client") == "busy"
        assert outside.is_closed()
        assert inside[0].call("ps") == inside[-1].call("ps") == {"targets": []}
        inside.pop().close()
        wait_until(lambda: accepts(qad.socket_path), what="room for one again")
        for one in inside:
            one.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def accepts(path):
    try:
        wire.client(path).close()
    except (wire.RemoteError, wire.Closed):
        return False
    return True


def test_without_descriptors_it_waits_tells_once_and_recovers(qad, fake):
    target = fake(kind=wire.ServingTarget)
    client = wire.client(qad.socket_path)
    wait_for_target(client, target.pid)
    used = len(os.listdir(f"/proc/{qad.pid}/fd"))
    hard = resource.prlimit(qad.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(qad.pid, resource.RLIMIT_NOFILE, (used + 5, hard))

    inside = [wire.client(qad.socket_path) for _ in range(4)]
    late = fake(kind=wire.Child)
    outside = [wire.connect(qad.socket_path) for _ in range(10)]
    numbers = [one.ask("hello", protocol=1, role="client") for one in outside]
    wait_until(lambda: "no connection can be accepted" in qad.log(), what="the shortage to be told")
    # Who is in can become a target: what qad has to open for that it still can.
    assert late.connection.call("hello", protocol=1, role="target")["pid"] == late.pid
    assert targets_of(client, figures=False)[late.pid]["rss_bytes"] > 0
    # Those inside are served, figures of /proc included, and the loop does not spin meanwhile.
    before = cpu_ticks(qad.pid)
    began = time.monotonic()
    while time.monotonic() - began < 1.5:
        assert client.call("stats", pid=target.pid)["rss_bytes"] > 0
        inside[0].is_closed(timeout=0.1)
    assert cpu_ticks(qad.pid) - before < 50
    assert not any(one.has_bytes() for one in outside)

    inside.pop().close()
    assert outside[0].answer_to(numbers[0])["protocol"] == 1
    resource.prlimit(qad.pid, resource.RLIMIT_NOFILE, (hard, hard))
    for one, number in zip(outside[1:], numbers[1:]):
        assert one.answer_to(number)["protocol"] == 1
    wait_until(lambda: "accepted again" in qad.log(), what="the recovery to be told")
    assert qad.log().count("no connection can be accepted") == 1


def test_a_shortage_is_told_also_when_many_faults_were(qad, client):
    for _ in range(30):
        one = wire.connect(qad.socket_path)
        one.send_bytes(b"\xc1")
        assert one.is_closed()
    assert qad.log().count("dropped peer") == 20  # and the others are left out
    used = len(os.listdir(f"/proc/{qad.pid}/fd"))
    hard = resource.prlimit(qad.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(qad.pid, resource.RLIMIT_NOFILE, (used + 2, hard))
    some = [wire.connect(qad.socket_path) for _ in range(5)]
    wait_until(lambda: "no connection can be accepted" in qad.log(), what="the shortage to be told")
    resource.prlimit(qad.pid, resource.RLIMIT_NOFILE, (hard, hard))
    wait_until(lambda: "accepted again" in qad.log(), what="the recovery to be told")
    for one in some:
        assert one.call("hello", protocol=1, role="client")["protocol"] == 1


def test_the_soft_limit_of_descriptors_is_raised(qad_factory):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard // 2, hard))
    try:
        qad = qad_factory().start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_until(lambda: resource.prlimit(qad.pid, resource.RLIMIT_NOFILE) == (hard, hard), what="the limit to be raised")
    qad.stop()


def test_faults_in_a_flood_do_not_flood_the_log(qad, client):
    for _ in range(200):
        bad = wire.connect(qad.socket_path)
        bad.send_bytes(b"\xc1")
        assert bad.is_closed()
    assert 1 <= qad.log().count("dropped") <= 60
    assert client.call("ps") == {"targets": []}


def test_an_idle_qad_sleeps(qad_factory, fake_of):
    qad = qad_factory().start("--limit", "hello_ms=2000")
    client = wire.client(qad.socket_path)
    wait_for_target(client, fake_of(qad, kind=wire.ServingTarget).pid)
    status = pathlib.Path(f"/proc/{qad.pid}/status")

    def switches():
        return [line for line in status.read_text().splitlines() if "ctxt_switches" in line]

    assert wire.connect(qad.socket_path).is_closed()  # nothing of this is left when its time is over
    client.call("ps")
    wait_until(lambda: "State:\tS" in status.read_text(), what="qad to sleep")
    before = switches()
    assert client.is_closed(timeout=3.0) is False  # three seconds in which nobody asks
    assert switches() == before
