"""Deadlines and ends in the middle: who is late, stopped or killed does not hold up the others."""

import os
import signal
import time

import pytest

import wire
from harness import stop_process, wait_until
from programs import targets_of, wait_for_target

HELLO_S, STATS_S, TRIM_S = 2.0, 2.0, 5.0  # that of trim is set, so that nobody need wait for its usual 30 s


@pytest.fixture
def qad(qad_factory):
    qad = qad_factory().start("--limit", f"trim_ms={TRIM_S * 1000:.0f}")
    yield qad
    print(qad.log())  # pytest shows it when the test failed
    qad.stop()


@pytest.fixture
def impatient_qad(qad_factory):
    """One with the usual time for hello, which other tests do not have."""
    qad = qad_factory().start("--limit", f"hello_ms={HELLO_S * 1000:.0f}")
    yield qad
    qad.stop()


# hello


def test_who_says_nothing_is_dropped_and_no_earlier(impatient_qad):
    client = wire.client(impatient_qad.socket_path)
    silent, half = wire.connect(impatient_qad.socket_path), wire.connect(impatient_qad.socket_path)
    half.send_bytes(b"\x94\x00\x01\xa5hel")
    began = time.monotonic()
    for connection in (silent, half):
        assert connection.is_closed()
    assert time.monotonic() - began > HELLO_S * 0.9
    assert client.call("ps") == {"targets": []}


@pytest.mark.parametrize("frame", [[2, "hello", {"protocol": 1, "role": "client"}], [1, 1, None, {}], [0, 1, "ps", {}]])
def test_who_does_not_say_hello_is_dropped_whatever_else_it_says(impatient_qad, frame):
    connection = wire.connect(impatient_qad.socket_path)
    connection.send(frame)
    assert connection.is_closed()


def test_a_client_may_be_idle_as_long_as_it_likes(impatient_qad):
    client = wire.client(impatient_qad.socket_path)
    assert wire.connect(impatient_qad.socket_path).is_closed()  # more than the time for hello
    assert client.call("ps") == {"targets": []}


# figures and trims


def test_a_target_that_does_not_answer_is_a_timeout(client, fake):
    target = fake()
    began = time.monotonic()
    with pytest.raises(wire.RemoteError) as error:
        client.call("stats", pid=target.pid)
    assert time.monotonic() - began > STATS_S * 0.9
    assert error.value.code == "timeout"
    assert "last" not in error.value.map


def test_a_timeout_tells_the_last_figures_and_their_age(client, fake):
    target = fake(name="doc")
    number = client.ask("stats", pid=target.pid)
    asked, _, params = target.question()
    rows = [wire.row_of(24, used=11), {**wire.row_of(32), **dict.fromkeys(wire.figures_of(), 0)}]
    target.answer(asked, {**wire.totals_of(used=11), "classes": rows})
    client.answer_to(number)

    with pytest.raises(wire.RemoteError) as error:
        client.call("stats", pid=target.pid)
    assert error.value.code == "timeout"
    last = error.value.map["last"]
    assert (last["pid"], last["name"], last["used_bytes"], last["silent"]) == (target.pid, "doc", 11, True)
    assert last["classes"] == rows[:1]  # classes that hold nothing are not kept
    assert STATS_S * 900 <= last["age_ms"] < 60_000


def test_a_trim_may_take_longer_than_figures_but_not_for_ever(client, fake):
    slow, dead = fake(), fake()
    began = time.monotonic()
    numbers = client.ask("trim", pid=slow.pid), client.ask("trim", pid=dead.pid)
    assert client.error_of("stats", pid=slow.pid) == "timeout"  # so long at least is waited for the trim
    slow.answer(slow.question()[0], wire.trim_of(returned=7))
    assert client.answer_to(numbers[0])["returned_bytes"] == 7
    with pytest.raises(wire.RemoteError) as error:
        client.answer_to(numbers[1], timeout=60)
    assert error.value.code == "timeout"
    assert time.monotonic() - began > TRIM_S * 0.95


