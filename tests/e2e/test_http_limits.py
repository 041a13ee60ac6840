"""Each limit of HTTP: a reader that runs into it is told or ended, and everybody else goes on being served."""

import os
import pathlib
import resource
import socket
import threading

import pytest

import wire
from harness import wait_until
from http_reader import Reader, get, later, raw, read_all, wait_for_targets

ASK = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


def limits(*settings):
    return [word for setting in settings for word in ("--limit", setting)]


def status_of(data):
    return int(data.split(b" ", 2)[1])


def health(qad):
    return qad.client.call("health")


def test_one_connection_too_many_is_told(served):
    qad = served(*limits("http_connections=2"))
    inside = [Reader(qad.http) for _ in range(2)]
    assert [reader.ask("/metrics").status for reader in inside] == [200, 200]
    with raw(qad.http, ASK) as refused:
        assert status_of(read_all(refused)) == 503  # and closed
    assert inside[0].ask("/metrics").status == 200
    inside[1].close()
    wait_until(lambda: get(qad.http).status == 200, what="room again")


def test_very_many_wait_and_are_served_in_the_end(served):
    qad = served(*limits("http_connections=2", "http_request_ms=300"))
    silent = [raw(qad.http) for _ in range(100)]
    assert health(qad)["http_connections"] <= 18
    wait_until(lambda: health(qad)["http_timeouts"] >= 100, what="those who say nothing to be ended")
    assert all(read_all(one) == b"" for one in silent)
    assert get(qad.http).status == 200 and health(qad)["http_connections"] <= 1


@pytest.mark.parametrize("at", ["header", "path", "query", "library"])
def test_long_headers(served, at):
    qad = served(*limits("http_header_bytes=1024"))
    text = "x" * (1_100 if at != "library" else 100_000)
    path = {"path": "/" + text, "query": "/metrics?" + text}.get(at, "/metrics")
    answer = get(qad.http, path, X_Long=text if at in ("header", "library") else "short")
    assert answer.status == 431 and len(answer.body) < 500
    assert get(qad.http, X_Long="x" * 800).status == 200


def test_memory_for_answers(served, fake_of):
    qad = served(*limits("http_memory_bytes=65536"))
    target = fake_of(qad)
    wait_for_targets(qad, target)
    answer = later(get, qad.http, "/metrics?classes=1")
    number, _, _ = target.question()
    rows = [wire.row_of(block_size=8 * size, name="x" * 64) for size in range(1, 61)]
    target.answer(number, {**wire.totals_of(), "classes": rows})
    assert answer().status == 503 and "http_memory_bytes" in answer().text
    assert get(qad.http).status == 200
    wait_until(lambda: health(qad)["http_memory_bytes"] == 0, what="the memory to come back")


def test_memory_for_all_answers_together(served, fake_of):
    """Each of the two forms fits, both do not: the second is refused as long as the first is kept."""
    qad = served(*limits("http_memory_bytes=65536"))
    rows = [wire.row_of(block_size=8 * size, name="x" * 64) for size in range(1, 26)]
    target = fake_of(qad, wire.ServingTarget, rows=rows)
    wait_for_targets(qad, target)

    def both():
        text = get(qad.http, "/metrics?classes=1")
        assert text.status == 200 and 33_000 < len(text.body) < 65_536
        return get(qad.http, "/metrics?classes=1", Accept="application/openmetrics-text").status

    wait_until(lambda: both() == 503, what="the limit")
    wait_until(lambda: health(qad)["http_memory_bytes"] == 0, what="the memory to come back")
    assert get(qad.http, "/metrics?classes=1", Accept="application/openmetrics-text").status == 200


@pytest.mark.parametrize("data", [b"", b"G", ASK[:-2]], ids=["nothing", "little", "most"])
def test_time_for_a_request(served, data):
    qad = served(*limits("http_request_ms=200"))
    with raw(qad.http, data) as sock:
        assert read_all(sock) == b""
    assert health(qad)["http_timeouts"] == 1
    assert get(qad.http).status == 200


