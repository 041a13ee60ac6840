"""What docs/PROTOCOL.md says of hello, requests and frames, asked of the real qad by hand."""

import os
import struct

import msgpack
import pytest

import wire
from harness import wait_until
from programs import targets_of

U32 = struct.pack(">I", 0xFFFFFFFF)


# hello


def test_hello_tells_who_the_kernel_says_you_are(qad):
    connection = wire.connect(qad.socket_path)
    result = connection.call("hello", protocol=1, role="client")
    assert result == {"protocol": 1, "version": result["version"], "pid": os.getpid(), "stats_ms": 2_000, "trim_ms": 30_000}
    assert result["version"][0].isdigit()


def test_another_version_is_refused_and_the_connection_ends(qad):
    connection = wire.connect(qad.socket_path)
    assert connection.error_of("hello", protocol=2, role="client") == "version"
    assert connection.is_closed()


@pytest.mark.parametrize("params", [{}, {"protocol": 1}, {"role": "client"}, {"protocol": "1", "role": "client"},
                                    {"protocol": 1, "role": 7}, {"protocol": 1, "role": "king"},
                                    {"protocol": 1, "role": "target", "name": 5},
                                    {"protocol": 1, "role": "target", "pid": -5}])
def test_a_wrong_hello_is_told_why_and_the_connection_ends(qad, params):
    connection = wire.connect(qad.socket_path)
    assert connection.error_of("hello", params) == "bad_request"
    assert connection.is_closed()


@pytest.mark.parametrize("frame", [[0, 1, "ps", {}], [0, 1, b"hello", {"protocol": 1, "role": "client"}],
                                   [0, 1, b"nvim_set_client_info", ["x", {}, "remote", {}, {}]]])
def test_a_request_before_hello_is_an_error_and_no_more(qad, frame):
    connection = wire.connect(qad.socket_path)
    connection.send(frame)
    answer = connection.receive()
    assert answer[:2] == [1, 1] and answer[2]["code"] == "bad_request" and answer[3] is None
    assert connection.call("hello", protocol=1, role="client")["protocol"] == 1


def test_a_second_hello_is_an_error_and_no_more(client):
    assert client.error_of("hello", protocol=1, role="client") == "bad_request"
    assert client.call("ps") == {"targets": []}


def test_frames_may_come_in_one_piece_or_byte_by_byte(qad):
    frames = (msgpack.packb([0, 1, "hello", {"protocol": 1, "role": "client"}]) + msgpack.packb([0, 2, "ps", {}])
              + msgpack.packb([0, 3, "ps", {}]))
    at_once, in_bytes = wire.connect(qad.socket_path), wire.connect(qad.socket_path)
    at_once.send_bytes(frames)
    for index in range(len(frames)):
        in_bytes.send_bytes(frames[index:index + 1])
    for connection in (at_once, in_bytes):
        assert [connection.receive()[:3] for _ in range(3)] == [[1, 1, None], [1, 2, None], [1, 3, None]]


# requests


def test_an_unknown_method_is_an_error_and_the_connection_goes_on(client):
    assert client.error_of("reboot") == "unknown_method"
    assert client.error_of("x" * 200) == "unknown_method"
    assert client.call("ps") == {"targets": []}


def test_a_binary_method_name_is_a_bad_request(client):
    client.send([0, 9, b"ps", {}])
    assert client.receive()[2]["code"] == "bad_request"
    assert client.call("ps") == {"targets": []}


@pytest.mark.parametrize("params", [{}, [], [{}]])
def test_params_may_be_a_map_or_an_array_of_it(client, params):
    client.send([0, 9, "ps", params])
    assert client.receive() == [1, 9, None, {"targets": []}]


@pytest.mark.parametrize("params", [[1, 2], [5], "pid", 7, None])
def test_other_params_are_a_bad_request(client, params):
    for method in ("stats", "ps", "watch", "health"):
        client.send([0, 9, method, params])
        assert client.receive()[2]["code"] == "bad_request", method


