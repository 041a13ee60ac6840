"""/api/v1 of qad: what the socket tells, told over HTTP as JSON."""

import pathlib

import pytest

import wire
from figures import assert_sums
from harness import wait_until
from http_reader import Reader, address_of, get, later
from programs import wait_for_target
from wire import PARTS

COLUMNS = ("held_bytes", "used_bytes", "cached_bytes", *PARTS, "rss_bytes")
NAME = "<b>&\"'\x1b[31m\n\u202e\u00e4"


@pytest.fixture
def serve(qad_factory):
    """Starts a qad with HTTP; it must end well."""
    made = []

    def start(*options):
        made.append(qad_factory().start("--http", "127.0.0.1:0", *options))
        return made[-1], address_of(made[-1])

    yield start
    for qad in made:
        if qad.process.poll() is None:
            qad.stop()


@pytest.fixture
def served(serve):
    """A qad with HTTP, a reader of its API by path, and a client on its socket."""
    qad, address = serve()
    client = wire.client(qad.socket_path)
    reader = Reader(address)
    yield qad, lambda path: reader.ask(f"/api/v1/{path}"), client
    reader.close()
    client.close()


@pytest.fixture
def doc(served, target):
    """A target whose figures stand still, with blocks out of every other place."""
    process = target(QA_NAME="doc")
    process.ask("malloc 1 40000 64")
    process.ask("free 1 4")
    wait_for_target(served[2], process.pid)
    return process


def error_of(answer):
    return answer.status, answer.json["error"]["code"]


def without(figures, *keys):
    return {key: value for key, value in figures.items() if key not in keys}


# What is told.


def test_targets_are_those_of_ps(served, doc):
    _, ask, client = served
    over_http = ask("targets").json["targets"]
    by_socket = client.call("ps")["targets"]
    assert [set(one) for one in over_http] == [set(one) for one in by_socket]
    changes = ("age_ms", "uptime_s", "rss_bytes")
    assert [without(one, *changes) for one in over_http] == [without(one, *changes) for one in by_socket]
    assert 0 <= over_http[0]["age_ms"] < wire.DEADLINE * 1_000 and over_http[0]["rss_bytes"] > over_http[0]["used_bytes"]


def test_a_target_is_that_of_stats(served, doc):
    _, ask, client = served
    over_http = ask(f"targets/{doc.pid}").json
    by_socket = client.call("stats", pid=doc.pid)
    assert_sums(over_http)
    assert set(over_http) == set(by_socket)
    assert over_http["classes"] == by_socket["classes"] and over_http["classes"]
    assert over_http["used_bytes"] == by_socket["used_bytes"] == 10_000 * 64


def test_a_map_is_that_of_map(served, doc):
    _, ask, client = served
    over_http = ask(f"targets/{doc.pid}/map").json
    by_socket = client.call("map", pid=doc.pid)
    assert set(over_http) == set(by_socket) and over_http["classes"] == by_socket["classes"]
    assert any(sum(row["tenth_pages"]) == row["pages"] > 0 for row in over_http["classes"])


def test_health_is_that_of_health(served, doc):
    _, ask, client = served
    over_http = ask("health").json
    by_socket = client.call("health")
    assert set(over_http) == set(by_socket) and over_http["limits"] == by_socket["limits"]
    assert over_http["targets"] == 1 and over_http["http_allows_trim"] is False


def test_any_name_is_told_as_it_is(served):
    qad, ask, client = served
    target = wire.ServingTarget(qad.socket_path, name=NAME)
    try:
        wait_for_target(client, target.pid)
        answer = ask("targets")
        assert [one["name"] for one in answer.json["targets"]] == [NAME]
        assert b"\x1b" not in answer.body and b"\n" not in answer.body.rstrip(b"\n")
    finally:
        target.end()


def test_numbers_of_any_size(served):
    qad, ask, client = served
    row = {**wire.row_of(used=1 << 49), "allocs": 2**64 - 1}
    target = wire.ServingTarget(qad.socket_path, parts={"used": 1 << 49}, rows=[row])
    try:
        wait_for_target(client, target.pid)
        assert ask("targets").json["targets"][0]["used_bytes"] == 1 << 49
        assert ask(f"targets/{target.pid}").json["classes"][0]["allocs"] == 2**63 - 1
    finally:
        target.end()


def test_without_targets(served):
    _, ask, _ = served
    assert ask("targets").json == {"targets": []}
    history = ask("history").json
    assert (history["points"], history["used_bytes"]) == (1, [0])  # the round above was one of no target


# History.


