"""watch, history, trims of parts and of all, health: against the real qad, with targets and clients made by hand."""

import os
import re
import socket
import time

import pytest

import wire
from harness import wait_until

MIB = 1 << 20


def wait_for_target(client, *targets):
    wanted = {target.pid for target in targets}
    wait_until(lambda: wanted <= {row["pid"] for row in client.call("ps", figures=False)["targets"]},
               what="targets in ps")


def next_figures(client, watch, timeout=wire.DEADLINE):
    """The targets of the next notification of that watch, by pid; and its map."""
    while True:
        kind, method, params = client.receive(timeout)
        assert (kind, method) == (wire.NOTIFICATION, "figures"), (kind, method, params)
        if params["watch"] == watch:
            return {target["pid"]: target for target in params["targets"]}, params


# watch


def test_figures_come_again_and_again(client, fake):
    target = fake(name="doc")
    watch = client.call("watch", pid=target.pid, interval_ms=100)
    assert watch["interval_ms"] == 100
    for used in (1_000, 2_000, 3_000):
        assert target.answer_stats(used=used)["classes"] is False
        figures, params = next_figures(client, watch["watch"])
        assert set(figures) == {target.pid} and params["dropped"] == 0 and params["left_out"] == 0
        row = figures[target.pid]
        assert (row["used_bytes"], row["name"], row["silent"]) == (used, "doc", False)
        assert row["held_bytes"] == row["used_bytes"] + row["cached_bytes"] and row["rss_bytes"] > 0
        assert "exe" not in row and "classes" not in row and row["age_ms"] < 90


def test_nobody_is_asked_after_unwatch_or_when_the_client_goes(qad, client, fake):
    target = fake()
    watch = client.call("watch", pid=target.pid, interval_ms=100)["watch"]
    target.answer_stats()
    assert drain_and_unwatch(client, watch)
    assert client.call("health")["watches"] == 0
    other = wire.client(qad.socket_path)
    other.call("watch", pid=target.pid, interval_ms=100)
    other.close()
    wait_until(lambda: client.call("health")["watches"] == 0, what="the watch to end with its client")
    asked = client.call("health")["questions"]
    assert not client.is_closed(timeout=2.0)  # two seconds pass
    assert client.call("health")["questions"] == asked


def drain_and_unwatch(client, watch):
    number = client.ask("unwatch", watch=watch)
    while True:
        frame = client.receive()
        if frame[0] == wire.RESPONSE:
            assert frame[1:3] == [number, None]
            return True


def test_many_clients_share_the_questions_at_the_fastest_interval(qad, client, fake):
    target = fake(kind=wire.ServingTarget)
    wait_for_target(client, target)
    others = [wire.client(qad.socket_path) for _ in range(20)]
    try:
        watches = [(one, one.call("watch", interval_ms=interval)["watch"])
                   for one, interval in zip(others, [200, 400, 1000, 2000] * 5)]
        next_figures(*watches[0])
        before, began, asked = client.call("health")["questions"], time.monotonic(), 0
        while asked < 8:
            next_figures(*watches[0])
            asked = client.call("health")["questions"] - before
        spent = time.monotonic() - began
        assert asked <= spent / 0.2 + 2, (asked, spent)
        for one, watch in watches[1:4]:
            figures, _ = next_figures(one, watch)
            assert figures[target.pid]["used_bytes"] == 24_000
    finally:
        for one in others:
            one.close()


def test_all_includes_who_comes_later_and_forgets_who_goes(client, fake):
    first = fake(kind=wire.ServingTarget)
    wait_for_target(client, first)
    watch = client.call("watch", interval_ms=100)["watch"]
    wait_until(lambda: "used_bytes" in next_figures(client, watch)[0][first.pid])
    second = fake(kind=wire.ServingTarget)
    wait_until(lambda: "used_bytes" in next_figures(client, watch)[0].get(second.pid, {}), what="the second target")
    first.end()
    wait_until(lambda: set(next_figures(client, watch)[0]) == {second.pid}, what="the first to be forgotten")


def test_a_watched_target_that_ends_is_told_and_ends_the_watch(client, fake):
    target = fake(kind=wire.ServingTarget)
    wait_for_target(client, target)
    watch = client.call("watch", pid=target.pid, interval_ms=100)["watch"]
    next_figures(client, watch)
    target.kill()
    while True:
        _, method, params = client.receive()
        if method == "unwatched":
            break
    assert (params["watch"], params["pid"], params["code"]) == (watch, target.pid, "gone") and params["message"]
    assert client.call("health")["watches"] == 0
    assert client.error_of("unwatch", watch=watch) == "no_watch"


