"""What docs/PROTOCOL.md says, asked of the real qad by a client and targets made by hand."""

import os
import struct

import msgpack
import pytest

import wire
from conftest import targets_of, wait_for_target, wait_until

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


# ps, stats, trim


def test_ps_shows_who_a_target_is_by_the_kernel_and_what_it_says_of_itself(client, fake):
    target = fake(name="document", pid=7)
    shown = targets_of(client, figures=False)[target.pid]
    assert shown["pid"] == target.hello["pid"] == target.pid
    assert shown["uid"] == os.getuid()
    assert shown["name"] == "document"
    assert shown["inner_pid"] == 7
    assert shown["version"] == "0.1.0"
    assert shown["exe"] == os.readlink(f"/proc/{target.pid}/exe")
    assert shown["command"] == open(f"/proc/{target.pid}/comm").read().strip()
    assert shown["silent"] is False
    assert shown["rss_bytes"] > 1 << 20
    assert 0 <= shown["uptime_s"] < 60
    assert isinstance(shown["cgroup"], str)
    assert "held_bytes" not in shown


def test_a_target_is_asked_only_when_somebody_looks(client, fake):
    target = fake()
    for _ in range(3):
        assert target.pid in targets_of(client, figures=False)
    assert client.error_of("reboot") == "unknown_method"
    assert not target.connection.has_bytes()

    number = client.ask("ps")
    params = target.answer_stats(used=4_096)
    assert params == {"classes": False, "all_classes": False}
    shown = client.answer_to(number)["targets"][0]
    assert shown["used_bytes"] == 4_096 and shown["age_ms"] == 0
    assert {key: shown[key] for key in wire.totals_of(used=4_096)} == wire.totals_of(used=4_096)
    assert not target.connection.has_bytes()


@pytest.mark.parametrize("all_classes", [False, True])
def test_stats_passes_on_the_figures_of_the_target(client, fake, all_classes):
    target = fake()
    number = client.ask("stats", pid=target.pid, all_classes=all_classes)
    asked, method, params = target.question()
    assert (method, params) == ("stats", {"classes": True, "all_classes": all_classes})
    rows = [wire.row_of(24, used=7), wire.row_of(100, name="pool \u00e9"), wire.row_of(0, pages=0, used=2**49)]
    target.answer(asked, {**wire.totals_of(used=2**50 - 100_000), "classes": rows, "future": [1, 2]})
    result = client.answer_to(number)
    assert result["classes"] == rows
    assert result["used_bytes"] == 2**50 - 100_000
    assert (result["pid"], result["age_ms"], result["silent"]) == (target.pid, 0, False)


def test_trim_adds_the_resident_memory_that_qad_sees(client, fake):
    target = fake(name="x")
    number = client.ask("trim", pid=target.pid)
    asked, method, params = target.question()
    assert (method, params) == ("trim", {})
    target.answer(asked, wire.trim_of())
    result = client.answer_to(number)
    assert {key: result[key] for key in wire.trim_of()} == wire.trim_of()
    assert (result["pid"], result["name"]) == (target.pid, "x")
    assert result["rss_before_bytes"] > 1 << 20 and result["rss_after_bytes"] > 1 << 20


@pytest.mark.parametrize("result", [{}, {"held_bytes": 1}, {**wire.totals_of()}, {**wire.totals_of(), "classes": 5},
                                    {**wire.totals_of(), "classes": [5]}, {**wire.totals_of(), "classes": [{}]},
                                    {**wire.totals_of(), "used_bytes": -1, "classes": []}, [1, 2], 7,
                                    {**wire.totals_of(), "used_bytes": 1.0, "classes": []},
                                    {**wire.totals_of(), "allocs": "2", "classes": []}])
def test_an_answer_that_makes_no_sense_is_failed_and_the_target_stays(client, fake, result):
    target = fake()
    number = client.ask("stats", pid=target.pid)
    target.answer(target.question()[0], result)
    with pytest.raises(wire.RemoteError) as error:
        client.answer_to(number)
    assert error.value.code == "failed"
    number = client.ask("stats", pid=target.pid)
    target.answer_stats(used=5)
    assert client.answer_to(number)["used_bytes"] == 5