def test_looking_is_recorded(served, doc):
    _, ask, client = served
    ask(f"targets/{doc.pid}")
    history = ask(f"targets/{doc.pid}/history").json
    assert set(history) == set(client.call("history", pid=doc.pid))
    assert history["points"] >= 1 and history["trims"] == []
    assert all(len(history[column]) == history["points"] for column in COLUMNS)
    used = history["used_bytes"][-1]
    assert abs(used - 10_000 * 64) <= 10_000 * 64 / 4096
    client.call("trim", pid=doc.pid)
    trims = wait_until(lambda: ask(f"targets/{doc.pid}/history?from_s=10").json["trims"], what="the trim in the history")
    assert trims[0]["returned_bytes"] > 0 and trims[0]["asked_by"] == 1


def test_points_have_numbers_that_join_answers(served, doc):
    _, ask, _ = served

    def points_of(path):
        history = ask(path).json
        return {history["first_point"] + i: value for i, value in enumerate(history["held_bytes"]) if value is not None}

    def enough():
        ask(f"targets/{doc.pid}")
        return len(points_of(f"targets/{doc.pid}/history")) >= 3

    wait_until(enough, what="points of three seconds")
    last = points_of(f"targets/{doc.pid}/history?from_s=1&to_s=1")  # a second that is over, and does not change
    whole = points_of(f"targets/{doc.pid}/history")
    assert 0 < len(last) < len(whole) and last.items() <= whole.items()
    assert len(points_of(f"targets/{doc.pid}/history?step_s=10")) < len(whole)
    assert not points_of(f"targets/{doc.pid}/history?to_s=1000")


def test_the_history_of_all_together(served, target):
    _, ask, client = served
    both = [target(), target()]
    for process in both:
        process.ask("malloc 1 1000 64")
        wait_for_target(client, process.pid)
    assert len(ask("targets").json["targets"]) == 2
    history = ask("history?step_s=10").json
    assert set(history) == {"step_s", "points", "first_point", "first_age_s", "first_time_s", *COLUMNS}
    assert abs(history["used_bytes"][-1] - 2 * 64_000) <= 2 * 64_000 / 4096
    for i in range(history["points"]):
        if history["held_bytes"][i] is not None:
            assert history["held_bytes"][i] == history["used_bytes"][i] + history["cached_bytes"][i]


def test_a_watch_of_all_is_recorded_too(served, doc):
    _, ask, client = served
    client.call("watch", interval_ms=100)
    wait_until(lambda: 640_000 in [round(used or 0, -3) for used in ask("history").json["used_bytes"]],
               what="what the watch saw")


# Targets that do not answer, and errors.


def test_a_silent_target_is_shown_as_it_was(serve):
    qad, address = serve("--limit", "stats_ms=1000")  # it has to answer once, also on a busy machine
    target = wire.FakeTarget(qad.socket_path)
    try:
        path = f"/api/v1/targets/{target.pid}"
        answer = later(get, address, path)
        target.answer_stats(used=4_096)
        assert (answer().json["used_bytes"], answer().json["silent"]) == (4_096, False)
        wait_until(lambda: get(address, path).json["silent"], what="it to be silent")
        shown = get(address, path).json
        assert shown["used_bytes"] == 4_096 and shown["age_ms"] >= 1_000
        assert [one["silent"] for one in get(address, "/api/v1/targets").json["targets"]] == [True]
        assert error_of(get(address, f"{path}/map")) == (504, "timeout")
    finally:
        target.end()


def test_one_that_never_answered_has_no_figures(serve):
    qad, address = serve("--limit", "stats_ms=100")
    target = wire.FakeTarget(qad.socket_path)
    try:
        assert error_of(get(address, f"/api/v1/targets/{target.pid}")) == (504, "timeout")
        shown = get(address, "/api/v1/targets").json["targets"][0]
        assert shown["silent"] and "used_bytes" not in shown and "age_ms" not in shown
        assert error_of(get(address, f"/api/v1/targets/{target.pid}")) == (504, "timeout")
    finally:
        target.end()


def test_one_that_ends_while_it_is_asked(serve):
    qad, address = serve()
    target = wire.FakeTarget(qad.socket_path)
    answer = later(get, address, f"/api/v1/targets/{target.pid}")
    target.question()
    target.end()
    assert error_of(answer()) == (404, "gone")