@pytest.mark.parametrize("method, params", [("stats", {}), ("stats", {"pid": "1"}), ("stats", {"pid": -1}),
                                            ("stats", {"pid": 1, "all_classes": 1}), ("ps", {"figures": "yes"}),
                                            ("trim", {}), ("trim", {"pid": None})])
def test_a_missing_or_mistyped_key_is_named(client, method, params):
    with pytest.raises(wire.RemoteError) as error:
        client.call(method, params)
    assert error.value.code == "bad_request"
    assert any(key in error.value.map["message"] for key in ("pid", "all_classes", "figures"))


def test_unknown_keys_are_ignored(client):
    assert client.call("ps", colour="green", nested={"a": [1, {"b": 2}]}) == {"targets": []}


def test_notifications_and_responses_of_a_client_mean_nothing(client):
    client.send([2, "ps", {}])
    client.send([2, "stop", {}])
    client.send([1, 7, None, {}])
    assert client.call("ps") == {"targets": []}


@pytest.mark.parametrize("pid", [0, 1, 2**22 + 1, 2**31, 2**32 + 1, 2**64 - 1])
def test_no_such_target(client, pid):
    assert client.error_of("stats", pid=pid) == "no_target"
    assert client.error_of("trim", pid=pid) == "no_target"


# garbage


@pytest.mark.parametrize("data", [
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="http"),
    pytest.param(b"\xc1", id="never used byte"),
    pytest.param(b"\x00", id="not an array"),
    pytest.param(b"\xdd" + U32, id="array of 4 billion"),
    pytest.param(b"\xdf" + U32, id="map of 4 billion"),
    pytest.param(b"\x94\x00\x01\xa2ps\xdf" + U32, id="params of 4 billion"),
    pytest.param(b"\x94\x00\x01\xa2ps\xdb" + U32, id="string of 4 GiB"),
    pytest.param(b"\x92\x00\x01", id="two elements"),
    pytest.param(b"\x94" + b"\x91" * 20, id="too deep"),
    pytest.param(b"\x94\x00\x01\xa2ps\xdc\x10\x01", id="array of 4097"),
    pytest.param(b"\x94\x00\x01\xa2ps\xde\x01\x01", id="map of 257"),
    pytest.param(b"\x94\x00\x01\xa2ps\x81\xa1k\xda\x10\x01", id="string of 4097"),
    pytest.param(msgpack.packb([5, 1, "ps", {}]), id="unknown kind"),
    pytest.param(msgpack.packb([0, -1, "ps", {}]), id="negative id"),
    pytest.param(msgpack.packb([0, 2**32, "ps", {}]), id="id too large"),
    pytest.param(msgpack.packb([0, "one", "ps", {}]), id="id is text"),
    pytest.param(msgpack.packb([1, 1, None, None]), id="neither error nor result"),
])
@pytest.mark.parametrize("role", [None, "client", "target"])
def test_garbage_ends_that_connection_and_no_other(qad, client, role, data):
    bad = wire.connect(qad.socket_path)
    if role:
        bad.call("hello", protocol=1, role=role)
    bad.send_bytes(data)
    assert bad.is_closed()
    wait_until(lambda: client.call("ps", figures=False) == {"targets": []}, what="the bad one to be gone")


def test_half_a_frame_holds_nobody_up(qad, client, fake):
    target = fake()
    halves = [wire.client(qad.socket_path) for _ in range(10)]
    frame = msgpack.packb([0, 1, "ps", {"figures": False}])
    for one in halves:
        one.send_bytes(frame[:5])
    assert target.pid in targets_of(client, figures=False)
    for one in halves:
        one.send_bytes(frame[5:])
        assert one.receive()[2] is None


def test_a_large_frame_of_a_target_may_come_in_pieces(client, fake):
    target = fake()
    number = client.ask("stats", pid=target.pid)
    rows = [wire.row_of(size) for size in range(1, 3001)]
    frame = msgpack.packb([1, target.question()[0], None, {**wire.totals_of(), "classes": rows}])
    assert 512 << 10 < len(frame) < 1 << 20
    for start in range(0, len(frame), 10_007):
        target.connection.send_bytes(frame[start:start + 10_007])
    assert client.answer_to(number)["classes"] == rows
