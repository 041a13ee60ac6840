"""What docs/PROTOCOL.md says of ps, stats and trim, and who shares a question, asked of the real qad by hand."""

import os
import pathlib

import pytest

import wire
from programs import targets_of


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


# questions


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


def reads_of(pid):
    """How often it has read from a file or a socket."""
    text = pathlib.Path(f"/proc/{pid}/io").read_text()
    return int(dict(line.split(": ") for line in text.splitlines())["syscr"])


def test_many_ps_look_at_a_process_together(qad, client, fake):
    target = fake()
    numbers = [client.ask("ps") for _ in range(60)]
    assert client.error_of("reboot") == "unknown_method"  # by then the others wait
    before = reads_of(qad.pid)
    for _ in range(2):
        target.answer_stats(used=7)
    answers = [client.receive() for _ in numbers]
    assert all(result["targets"][0]["used_bytes"] == 7 for _, _, _, result in answers)
    assert reads_of(qad.pid) - before < 30


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
