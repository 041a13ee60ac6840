"""map: how full the pages of a target are, class by class."""

import pytest

import wire
from figures import row_of
from programs import wait_for_target

TENTHS = ("tenth_pages", "tenth_out_bytes", "tenth_free_bytes")


def map_row(figures, block_size):
    return next(row for row in figures["classes"] if row["block_size"] == block_size)


def test_the_map_of_a_real_target_agrees_with_its_figures(qad, target, client):
    program = target()
    program.ask("alloc 1 20000 104 8")
    program.ask("alloc 2 1000 24 8")
    program.ask("alloc 3 2 5000000 8")
    program.ask("free 1 100")
    wait_for_target(client, program.pid)
    client.call("trim", pid=program.pid)
    figures = client.call("stats", pid=program.pid)
    result = client.call("map", pid=program.pid)
    assert (result["pid"], result["command"], result["page_size"]) == (program.pid, "target", figures["page_size"])
    assert all(row["block_size"] for row in result["classes"]), "no row for large blocks"
    for row in result["classes"]:
        of_stats = row_of(figures, row["block_size"])
        assert all(len(row[key]) == 10 for key in TENTHS)
        assert sum(row["tenth_pages"]) == row["pages"]
        assert row["pages"] + row["empty_pages"] == of_stats["pages"]
        assert sum(row["tenth_free_bytes"]) == of_stats["partial_bytes"]
        assert sum(row["tenth_out_bytes"]) == of_stats["used_bytes"] + of_stats["thread_bytes"]
    sparse, dense = map_row(result, 104), map_row(result, 24)
    assert sparse["tenth_pages"][0] >= 30 and not any(sparse["tenth_pages"][1:]), "every hundredth block is there"
    assert sum(dense["tenth_out_bytes"]) == 24000


def test_what_is_wrong_with_the_question(qad, client):
    assert client.error_of("map") == "bad_request"
    assert client.error_of("map", pid="7") == "bad_request"
    assert client.error_of("map", pid=1) == "no_target"


def test_an_earlier_libqa_does_not_know_it(client, fake):
    old = fake()
    number = client.ask("map", pid=old.pid)
    asked, method, _ = old.question()
    assert method == "map"
    old.connection.send([1, asked, {"code": "unknown_method", "message": "A target answers stats and trim only."}, None])
    with pytest.raises(wire.RemoteError, match="version of libqa") as error:
        client.answer_to(number)
    assert error.value.code == "unknown_method"


def good_row():
    return {"block_size": 24, "name": "", "pages": 1, "empty_pages": 0, **{key: [0] * 10 for key in TENTHS}}


@pytest.mark.parametrize("result", [
    {"page_size": 65536}, {"page_size": 65536, "classes": 7}, {"page_size": -1, "classes": []},
    {"page_size": 65536, "classes": [7]}, {"page_size": 65536, "classes": [{**good_row(), "tenth_pages": [0] * 9}]},
    {"page_size": 65536, "classes": [good_row(), {**good_row(), "tenth_out_bytes": [-1] * 10}]},
    {"page_size": 65536, "classes": [{**good_row(), "tenth_free_bytes": {}}]}])
def test_a_map_that_makes_no_sense_is_an_error(client, fake, result):
    odd = fake()
    number = client.ask("map", pid=odd.pid)
    odd.answer(odd.question()[0], result)
    with pytest.raises(wire.RemoteError, match="makes no sense"):
        client.answer_to(number)
    number = client.ask("map", pid=odd.pid)
    odd.answer(odd.question()[0], {"page_size": 4096, "classes": [{**good_row(), "name": "b\x01d\xff", "more": 1}]})
    good = client.answer_to(number)
    assert good["classes"][0]["pages"] == 1 and good["page_size"] == 4096


def test_rows_of_the_same_class_are_added_up(client, fake):
    target = fake()
    first = {**good_row(), "tenth_pages": [1, *[0] * 8, 2], "tenth_free_bytes": [24, *[0] * 9]}
    again = {**good_row(), "empty_pages": 5, "tenth_pages": [1] * 10}
    number = client.ask("map", pid=target.pid)
    target.answer(target.question()[0], {"page_size": 4096, "classes": [first, {**good_row(), "block_size": 32}, again]})
    total = {**first, "pages": 2, "empty_pages": 5, "tenth_pages": [2, *[1] * 8, 3]}
    assert client.answer_to(number)["classes"] == [total, {**good_row(), "block_size": 32}]


def test_a_target_that_ends_or_is_silent(qad, client, fake):
    silent = fake()
    number = client.ask("map", pid=silent.pid)
    silent.question()
    with pytest.raises(wire.RemoteError, match="in time"):
        client.answer_to(number)
    number = client.ask("map", pid=silent.pid)
    silent.end()
    with pytest.raises(wire.RemoteError, match="ended while"):
        client.answer_to(number)