def test_a_watch_ends_with_the_program_and_may_begin_with_the_next_one(client, target):
    process = target()
    wait_for_target(client, process)
    watch = client.call("watch", pid=process.pid, interval_ms=86_400_000)["watch"]
    next_figures(client, watch)
    process.ask("exec")
    _, method, params = client.receive()
    assert (method, params["watch"], params["pid"], params["code"]) == ("unwatched", watch, process.pid, "gone")
    wait_for_target(client, process)
    next_figures(client, client.call("watch", pid=process.pid)["watch"])


def test_a_silent_target_does_not_hold_up_the_others(client, fake):
    silent, good = fake(name="silent"), fake(kind=wire.ServingTarget)
    wait_for_target(client, silent, good)
    watch = client.call("watch", interval_ms=200)["watch"]
    silent.question()
    fresh = 0
    while fresh < 3:  # before the silence is told, so in much less than the two seconds of a question
        figures, _ = next_figures(client, watch)
        assert not figures[silent.pid]["silent"] and "used_bytes" not in figures[silent.pid]
        fresh += figures[good.pid].get("age_ms", 200) < 190
    wait_until(lambda: next_figures(client, watch)[0][silent.pid]["silent"], what="silence to be told")
    assert not silent.connection.has_bytes()  # one question at a time


def test_one_that_never_answered_is_shown_with_what_proc_tells(client, fake):
    hung = fake(name="hung")
    watch = client.call("watch", interval_ms=100)["watch"]
    row = next_figures(client, watch)[0][hung.pid]
    assert not row["silent"] and "held_bytes" not in row and row["rss_bytes"] > 0


def test_rows_of_classes_on_request(client, fake):
    target = fake()
    watch = client.call("watch", pid=target.pid, interval_ms=100, classes=True)["watch"]
    assert target.answer_stats(used=7)["classes"] is True
    figures, _ = next_figures(client, watch)
    assert figures[target.pid]["classes"] == [wire.row_of(used=7)]


def test_a_slow_client_gets_the_newest_and_not_the_stale(qad, client, fake):
    """It reads nothing for a while: what waits for it stays small, and then comes a figure of now."""
    targets = [fake(kind=wire.ServingTarget, name="x" * 60) for _ in range(30)]
    wait_for_target(client, *targets)
    slow = wire.connect(qad.socket_path)
    slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    slow.call("hello", protocol=1, role="client")
    watch = slow.call("watch", interval_ms=100)["watch"]
    wait_until(lambda: client.call("health")["dropped_notifications"] >= 3, timeout=90, what="snapshots to be dropped")
    assert client.call("health")["rss_bytes"] < 64 * MIB
    wait_until(lambda: next_figures(slow, watch)[1]["dropped"] >= 3, what="the count of dropped ones")
    wait_until(lambda: all(row.get("age_ms", 9_999) < 1_000 for row in next_figures(slow, watch)[0].values()),
               what="figures of now")
    slow.close()


@pytest.mark.parametrize("params, code", [
    ({"interval_ms": 99}, "bad_request"), ({"interval_ms": 86_400_001}, "bad_request"),
    ({"interval_ms": "1"}, "bad_request"), ({"classes": True}, "bad_request"), ({"pid": "1"}, "bad_request"),
    ({"pid": 1 << 40}, "no_target"), ({"pid": 0}, "no_target")])
def test_watches_that_are_refused(client, params, code):
    assert client.error_of("watch", params) == code
    assert client.error_of("unwatch") == "bad_request"
    assert client.error_of("unwatch", watch=1 << 40) == "no_watch"


def test_a_client_sees_only_what_it_may(qad, client, fake):
    os.chmod(qad.socket_path.parent, 0o711)
    mine, others = fake(kind=wire.ServingTarget, uid=4_711), fake(kind=wire.ServingTarget)
    wait_for_target(client, mine, others)
    user = wire.ClientOf(qad.socket_path, uid=4_711)
    try:
        connection = user.connection
        assert connection.error_of("watch", pid=others.pid) == "no_target"
        assert connection.error_of("history", pid=others.pid) == "no_target"
        watch = connection.call("watch", interval_ms=100)["watch"]
        every = client.call("watch", interval_ms=100)["watch"]
        for _ in range(3):
            assert set(next_figures(connection, watch)[0]) == {mine.pid}
            assert set(next_figures(client, every)[0]) == {mine.pid, others.pid}
    finally:
        user.end()


# history


