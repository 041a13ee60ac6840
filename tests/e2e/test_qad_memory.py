"""Without memory: what fails is the request or the connection at hand, never the real qad."""

import contextlib
import os

import pytest

import wire
from harness import BUILD, wait_until

# Another malloc can not be put under a sanitizer's.
pytestmark = pytest.mark.plain_only


def descriptors(qad):
    return len(os.listdir(f"/proc/{qad.pid}/fd"))


def one_round(path, index):
    """A bit of everything. Each step may fail, by an error or by the end of its connection, but not hang."""
    with contextlib.suppress(wire.RemoteError, wire.Closed, BrokenPipeError):
        client = wire.client(path)
        for method in ("ps", "stats", "trim"):
            targets = client.call("ps", figures=False)["targets"]
            with contextlib.suppress(wire.RemoteError):
                client.call(method, pid=targets[index % len(targets)]["pid"] if targets else 1)
        half = wire.connect(path)
        half.send_bytes(b"\x94\x00\x01")  # a part that has to be kept
        half.close()
        client.close()


@pytest.mark.parametrize("every", [2, 3, 5, 11])
def test_a_failed_allocation_costs_a_request_or_a_connection(qad_factory, socket_dir, socket_path, every):
    armed = socket_dir / "armed"
    qad = qad_factory().start(LD_PRELOAD=BUILD / "tests" / "e2e" / "libfail_malloc.so", FAIL_MALLOC=armed,
                              FAIL_EVERY=every)
    root = wire.client(socket_path)
    before = descriptors(qad)
    armed.touch()
    targets = [wire.Child(socket_path, run=lambda connection: wire.serve(connection)) for _ in range(20)]
    try:
        for index in range(100):
            one_round(socket_path, index)
        armed.unlink()
        if not root.is_closed(timeout=0.1):
            root.close()
        survivor = wire.ServingTarget(socket_path)
        targets.append(survivor)
        client = wire.client(socket_path)
        wait_until(lambda: survivor.pid in {one["pid"] for one in client.call("ps")["targets"]}, what="it to serve")
        assert client.call("stats", pid=survivor.pid)["used_bytes"] > 0
        assert client.call("trim", pid=survivor.pid)["returned_bytes"] > 0
        client.close()
    finally:
        for target in targets:
            target.end()
    assert "out of memory" in qad.log()
    wait_until(lambda: descriptors(qad) < before, what="all descriptors to be closed")
    qad.stop()
