"""Limits, deadlines and faults: whoever breaks them, the others go on being served by the real qad."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import msgpack
import pytest

import wire
from conftest import stop_process, targets_of, wait_for_target, wait_until

HELLO_S, STATS_S, TRIM_S = 2.0, 2.0, 5.0  # that of trim is set, so that nobody need wait for its usual 30 s
KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def qad(qad_factory):
    """As the usual one, but AddressSanitizer does not keep what was freed: some tests look at resident memory."""
    options = [os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=0", "thread_local_quarantine_size_kb=0"]
    qad = qad_factory().start("--limit", f"trim_ms={TRIM_S * 1000:.0f}", ASAN_OPTIONS=":".join(filter(None, options)))
    yield qad
    print(qad.log())  # pytest shows it when the test failed
    qad.stop()


# time


def test_who_says_nothing_is_dropped_and_no_earlier(qad, client):
    silent, half = wire.connect(qad.socket_path), wire.connect(qad.socket_path)
    half.send_bytes(b"\x94\x00\x01\xa5hel")
    began = time.monotonic()
    for connection in (silent, half):
        assert connection.is_closed()
    assert time.monotonic() - began > HELLO_S * 0.9
    assert client.call("ps") == {"targets": []}


def test_a_client_may_be_idle_as_long_as_it_likes(qad, client):
    assert wire.connect(qad.socket_path).is_closed()  # more than the time for hello
    assert client.call("ps") == {"targets": []}


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


# sizes


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
        answer = b""
        while not answer:  # a thousand at once: some may come too late for hello
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(sys.argv[1])
            try:
                connection.sendall(msgpack.packb([0, 1, "hello", {"protocol": 1, "role": "target"}]))
                answer = connection.recv(1000)
            except OSError:
                pass
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


# connections


def resident_kib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() // KIB


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_64_may_wait_before_hello_and_the_next_is_served_after_them(qad, client):
    mute = [wire.connect(qad.socket_path) for _ in range(64)]
    late = wire.connect(qad.socket_path)
    number = late.ask("hello", protocol=1, role="client")
    for _ in range(20):
        assert client.call("ps") == {"targets": []}
    assert not late.has_bytes()  # it waits in the kernel's queue, and those inside are served
    mute[0].close()
    assert late.answer_to(number)["protocol"] == 1
    assert all(one.is_closed() for one in mute[1:])
    assert wire.client(qad.socket_path).call("ps") == {"targets": []}


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


def test_an_idle_qad_sleeps(qad, client, fake):
    wait_for_target(client, fake(kind=wire.ServingTarget).pid)
    status = pathlib.Path(f"/proc/{qad.pid}/status")

    def switches():
        return [line for line in status.read_text().splitlines() if "ctxt_switches" in line]

    assert wire.connect(qad.socket_path).is_closed()  # nothing of this is left when its time is over
    client.call("ps")
    wait_until(lambda: "State:\tS" in status.read_text(), what="qad to sleep")
    before = switches()
    assert client.is_closed(timeout=3.0) is False  # three seconds in which nobody asks
    assert switches() == before