def test_history_has_what_was_watched(client, fake):
    target = fake()
    assert client.call("history", pid=target.pid)["points"] == 0
    watch = client.call("watch", pid=target.pid, interval_ms=1_000)["watch"]
    for used in (1_000, 2_000_000, 3 << 30):
        target.answer_stats(used=used)
        next_figures(client, watch)
    drain_and_unwatch(client, watch)
    history = client.call("history", pid=target.pid)
    assert history["step_s"] == 1 and 2 <= history["points"] <= 60 and 0 <= history["first_age_s"] <= 60
    assert abs(history["first_time_s"] + history["first_age_s"] - time.time()) < 30
    used = [value for value in history["used_bytes"] if value is not None]
    assert used[-1] == pytest.approx(3 << 30, rel=1 / 4096) and used[0] in (1_000, pytest.approx(2_000_000, rel=1 / 4096))
    for values in zip(*(history[key] for key in ("held_bytes", "used_bytes", "cached_bytes", *wire.PARTS))):
        if values[0] is not None:
            held, used, cached, *parts = values
            assert held == used + cached and cached == sum(parts)
    assert all(len(history[key]) == history["points"] for key in ("rss_bytes", "used_bytes"))
    tens = client.call("history", pid=target.pid, step_s=10)
    assert tens["step_s"] == 10 and 1 <= tens["points"] <= 6
    assert client.call("history", pid=target.pid, to_s=100_000)["points"] == 0
    assert client.call("history", pid=target.pid, from_s=100_000)["points"] == history["points"]
    assert client.call("history", pid=target.pid, from_s=0)["points"] <= 1
    for params in ({}, {"pid": target.pid, "step_s": 2}, {"pid": target.pid, "from_s": "x"}):
        assert client.error_of("history", params) == "bad_request"


def test_history_of_all_when_told(qad_factory, fake_kind=wire.ServingTarget):
    qad = qad_factory().start("--history")
    target = fake_kind(qad.socket_path)
    try:
        client = wire.client(qad.socket_path)
        assert client.call("health")["records_all"] is True
        wait_until(lambda: [row for row in client.call("ps", figures=False)["targets"] if row["pid"] == target.pid])
        wait_until(lambda: client.call("history", pid=target.pid)["points"] >= 2, what="two seconds of history")
        assert 0 < client.call("health")["history_bytes"] <= 40 << 10
    finally:
        target.end()
    qad.stop()


def test_trims_are_in_the_log_and_in_history(qad, client, fake):
    target = fake()
    number = client.ask("trim", pid=target.pid, block_size=24, keep_bytes=4_096)
    asked, method, params = target.question()
    assert (method, params) == ("trim", {"block_size": 24, "keep_bytes": 4_096})
    target.answer(asked, wire.trim_of(returned=77))
    assert client.answer_to(number)["returned_bytes"] == 77
    (trim,) = client.call("history", pid=target.pid)["trims"]
    assert trim.items() >= {"uid": os.getuid(), "client_pid": os.getpid(), "asked_by": 1, "block_size": 24, "pool": "",
                            "keep_bytes": 4_096, "returned_bytes": 77, "duration_us": 12}.items()
    assert trim["age_ms"] < 30_000 and trim["rss_after_bytes"] > 0
    pattern = rf"trimmed {target.pid} of uid 0 .*blocks of 24 bytes.* for uid 0, pid {os.getpid()}: 77 bytes came back"
    assert re.search(pattern, qad.log()) or os.getuid() != 0
    health = client.call("health")
    assert (health["trims"], health["trim_bytes"]) == (1, 77)


# trim of parts, of all, asked for twice


def test_the_same_trims_are_done_together_and_others_after_them(client, fake):
    target = fake()
    first = client.ask("trim", pid=target.pid)
    asked, _, _ = target.question()
    same = [client.ask("trim", pid=target.pid, pool="nodes") for _ in range(3)]
    other = client.ask("trim", pid=target.pid, block_size=48)
    client.call("ps", figures=False)  # all of them have arrived
    assert not target.connection.has_bytes()
    target.answer(asked, wire.trim_of(returned=1))
    assert client.answer_to(first)["returned_bytes"] == 1
    asked, _, params = target.question()
    assert params == {"pool": "nodes"}
    target.answer(asked, wire.trim_of(returned=2))
    for number in same:
        assert client.answer_to(number)["returned_bytes"] == 2
    asked, _, params = target.question()
    assert params == {"block_size": 48}
    target.answer(asked, wire.trim_of(returned=3))
    assert client.answer_to(other)["returned_bytes"] == 3
    assert [trim["asked_by"] for trim in client.call("history", pid=target.pid)["trims"]] == [1, 3, 1]


