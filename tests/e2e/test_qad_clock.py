"""The wall clock jumps by a day, to and fro: deadlines, watches and the ages of history are none of its."""

import struct
import time

import pytest

import wire
from harness import BUILD, wait_until
from programs import wait_for_target

pytestmark = pytest.mark.plain_only  # a sanitizer's library wants to be the first one

DAY_S = 86_400


class Clock:
    def __init__(self, path):
        self.path = path
        self.jump_to(0)

    def jump_to(self, offset_s):
        """qad has the file mapped: it is written in place."""
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("q", offset_s))


@pytest.fixture
def clock(socket_dir):
    return Clock(socket_dir / "clock")


@pytest.fixture
def jumpy(qad_factory, clock):
    """A qad whose wall clock the test moves, and a client of it."""
    qad = qad_factory().start("--history", LD_PRELOAD=BUILD / "tests" / "e2e" / "libclock_jump.so", CLOCK_JUMP=clock.path)
    client = wire.client(qad.socket_path)
    yield qad, client
    client.close()
    qad.stop()


@pytest.mark.parametrize("offset_s", [DAY_S, -DAY_S])
def test_deadlines_stay_what_they_were(jumpy, clock, offset_s):
    qad, client = jumpy
    target = wire.FakeTarget(qad.socket_path)
    try:
        mute = wire.connect(qad.socket_path)
        number = client.ask("stats", pid=target.pid)
        target.question()
        clock.jump_to(offset_s)
        other = wire.client(qad.socket_path)
        for _ in range(3):
            assert other.call("health")["pid"] == qad.pid
        assert not client.has_bytes(), "no deadline has passed"
        assert mute.call("hello", protocol=1, role="client")["protocol"] == 1
        with pytest.raises(wire.RemoteError) as error:
            client.answer_to(number)
        assert error.value.code == "timeout", "and the deadline comes all the same"
        assert other.call("health")["uptime_s"] < DAY_S // 2
    finally:
        target.end()


def test_watches_and_history_go_on(jumpy, clock):
    qad, client = jumpy
    target = wire.ServingTarget(qad.socket_path)
    try:
        wait_for_target(client, target.pid)
        before = wait_until(lambda: (seen := client.call("history", pid=target.pid))["points"] > 0 and seen, what="a point")
        watcher = wire.client(qad.socket_path)
        watcher.call("watch", pid=target.pid, interval_ms=100)
        for offset_s in (DAY_S, -DAY_S, 0):
            clock.jump_to(offset_s)
            for _ in range(3):
                _, method, figures = watcher.receive()
                assert method == "figures" and figures["targets"][0].get("age_ms", 0) < 60_000
            seen = client.call("history", pid=target.pid)
            assert 0 < seen["points"] < 120 and seen["first_age_s"] < 120, "ages are those of a clock that never jumps"
            moved_s = seen["first_time_s"] - before["first_time_s"]
            assert abs(moved_s - offset_s) < 120, "the time of day is that of the wall clock now"
        for offset_s in (DAY_S, -DAY_S):
            clock.jump_to(offset_s)
            points = client.call("history", pid=target.pid)["points"]
            wait_until(lambda: client.call("history", pid=target.pid)["points"] > points, what="another point")
        clock.jump_to(-int(time.time()))  # a clock that was never set: what is older than it has no time, and none of the far future
        assert client.call("history", pid=target.pid)["first_time_s"] < 120
    finally:
        target.end()
