"""qad under Valgrind: one session with all that it does, good and bad, and no error and no byte lost."""

import re
import subprocess

import pytest

import wire
from harness import BUILD, PATIENT, clean_environment, end_process, is_connectable, wait_until
from programs import wait_for_target

pytestmark = pytest.mark.plain_only  # a sanitizer's build does not run in Valgrind


def answers(client, method, **params):
    try:
        return client.call(method, **params)["pid"] == params["pid"]
    except wire.RemoteError as error:
        assert error.code == "timeout"
        return False


def test_a_session_with_everything_is_clean(socket_path, socket_dir):
    log = socket_dir / "valgrind"
    process = subprocess.Popen(["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=all", "--error-exitcode=99",
                                f"--log-file={log}", BUILD / "qad" / "qad", "--socket", socket_path, "--history",
                                "--limit", "stats_ms=300", *PATIENT], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=clean_environment())
    try:
        wait_until(lambda: process.poll() is not None or is_connectable(socket_path), timeout=120, what="qad to listen")
        good, mute = wire.ServingTarget(socket_path), wire.FakeTarget(socket_path)
        client = wire.client(socket_path)
        wait_for_target(client, good.pid)
        for params in ({"figures": False}, {}):
            assert len(client.call("ps", params)["targets"]) == 2
        wait_until(lambda: answers(client, "stats", pid=good.pid, all_classes=True), what="an answer within 300 ms")
        assert client.error_of("stats", pid=mute.pid) == "timeout"
        assert client.call("trim", pid=good.pid)["pid"] == good.pid
        assert client.call("history", pid=good.pid)["trims"]
        assert client.call("health")["limits"]
        assert client.error_of("what") == "unknown_method"
        watcher = wire.client(socket_path)
        watcher.call("watch", interval_ms=100)
        watcher.call("watch", pid=good.pid, interval_ms=100, classes=True)
        for _ in range(4):
            assert watcher.receive()[1] == "figures"
        for data in (b"\xc1", b"\x94\x00", b"\xdd\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", b""):
            bad = wire.connect(socket_path)
            bad.send_bytes(data)
            bad.close()
        half = wire.connect(socket_path)
        half.send_bytes(b"\x94\x00\x01\xa5hel")
        client.ask("stats", pid=mute.pid)  # all of these are there when qad ends
        good.end()
        socket_path.unlink()
        wait_until(lambda: is_connectable(socket_path), what="qad to listen there again")
        process.terminate()
        code = process.wait(120)
        text = log.read_text()
        assert code == 0 and not re.search(r"definitely lost|Invalid|uninitialised|still reachable", text), text
    finally:
        end_process(process)
        mute.end()