def broken(figures, **changed):
    return {**figures, **{key: figures[key] + more for key, more in changed.items()}}


@pytest.mark.parametrize("changed", [{"held_bytes": 1}, {"held_bytes": -1}, {"used_bytes": 1}, {"cached_bytes": 1},
                                     *({part: 1} for part in wire.PARTS), {"cached_bytes": 1, "held_bytes": 1},
                                     # sums that are right in 64 bits only because they overflow
                                     {"thread_bytes": 2**63, "partial_bytes": 2**63},
                                     {"used_bytes": 2**64 - 100_000, "held_bytes": 2**64 - 100_000},
                                     {"used_bytes": 2**64 - 92_072, "held_bytes": -92_072},
                                     {"used_bytes": 2**50, "held_bytes": 2**50}])
@pytest.mark.parametrize("where", ["totals", "row"])
def test_figures_that_do_not_add_up_or_that_no_process_can_have_are_no_answer(client, fake, where, changed):
    target = fake()
    totals, row = wire.totals_of(), wire.row_of()
    if where == "totals":
        totals = broken(totals, **changed)
    else:
        row = broken(row, **changed)
    assert error_of_answer(client, target, "stats", {**totals, "classes": [wire.row_of(100), row]}) == "failed"
    number = client.ask("ps")
    target.answer(target.question()[0], totals)
    assert ("held_bytes" in client.answer_to(number)["targets"][0]) == (where == "row")


@pytest.mark.parametrize("changed", [{"returned_bytes": 2**50}, {"held_before_bytes": 2**51}, {"held_after_bytes": 2**51},
                                     {"cached_before_bytes": 150_000}, {"cached_after_bytes": 150_000}])
def test_a_trim_that_can_not_have_been_is_no_answer_and_counts_nowhere(client, fake, changed):
    target = fake()
    assert error_of_answer(client, target, "trim", broken(wire.trim_of(), **changed)) == "failed"
    health = client.call("health")
    assert (health["trims"], health["trim_bytes"]) == (0, 0)


def error_of_answer(client, target, method, result):
    number = client.ask(method, pid=target.pid)
    target.answer(target.question()[0], result)
    with pytest.raises(wire.RemoteError) as error:
        client.answer_to(number)
    return error.value.code


def added_up(*rows):
    numbers = {key: sum(row[key] for row in rows) for key in rows[0] if key not in ("block_size", "name")}
    return {**rows[0], **numbers}


def test_rows_of_the_same_class_or_pool_are_added_up(client, fake):
    target = fake()
    first, again, third = wire.row_of(24, used=48), wire.row_of(24, used=2_400, pages=9), wire.row_of(24, thread=7)
    pool, other = wire.row_of(24, name="a pool"), wire.row_of(32, name="a pool")
    number = client.ask("stats", pid=target.pid)
    target.answer(target.question()[0], {**wire.totals_of(), "classes": [first, pool, again, other, third, pool]})
    assert client.answer_to(number)["classes"] == [added_up(first, again, third), added_up(pool, pool), other]
    wait_until(lambda: target.pid in targets_of(client, figures=False), what="it to be there still")


def test_pools_whose_names_become_the_same_are_added_up(client, fake):
    target = fake()
    number = client.ask("stats", pid=target.pid)
    answer = msgpack.packb([1, target.question()[0], None,
                            {**wire.totals_of(), "classes": [wire.row_of(name="x1y"), wire.row_of(name="x2y")]}])
    target.connection.send_bytes(answer.replace(b"x1y", b"x\xfey").replace(b"x2y", b"x\xffy"))
    assert client.answer_to(number)["classes"] == [added_up(wire.row_of(name="x\ufffdy"), wire.row_of(name="x\ufffdy"))]


def test_an_error_of_the_target_is_failed(client, fake):
    target = fake()
    for method in ("stats", "trim"):
        number = client.ask(method, pid=target.pid)
        target.connection.send([1, target.question()[0], {"code": "x", "message": "no"}, None])
        with pytest.raises(wire.RemoteError) as error:
            client.answer_to(number)
        assert error.value.code == "failed"