def test_a_class_that_the_target_does_not_have(client, fake):
    target = fake()
    number = client.ask("trim", pid=target.pid, block_size=25)
    asked, _, _ = target.question()
    target.connection.send([wire.RESPONSE, asked, {"code": "no_class", "message": "?"}, None])
    with pytest.raises(wire.RemoteError) as error:
        client.answer_to(number)
    assert error.value.code == "no_class" and str(target.pid) in error.value.map["message"]


@pytest.mark.parametrize("params", [
    {"pid": 1, "block_size": 24, "pool": "x"}, {"pid": 1, "pool": ""}, {"pid": 1, "pool": "x" * 65}, {"all": True, "pid": 1},
    {"pid": 1, "pool": "a\0b"}, {"pid": 1, "pool": "\0"}, {"all": False}, {"pid": 1, "keep_bytes": -1}, {"pid": 1, "block_size": "24"}])
def test_trims_that_are_refused(client, params):
    assert client.error_of("trim", params) == "bad_request"


def test_a_trim_of_all(client, fake):
    good = [fake(kind=wire.ServingTarget) for _ in range(20)]
    lost = fake(name="lost")
    wait_for_target(client, lost, *good)
    number = client.ask("trim", all=True, keep_bytes=7)
    asked, method, params = lost.question()
    assert (method, params) == ("trim", {"keep_bytes": 7})
    lost.end()
    result = client.answer_to(number)
    rows = {row["pid"]: row for row in result["targets"]}
    assert len(rows) == 21 and result["returned_bytes"] == 20 * 65_536 and result["not_allowed"] == 0
    assert all(rows[target.pid]["returned_bytes"] == 65_536 for target in good)
    (failed,) = [row for row in rows.values() if "error" in row]
    assert (failed["name"], failed["error"]["code"]) == ("lost", "gone")


def test_a_trim_of_all_is_of_those_that_one_may(qad, client, fake):
    os.chmod(qad.socket_path.parent, 0o711)
    mine, others = fake(kind=wire.ServingTarget, uid=4_711), fake(kind=wire.ServingTarget)
    wait_for_target(client, mine, others)
    user = wire.ClientOf(qad.socket_path, uid=4_711)
    try:
        result = user.connection.call("trim", all=True)
        assert [row["pid"] for row in result["targets"]] == [mine.pid] and result["not_allowed"] == 0
    finally:
        user.end()
    assert client.call("history", pid=others.pid)["trims"] == []


def test_a_client_that_goes_in_the_middle_of_a_trim_of_all(qad, client, fake):
    targets = [fake() for _ in range(20)]
    wait_for_target(client, *targets)
    leaving = wire.client(qad.socket_path)
    leaving.ask("trim", all=True)
    for target in targets[:16]:
        target.question()
    leaving.close()
    wait_until(lambda: client.call("health")["clients"] == 1)
    assert not any(target.connection.has_bytes() for target in targets[16:])


def test_a_real_target_trims_one_class_or_pool_with_a_floor(qad, client, target):
    process = target()
    wait_for_target(client, process)
    process.ask("malloc 1 20000 48")
    process.ask("malloc 2 20000 1024")
    process.ask("free 1")
    process.ask("free 2")

    def row(size):
        rows = client.call("stats", pid=process.pid, all_classes=True)["classes"]
        (found,) = [one for one in rows if one["block_size"] == size and not one["name"]]
        return found

    other = row(1_024)["held_bytes"]
    result = client.call("trim", pid=process.pid, block_size=48)
    assert result["returned_bytes"] >= 900_000 and result["held_after_bytes"] == 0
    assert row(48)["held_bytes"] == 0 and row(1_024)["held_bytes"] == other
    client.call("trim", pid=process.pid, keep_bytes=5 * MIB)
    cached = client.call("stats", pid=process.pid)["cached_bytes"]
    assert 5 * MIB <= cached < 6 * MIB
    assert client.error_of("trim", pid=process.pid, block_size=47) == "no_class"
    assert client.error_of("trim", pid=process.pid, pool="none") == "no_class"
    process.quit()


# health


def test_health(qad, client, fake):
    before = client.call("health")
    assert before["pid"] == qad.pid and before["version"] and before["targets"] == 0 and before["clients"] == 1
    assert before["rss_bytes"] > 0 and before["limits"]["connections"] == 8_192 and len(before["limits"]) == 24
    target = fake(kind=wire.ServingTarget)
    wait_for_target(client, target)
    bad = wire.client(qad.socket_path)
    bad.send_bytes(b"\xc1")
    assert bad.is_closed()
    after = client.call("health")
    assert (after["targets"], after["clients"], after["dropped_peers"], after["users"]) == (1, 1, 1, 1)
    assert after["cpu_us"] > 0 and after["uptime_s"] >= before["uptime_s"] and not after["is_short_of_descriptors"]