def test_ps_waits_for_a_silent_target_only_once(qad, client, fake):
    silent, good = fake(name="silent"), fake(kind=wire.ServingTarget, name="good")
    wait_for_target(client, good.pid)
    first = targets_of(client)
    assert first[silent.pid]["silent"] and "held_bytes" not in first[silent.pid]
    assert not first[good.pid]["silent"] and first[good.pid]["age_ms"] == 0

    asked, _, params = silent.question()
    other = wire.client(qad.socket_path)
    other.ask("stats", pid=silent.pid)
    assert silent.question()[1] == "stats"
    for _ in range(3):
        again = targets_of(client)
        assert again[silent.pid]["silent"] and again[good.pid]["age_ms"] == 0
    # A ps that waits would have its answer only after the one that waited before it.
    assert not other.has_bytes()
    assert not silent.connection.has_bytes()  # the question of the first ps is still the only one of its kind

    silent.answer(asked, wire.stats_of(params, used=9))  # late, but it ends the silence
    shown = wait_until(lambda: (now := targets_of(client, figures=False)) and not now[silent.pid]["silent"] and now,
                       what="the silence to end")
    assert shown[silent.pid]["silent"] is False
    number = client.ask("ps")
    silent.answer_stats(used=10)
    assert {one["pid"]: one for one in client.answer_to(number)["targets"]}[silent.pid]["used_bytes"] == 10


def test_a_late_answer_is_kept_as_the_last_figures(client, fake):
    target = fake()
    assert client.error_of("stats", pid=target.pid) == "timeout"
    asked, _, params = target.question()
    target.answer(asked, wire.stats_of(params, used=77))
    wait_until(lambda: not targets_of(client, figures=False)[target.pid]["silent"], what="the late answer to be taken")
    number = client.ask("stats", pid=target.pid)
    target.question()  # stays without an answer
    with pytest.raises(wire.RemoteError) as error:
        client.answer_to(number)
    assert error.value.map["last"]["used_bytes"] == 77


def test_a_stopped_target_does_not_stop_the_others(qad, fake):
    stopped, good = fake(kind=wire.ServingTarget, parts={"used": 1}), fake(kind=wire.ServingTarget, parts={"used": 2})
    one, other = wire.client(qad.socket_path), wire.client(qad.socket_path)
    for target in (stopped, good):
        wait_for_target(one, target.pid)
    assert one.call("stats", pid=stopped.pid)["used_bytes"] == 1

    stop_process(stopped.pid)
    waiting = one.ask("stats", pid=stopped.pid)
    for _ in range(50):
        assert other.call("stats", pid=good.pid)["used_bytes"] == 2
        assert other.call("trim", pid=good.pid)["returned_bytes"] == 65_536
    assert not one.has_bytes()  # served while the other still waited
    with pytest.raises(wire.RemoteError) as error:
        one.answer_to(waiting)
    assert error.value.code == "timeout" and error.value.map["last"]["used_bytes"] == 1
    shown = targets_of(other)
    assert shown[stopped.pid]["silent"] and shown[stopped.pid]["used_bytes"] == 1 and shown[stopped.pid]["age_ms"] > 0
    assert shown[good.pid]["age_ms"] == 0

    stopped.kill(signal.SIGCONT)
    assert wait_until(lambda: not targets_of(other, figures=False)[stopped.pid]["silent"], what="it to go on")
    assert other.call("stats", pid=stopped.pid)["used_bytes"] == 1


# ends


@pytest.mark.parametrize("method", ["stats", "trim"])
def test_a_target_killed_in_the_middle_of_a_request_is_gone(client, fake, method):
    target = fake(kind=wire.ServingTarget)
    wait_for_target(client, target.pid)
    stop_process(target.pid)
    number = client.ask(method, pid=target.pid)
    target.kill(signal.SIGKILL)
    with pytest.raises(wire.RemoteError) as error:
        client.answer_to(number)
    assert error.value.code == "gone"
    assert client.call("ps") == {"targets": []}


def test_ps_goes_on_without_a_target_that_ends_meanwhile(client, fake):
    ending, staying = fake(), fake()
    number = client.ask("ps")
    ending.question()
    ending.end()
    staying.answer_stats(used=4)
    shown = client.answer_to(number)["targets"]
    assert [(one["pid"], one["used_bytes"]) for one in shown] == [(staying.pid, 4)]


def test_a_dead_process_whose_connection_lives_on_leaves_ps(client, fake):
    target = fake()
    assert target.pid in targets_of(client, figures=False)
    os.kill(target.pid, signal.SIGKILL)
    os.waitpid(target.pid, 0)  # gone for the kernel; this test still holds its socket
    target.pid = 0
    assert targets_of(client, figures=False) == {}
    assert target.connection.is_closed()


@pytest.mark.parametrize("is_reaped", [True, False])
def test_a_dead_process_can_not_become_a_target(client, fake, is_reaped):
    child = fake(kind=wire.Child)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | (0 if is_reaped else os.WNOWAIT))
    if is_reaped:
        child.pid = 0  # its number may be another's soon
    assert child.connection.error_of("hello", protocol=1, role="target") == "failed"
    assert child.connection.is_closed()
    assert targets_of(client, figures=False) == {}