def test_answers_to_no_question_are_ignored(client, fake):
    target = fake()
    for number in (0, 1, 77, 2**32 - 1):
        target.answer(number, wire.stats_of({"classes": True}, used=666))
    number = client.ask("stats", pid=target.pid)
    asked, _, params = target.question()
    target.answer(asked + 1, wire.stats_of(params, used=666))
    target.answer(asked, wire.stats_of(params, used=5))
    target.answer(asked, wire.stats_of(params, used=666))
    assert client.answer_to(number)["used_bytes"] == 5
    number = client.ask("ps")
    target.answer_stats(used=6)
    assert client.answer_to(number)["targets"][0]["used_bytes"] == 6


def test_a_target_may_not_ask(client, fake):
    target = fake()
    target.connection.send([0, 5, "ps", {}])
    target.connection.send([2, "note", {}])
    assert target.connection.receive()[2]["code"] == "unknown_method"
    assert target.pid in targets_of(client, figures=False)


def test_many_who_ask_meanwhile_share_one_further_question(qad, fake):
    target = fake()
    clients = [wire.client(qad.socket_path) for _ in range(5)]
    first = clients[0].ask("stats", pid=target.pid)
    asked, _, params = target.question()
    later = [one.ask("stats", pid=target.pid) for one in clients[1:]]
    for one in clients[1:]:  # qad has read those questions when it answers what came after them
        with pytest.raises(wire.RemoteError):
            one.answer_to(one.ask("reboot"))
    assert not target.connection.has_bytes()
    target.answer(asked, wire.stats_of(params, used=1))
    assert clients[0].answer_to(first)["used_bytes"] == 1
    # Those who asked after that question went out must not get figures that are older than their wish.
    target.answer_stats(used=2)
    assert [one.answer_to(number)["used_bytes"] for one, number in zip(clients[1:], later)] == [2] * 4
    assert not target.connection.has_bytes()


def test_different_questions_are_asked_side_by_side(qad, client, fake):
    target = fake()
    numbers = {client.ask("trim", pid=target.pid): "trim", client.ask("stats", pid=target.pid): "stats",
               client.ask("ps"): "ps"}
    for asked, method, params in [target.question() for _ in numbers]:
        target.answer(asked, wire.trim_of() if method == "trim" else wire.stats_of(params))
    answers = [client.receive() for _ in numbers]
    assert {number for _, number, _, _ in answers} == set(numbers)
    assert all(error is None for _, _, error, _ in answers)


def test_two_clients_with_the_same_request_ids_do_not_mix(qad, fake):
    one, other = fake(), fake()
    first, second = wire.client(qad.socket_path), wire.client(qad.socket_path)
    numbers = first.ask("stats", pid=one.pid), second.ask("stats", pid=other.pid)
    assert numbers[0] == numbers[1]
    other.answer_stats(used=2)
    one.answer_stats(used=1)
    assert first.answer_to(numbers[0])["used_bytes"] == 1
    assert second.answer_to(numbers[1])["used_bytes"] == 2


def test_a_client_that_leaves_before_its_answer_disturbs_nobody(qad, client, fake):
    target = fake()
    for method in ("stats", "trim", "ps"):
        leaver = wire.client(qad.socket_path)
        leaver.ask(method, pid=target.pid)
        asked, _, params = target.question()
        leaver.close()
        target.answer(asked, wire.trim_of() if method == "trim" else wire.stats_of(params))
    number = client.ask("stats", pid=target.pid)
    target.answer_stats(used=3)
    assert client.answer_to(number)["used_bytes"] == 3


# what a target claims


def connect_as_target(qad, **hello):
    connection = wire.connect(qad.socket_path)
    connection.call("hello", protocol=1, role="target", **hello)
    return connection


def shown_name(client):
    return targets_of(client, figures=False).get(os.getpid(), {}).get("name")