def test_a_request_byte_by_byte_has_no_more_time(served):
    qad = served(*limits("http_request_ms=300"))
    with raw(qad.http) as sock:
        ended = threading.Event()

        def drip():
            for byte in ASK * 1_000:
                try:
                    sock.sendall(bytes([byte | 1 if byte < 32 else byte]))  # no line ever ends
                except OSError:
                    return
                if ended.wait(0.02):
                    return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        assert read_all(sock) == b""
        ended.set()
        thread.join()
    assert health(qad)["http_timeouts"] == 1


def test_time_between_requests(served):
    qad = served(*limits("http_idle_ms=200", "http_request_ms=60000"))
    with raw(qad.http, ASK) as sock:
        data = read_all(sock)
    assert status_of(data) == 200 and health(qad)["http_timeouts"] == 1


def test_a_reader_that_waits_has_other_limits(served, fake_of):
    """The times for a request and between requests do not end an answer that qad itself is making."""
    qad = served(*limits("http_idle_ms=100", "http_request_ms=100"))
    target = fake_of(qad)
    wait_for_targets(qad, target)
    answer = later(get, qad.http)
    number, _, params = target.question()
    with raw(qad.http) as sock:
        assert read_all(sock) == b""  # its 100 ms are over
    target.answer(number, wire.stats_of(params))
    assert answer().status == 200


def test_time_for_an_answer_nobody_reads(served):
    """Answers without end to one who does not read: they fill the kernel's buffers, and there they stop."""
    qad = served(*limits("http_answer_ms=500"))
    with raw(qad.http) as sock:
        sock.settimeout(1)
        try:
            while True:
                sock.sendall(ASK * 100)
        except OSError:  # no more is taken, or it is ended already
            pass
        wait_until(lambda: health(qad)["http_timeouts"] == 1, what="the reader to be ended")
    wait_until(lambda: health(qad)["http_connections"] == 0, what="its connection to go")
    assert get(qad.http).status == 200


def test_time_for_an_answer_that_is_not_made(served, fake_of):
    qad = served(*limits("http_answer_ms=200", "stats_ms=5000"))
    target = fake_of(qad)
    wait_for_targets(qad, target)
    with raw(qad.http, ASK) as sock:
        assert read_all(sock) == b""
    assert health(qad)["http_timeouts"] == 1
    wait_until(lambda: health(qad)["http_connections"] == 0, what="the connection to go")


def test_without_descriptors_qad_goes_on_and_comes_back(served):
    qad = served()
    reader = Reader(qad.http)
    assert reader.ask("/metrics").status == 200
    first = health(qad)["http_connections"]
    open_files = len(os.listdir(f"/proc/{qad.pid}/fd"))
    resource.prlimit(qad.pid, resource.RLIMIT_NOFILE, (open_files, 4_096))
    waiting = raw(qad.http, ASK)
    wait_until(lambda: "can not accept connections of HTTP now" in qad.log(), what="the shortage in the log")
    assert reader.ask("/metrics").status == 200 and health(qad)["http_connections"] == first
    wait_until(lambda: "State:\tS" in pathlib.Path(f"/proc/{qad.pid}/status").read_text(), what="qad to sleep, not to try all the time")
    resource.prlimit(qad.pid, resource.RLIMIT_NOFILE, (4_096, 4_096))
    assert status_of(waiting.recv(1 << 16)) == 200
    assert qad.log().count("can not accept connections of HTTP") == 1
    waiting.close()
    reader.close()


def test_readers_who_do_not_read_are_not_in_the_way(served, fake_of):
    qad = served()
    target = fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, target)
    hogs = [raw(qad.http, ASK * 2_000) for _ in range(20)]
    for _ in range(20):
        assert qad.client.call("stats", pid=target.pid)["used_bytes"] == 24_000
    assert get(qad.http).status == 200
    for hog in hogs:
        hog.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        hog.close()  # with a reset
    wait_until(lambda: health(qad)["http_connections"] == 0, what="the connections to go")
    assert get(qad.http).status == 200
