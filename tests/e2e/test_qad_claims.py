"""What a target answers and says of itself may be wrong: qad takes no harm, and nobody else does."""

import os
import signal
import socket

import msgpack
import pytest

import wire
from harness import wait_until
from programs import targets_of, wait_for_target


# answers


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


# connections of one process


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


class TwiceConnected:
    """A process that connected twice; the test has both connections, also when it is dead."""

    def __init__(self, path):
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for _ in range(2):
                    with socket.socket(socket.AF_UNIX) as one:
                        one.connect(str(path))
                        socket.send_fds(theirs, [b"x"], [one.fileno()])
                while True:
                    signal.pause()
            finally:
                os._exit(1)
        theirs.close()
        with ours:
            self.connections = [wire.Connection(socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])) for _ in range(2)]

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def test_no_connection_of_a_dead_process_comes_to_the_front(qad, client):
    twice = TwiceConnected(qad.socket_path)
    for connection in twice.connections:
        connection.call("hello", protocol=1, role="target")
    twice.kill()
    assert client.call("ps", figures=False) == {"targets": []}  # the one in front leaves
    wait_until(lambda: client.call("health")["targets"] == 0, what="the one behind it to leave, too")
    assert all(connection.is_closed() for connection in twice.connections)


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

    def tells(connection, used):
        """Answers for it; whether that is what the watch tells now."""
        if connection.has_bytes():
            _, asked, _, params = connection.receive()
            connection.send([1, asked, None, wire.stats_of(params, used=used)])
        if not client.has_bytes():
            return False
        _, method, params = client.receive()
        assert method == "figures", params
        return any(target.get("used_bytes") == used for target in params["targets"])

    wait_until(lambda: tells(second, 2), what="the figures of the second one")
    second.close()
    wait_until(lambda: tells(first, 1), what="the figures of the first one")
    first.close()
    while (notification := client.receive())[1] == "figures":
        pass
    assert notification[1] == "unwatched" and notification[2]["code"] == "gone"


# who it says it is


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
