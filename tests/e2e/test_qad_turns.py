"""Who sends faster than qad can handle keeps nobody else waiting."""

import os
import signal
import socket

import msgpack
import pytest

import wire
from harness import stop_process, wait_until
from programs import targets_of

COUNT = 16_384


def flood_and_ask(qad, flooder, client, frame):
    """The answer to a request that came right after COUNT frames of the flooder, and after all of them were there."""
    stop_process(qad.pid)
    flooder.send_bytes(msgpack.packb(frame) * COUNT)
    number = client.ask("health")
    os.kill(qad.pid, signal.SIGCONT)
    return client.answer_to(number)


def test_answers_to_no_question_do_not_hold_up_the_others(qad, client, fake):
    flooder = fake()
    large = wire.frame_of_size(30_000, lambda pad: [1, 7, None, {"pad": pad}])
    flooder.connection.send_bytes(large[:1_000])  # so that qad has waited for 29,000 bytes more
    assert client.call("health")["stray_answers"] == 0
    flooder.connection.send_bytes(large[1_000:])
    wait_until(lambda: client.call("health")["stray_answers"] == 1, what="the large frame")
    health = flood_and_ask(qad, flooder.connection, client, [1, 7, None, {}])
    assert health["stray_answers"] < COUNT / 2
    wait_until(lambda: client.call("health")["stray_answers"] == COUNT + 1, what="all of them to be handled")


def test_what_was_left_for_later_is_handled_in_order_and_whole(qad, client):
    """Requests, each with an answer of its own, cut anywhere by the pieces in which they are read."""
    asker = wire.client(qad.socket_path)
    ids = range(10, 10 + 3_000)
    requests = b"".join(msgpack.packb([0, number, "no such method", {"pad": "x" * (number % 97)}]) for number in ids)
    stop_process(qad.pid)
    asker.socket.settimeout(0.01)
    sent = asker.socket.send(requests)
    os.kill(qad.pid, signal.SIGCONT)
    asker.socket.settimeout(wire.DEADLINE)
    asker.send_bytes(requests[sent:])
    for number in ids:
        kind, answered, error, _ = asker.receive()
        assert (kind, answered, error["code"]) == (1, number, "unknown_method")


@pytest.mark.parametrize("ending", ["close", "garbage"])
def test_one_that_goes_while_it_rests_disturbs_nobody(qad, client, fake, ending):
    flooder = fake()
    data = msgpack.packb([1, 7, None, {}]) * COUNT
    flooder.connection.send_bytes(data + (b"\xc1" if ending == "garbage" else b""))
    if ending == "close":
        flooder.end()
    wait_until(lambda: not targets_of(client), what="it to be gone")  # asked meanwhile, which may end it before its time


def test_requests_over_http_do_not_hold_up_the_others(served):
    """Many requests of many connections are there at once; the answers fit the sockets, so nothing makes qad wait."""
    qad = served()
    connections, requests = 8, 500
    readers = [socket.create_connection(qad.http, timeout=wire.DEADLINE) for _ in range(connections)]
    wait_until(lambda: qad.client.call("health")["http_connections"] == connections, what="all to be there")
    stop_process(qad.pid)
    for reader in readers:
        reader.sendall(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n" * requests)
    first = qad.client.ask("health")
    os.kill(qad.pid, signal.SIGCONT)
    qad.client.answer_to(first)
    assert qad.client.call("health")["http_requests"] < connections * requests / 2
    for reader in readers:
        answers = b""
        while answers.count(b"HTTP/1.1 404 ") < requests:
            data = reader.recv(1 << 20)
            assert data
            answers += data
        reader.close()