@pytest.mark.parametrize("path, status, code", [
    ("targets/1", 404, "no_target"), ("targets/1/history", 404, "no_target"), ("targets/1/map", 404, "no_target"),
    ("targets/0", 404, "not_found"), ("targets/-1", 404, "not_found"), ("targets/1x", 404, "not_found"),
    ("targets/99999999999999999999", 404, "not_found"), ("targets/1/nothing", 404, "not_found"), ("", 404, "not_found"),
    ("targets/", 404, "not_found"), ("targets?x=1", 400, "bad_request"), ("history?step_s=2", 400, "bad_request"),
    ("history?step_s=", 400, "bad_request"), ("history?from_s=-1", 400, "bad_request"),
    ("history?from_s=1&from_s=2", 400, "bad_request"), ("history?to_s=99999999999999999999", 400, "bad_request"),
])
def test_errors(served, path, status, code):
    _, ask, _ = served
    answer = ask(path)
    assert error_of(answer) == (status, code) and answer.json["error"]["message"]


@pytest.mark.parametrize("path", ["targets", "targets/1", "targets/1/history", "targets/1/map", "history", "health"])
def test_other_methods(serve, path):
    _, address = serve()
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = get(address, f"/api/v1/{path}", method)
        assert error_of(answer) == (405, "bad_request") and answer.headers["allow"] == "GET, HEAD"


def test_head_is_get_without_a_body(serve):
    _, address = serve()
    answer = get(address, "/api/v1/health", "HEAD")
    assert (answer.status, answer.body) == (200, b"") and int(answer.headers["content-length"]) > 100


def test_readers_share_one_question(serve):
    """Nobody is asked twice for what two ask for in the same moment."""
    qad, address = serve()
    target = wire.FakeTarget(qad.socket_path)
    try:
        answers = [later(get, address, f"/api/v1/targets/{target.pid}") for _ in range(5)]
        target.answer_stats(used=640)
        assert [answer().json["used_bytes"] for answer in answers] == [640] * 5
        assert not target.connection.has_bytes()
    finally:
        target.end()


# Trims.


def test_a_trim_over_http(serve, socket_dir, target, stats):
    qad, address = serve("--http-allow-trim", "--http-token-file", str(socket_dir / "token"))
    process = target()
    process.ask("malloc 1 40000 64")
    process.ask("free 1")
    before = stats(process.pid)
    path = f"/api/v1/targets/{process.pid}"
    token = pathlib.Path(socket_dir / "token").read_text().strip()
    assert get(address, "/api/v1/health").json["http_allows_trim"] is True
    assert error_of(get(address, f"{path}/trim", "POST")) == (401, "not_allowed")
    assert error_of(get(address, f"{path}/trim", "POST", Authorization="Bearer x")) == (401, "not_allowed")
    other = get(address, f"{path}/trim", "POST", Authorization=f"Bearer {token}", Origin="http://evil.example")
    assert error_of(other) == (403, "not_allowed")
    assert stats(process.pid)["held_bytes"] == before["held_bytes"]
    own = f"http://127.0.0.1:{address[1]}"
    trim = get(address, f"{path}/trim", "POST", Authorization=f"Bearer {token}", Origin=own).json
    assert trim["returned_bytes"] >= before["empty_bytes"] and trim["held_after_bytes"] == stats(process.pid)["held_bytes"]
    assert get(address, f"{path}/history").json["trims"][0]["returned_bytes"] == trim["returned_bytes"]


def test_no_trim_unless_it_is_allowed(served, doc):
    qad, _, _ = served
    address = address_of(qad)
    path = f"/api/v1/targets/{doc.pid}/trim"
    assert error_of(get(address, path, "POST", Authorization="Bearer x")) == (403, "not_allowed")
    assert error_of(get(address, path)) == (405, "bad_request")


# The page's files; what they do is for test_dashboard.py.


def test_the_page_has_its_files(serve):
    _, address = serve()
    page = get(address, "/")
    if page.status == 404:
        assert "script/bootstrap" in page.text and "npm ci" in page.text
        return
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for name, kind in (("style.css", "text/css; charset=utf-8"), ("main.js", "text/javascript; charset=utf-8"),
                       ("icon.svg", "image/svg+xml"), ("uplot-license.txt", "text/plain; charset=utf-8")):
        answer = get(address, f"/page/{name}")
        assert (answer.status, answer.headers["content-type"]) == (200, kind) and answer.body
    again = get(address, "/", If_None_Match=page.headers["etag"])
    assert (page.headers["cache-control"], again.status, again.body) == ("no-cache", 304, b"")
    assert again.headers["etag"] == page.headers["etag"] and "content-security-policy" in again.headers
    assert get(address, "/", If_None_Match='"another"').status == 200
    assert b"script-src 'self'" not in page.body and "script-src 'self'" in page.headers["content-security-policy"]
    for name in ("nothing.js", "..%2fstyle.css", "%2e%2e", "style.css/x", ""):
        assert get(address, f"/page/{name}").status == 404