def test_of_a_process_the_newest_connection_is_the_target_and_the_others_wait_behind_it(qad, client):
    first, second, third = [connect_as_target(qad, name=name) for name in ("first", "second", "third")]
    assert shown_name(client) == "third" and client.call("health")["targets"] == 1
    number = client.ask("stats", pid=os.getpid())
    _, asked, _, params = third.receive()
    third.send([1, asked, None, wire.stats_of(params, used=3)])
    assert client.answer_to(number)["used_bytes"] == 3
    second.close()
    assert shown_name(client) == "third"
    third.close()
    wait_until(lambda: shown_name(client) == "first", what="the first one to be back")
    assert not first.has_bytes()  # never thrown out, never asked meanwhile
    number = client.ask("stats", pid=os.getpid())
    _, asked, _, params = first.receive()
    first.send([1, asked, None, wire.stats_of(params, used=1)])
    assert client.answer_to(number)["used_bytes"] == 1
    first.close()
    wait_until(lambda: not targets_of(client, figures=False), what="it to be gone")


def test_a_question_to_who_is_no_longer_in_front_is_answered(qad, client):
    first = connect_as_target(qad)
    number = client.ask("stats", pid=os.getpid())
    _, asked, _, params = first.receive()
    second = connect_as_target(qad, name="second")
    assert shown_name(client) == "second"
    first.send([1, asked, None, wire.stats_of(params, used=1)])
    assert client.answer_to(number)["used_bytes"] == 1
    assert not second.has_bytes()


def test_a_watch_goes_on_with_the_connection_that_is_in_front(qad, client):
    first = connect_as_target(qad)
    client.call("watch", pid=os.getpid(), interval_ms=100)
    second = connect_as_target(qad)

    def used_of(connection, used):
        """Answers for it until that is what the watch tells."""
        while True:
            if connection.has_bytes():
                _, asked, _, params = connection.receive()
                connection.send([1, asked, None, wire.stats_of(params, used=used)])
            if client.has_bytes():
                _, method, params = client.receive()
                assert method == "figures", params
                if any(target.get("used_bytes") == used for target in params["targets"]):
                    return

    used_of(second, 2)
    second.close()
    used_of(first, 1)
    first.close()
    while (notification := client.receive())[1] == "figures":
        pass
    assert notification[1] == "unwatched" and notification[2]["code"] == "gone"


def test_a_claimed_pid_changes_nothing_for_the_one_who_has_it(client, fake):
    honest = fake(name="honest")
    liar = fake(name="honest", pid=honest.pid)
    shown = targets_of(client, figures=False)
    assert set(shown) == {honest.pid, liar.pid}
    assert shown[liar.pid]["inner_pid"] == honest.pid
    number = client.ask("stats", pid=honest.pid)
    honest.answer_stats(used=1)
    assert client.answer_to(number)["used_bytes"] == 1
    assert not liar.connection.has_bytes()


def test_texts_of_a_target_are_cut_and_made_utf8(qad, client, fake):
    child = fake(kind=wire.Child)
    name = b"\xff\xfe" + b"a" * 100
    child.connection.send_bytes(b"\x94\x00\x01\xa5hello\x83\xa8protocol\x01\xa4role\xa6target\xa4name\xd9"
                                + bytes([len(name)]) + name)
    assert child.connection.receive()[2] is None
    shown = targets_of(client, figures=False)[child.pid]
    assert shown["name"].startswith("\ufffd\ufffdaaa") and len(shown["name"].encode()) <= 64


def test_a_row_name_is_made_utf8(client, fake):
    target = fake()
    number = client.ask("stats", pid=target.pid)
    asked, _, params = target.question()
    answer = msgpack.packb([1, asked, None, {**wire.totals_of(), "classes": [wire.row_of(name="xyz")]}])
    target.connection.send_bytes(answer.replace(b"\xa3xyz", b"\xa3x\xc0z"))
    assert client.answer_to(number)["classes"][0]["name"] == "x\ufffdz"


def test_a_long_command_name_is_not_cut_where_the_kernel_cuts_it(client, fake, socket_dir):
    program = socket_dir / "a-command-with-a-long-name"
    program.symlink_to("/usr/bin/python3")
    child = fake(kind=wire.Child, run=lambda connection: exec_and_hello(program, connection))
    assert wait_for_target(client, child.pid)["command"] == "a-command-with-a-long-name"


def exec_and_hello(program, connection):
    hello = msgpack.packb([0, 1, "hello", {"protocol": 1, "role": "target"}])
    number = connection.socket.fileno()
    os.set_inheritable(number, True)
    code = f"import os, signal; os.write({number}, {hello!r}); signal.pause()"
    os.execv(program, [str(program), "-c", code])


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
