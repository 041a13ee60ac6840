"""What may be changed over HTTP: nothing, unless qad was told so; and then only by who has the token."""

import os
import stat
import subprocess

import msgpack
import pytest

import wire
from harness import BUILD, wait_until
from http_reader import get, later, wait_for_targets

TOKEN = "0123456789abcdefghij"


@pytest.fixture
def trimming(served, socket_dir):
    """A qad that allows trims, with its token."""

    def start(*options):
        path = socket_dir / "token"
        qad = served("--http-allow-trim", "--http-token-file", path, *options)
        return qad, path.read_text().strip()

    return start


def trim(qad, pid, token, query="", **headers):
    if token is not None:
        headers["Authorization"] = "Bearer " + token
    return get(qad.http, f"/api/v1/targets/{pid}/trim{query}", "POST", **headers)


def test_without_the_option_nobody_may(served, fake_of):
    qad = served()
    target = fake_of(qad)
    wait_for_targets(qad, target)
    answer = trim(qad, target.pid, TOKEN)
    assert (answer.status, answer.json["error"]["code"]) == (403, "not_allowed")
    assert "--http-allow-trim" in answer.json["error"]["message"] and not target.connection.has_bytes()


def test_with_the_token_a_target_is_trimmed(trimming, fake_of):
    qad, token = trimming()
    target = fake_of(qad, wire.ServingTarget, name="it")
    wait_for_targets(qad, target)
    answer = trim(qad, target.pid, token)
    assert answer.status == 200
    by_socket = qad.client.call("trim", pid=target.pid)
    assert {key: answer.json[key] for key in by_socket if not key.startswith("rss")} == \
        {key: value for key, value in by_socket.items() if not key.startswith("rss")}
    assert set(answer.json) == set(by_socket)
    assert f"for uid {os.getuid()}, pid {qad.pid}" in qad.log()
    assert qad.client.call("health")["http_allows_trim"] is True


@pytest.mark.parametrize("headers, status", [
    ({}, 401), ({"Authorization": ""}, 401), ({"Authorization": "Bearer"}, 401), ({"Authorization": "Bearer "}, 401),
    ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "Basic {token}"}, 401), ({"Authorization": "Bearer {token}x"}, 401),
    ({"Authorization": "Bearer {half}"}, 401), ({"Authorization": "Bearer {token}", "Origin": "http://evil.example"}, 403),
    ({"Authorization": "Bearer {token}", "Origin": "null"}, 403), ({"Authorization": "Bearer {token}", "Origin": "https://{host}"}, 403),
    ({"Authorization": "Bearer {token}", "Origin": "http://{host}.evil.example"}, 403),
    ({"Authorization": "Bearer {token}", "Host": "evil.example"}, 403),
    ({"Authorization": "bearer {token}", "Origin": "http://{host}"}, 200), ({"Authorization": "Bearer {token}"}, 200)])
def test_who_may(trimming, fake_of, headers, status):
    qad, token = trimming()
    target = fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, target)
    texts = {"token": token, "half": token[:32], "host": "%s:%d" % qad.http}
    answer = trim(qad, target.pid, None, **{name: text.format(**texts) for name, text in headers.items()})
    assert answer.status == status, answer
    assert qad.client.call("health")["trims"] == (status == 200)
    assert answer.headers.get("www-authenticate", "").startswith("Bearer") == (status == 401)
    assert token not in qad.log() and token not in answer.text


@pytest.mark.parametrize("query, params", [("", {}), ("?block_size=48", {"block_size": 48}), ("?keep_bytes=1000", {"keep_bytes": 1_000}),
                                           ("?pool=a%20pool%26", {"pool": "a pool&"})])
def test_a_part_of_it(trimming, fake_of, query, params):
    qad, token = trimming()
    target = fake_of(qad)
    wait_for_targets(qad, target)
    answer = later(trim, qad, target.pid, token, query)
    number, method, asked = target.question()
    assert (method, asked) == ("trim", params)
    target.answer(number, wire.trim_of())
    assert answer().status == 200 and answer().json["returned_bytes"] == 65_536


@pytest.mark.parametrize("query", ["?block_size=x", "?block_size=-1", "?block_size=99999999999999999999", "?pool=", "?pool=a&block_size=8",
                                   "?all=1", "?pool=" + "x" * 65])
def test_wrong_queries(trimming, fake_of, query):
    qad, token = trimming()
    target = fake_of(qad)
    wait_for_targets(qad, target)
    answer = trim(qad, target.pid, token, query)
    assert (answer.status, answer.json["error"]["code"]) == (400, "bad_request") and not target.connection.has_bytes()


def test_what_can_go_wrong(trimming, fake_of):
    qad, token = trimming("--limit", "trim_ms=200")
    target = fake_of(qad)
    wait_for_targets(qad, target)
    answer = trim(qad, 1, token)
    assert (answer.status, answer.json["error"]["code"]) == (404, "no_target")
    answer = trim(qad, target.pid, token)
    assert (answer.status, answer.json["error"]["code"]) == (504, "timeout")
    number, _, _ = target.question()
    target.answer(number, wire.trim_of())
    answer = later(trim, qad, target.pid, token, "?block_size=24")
    number, _, _ = target.question()
    target.connection.send([1, number, {"code": "no_class", "message": "none"}, None])
    assert (answer().status, answer().json["error"]["code"]) == (404, "no_class")
    answer = later(trim, qad, target.pid, token)
    target.question()
    target.end()
    assert (answer().status, answer().json["error"]["code"]) == (404, "gone")


def test_each_asks_for_a_trim_of_its_own(trimming, fake_of):
    """Nothing is answered from what was made for another a moment ago."""
    qad, token = trimming()
    target = fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, target)
    assert [trim(qad, target.pid, token).status for _ in range(3)] == [200] * 3
    assert qad.client.call("health")["trims"] == 3


def test_a_trim_that_is_under_way_is_not_shared(trimming, fake_of):
    """Who asks later wants what is free by then."""
    qad, token = trimming()
    target = fake_of(qad)
    wait_for_targets(qad, target)
    first = later(trim, qad, target.pid, token)
    number, _, _ = target.question()
    second = later(trim, qad, target.pid, token)
    wait_until(lambda: qad.client.call("health")["http_requests"] == 2, what="the second request")
    target.answer(number, wire.trim_of(1))
    number, _, _ = target.question()
    target.answer(number, wire.trim_of(2))
    assert (first().json["returned_bytes"], second().json["returned_bytes"]) == (1, 2)


@pytest.mark.parametrize("path", ["/api/v1/targets/0/trim", "/api/v1/targets/-1/trim", "/api/v1/targets/01/trim", "/api/v1/targets/x/trim",
                                  "/api/v1/targets//trim", "/api/v1/targets/1/trim/", "/api/v1/targets/99999999999/trim", "//api/v1/targets/1/trim"])
def test_paths_that_are_none(trimming, path):
    qad, token = trimming()
    assert get(qad.http, path, "POST", Authorization="Bearer " + token).status == 404


def test_a_trim_can_not_be_got(trimming):
    qad, token = trimming()
    answer = get(qad.http, "/api/v1/targets/1/trim", Authorization="Bearer " + token)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert get(qad.http, "/metrics", "POST", Authorization="Bearer " + token).status == 405


@pytest.mark.parametrize("by_socket", [False, True])
def test_a_pools_name_may_be_any_bytes(trimming, fake_of, by_socket):
    """The target is asked for the very bytes; what is told of it later is UTF-8, so that the history stays readable."""
    qad, token = trimming()
    target = fake_of(qad)
    target.connection.unpacker = msgpack.Unpacker(raw=True)
    wait_for_targets(qad, target)
    if by_socket:
        qad.client.send_bytes(msgpack.packb([0, 77, "trim", {"pid": target.pid, "pool": b"caf\xe9"}], use_bin_type=False))
    else:
        answer = later(trim, qad, target.pid, token, "?pool=caf%e9")
    number, _, params = target.question()
    assert params == {b"pool": b"caf\xe9"}
    target.answer(number, wire.trim_of())
    assert qad.client.answer_to(77) if by_socket else answer().status == 200
    history = get(qad.http, f"/api/v1/targets/{target.pid}/history")
    assert history.status == 200 and history.json["trims"][0]["pool"] == "caf\ufffd", history
    assert qad.client.call("history", pid=target.pid)["trims"][0]["pool"] == "caf\ufffd"
    assert "caf\ufffd" in qad.log_path.read_text(errors="strict")


def test_figures_of_any_size(trimming, fake_of):
    """JSON's numbers end at 2^63 - 1, also of a target that tells nonsense."""
    qad, token = trimming()
    target = fake_of(qad)
    wait_for_targets(qad, target)
    answer = later(trim, qad, target.pid, token)
    number, _, _ = target.question()
    target.answer(number, {**wire.trim_of(), "duration_us": 2**64 - 1})
    assert answer().status == 200 and answer().json["duration_us"] == 2**63 - 1


# The file.


def test_the_file_is_made_for_its_owner_only_and_kept(trimming, socket_dir):
    qad, token = trimming()
    assert len(token) == 64 and stat.S_IMODE((socket_dir / "token").stat().st_mode) == 0o600
    qad.stop()
    qad.start("--http", "127.0.0.1:0", "--http-allow-trim", "--http-token-file", socket_dir / "token")
    assert (socket_dir / "token").read_text().strip() == token


def run_with_token(socket_dir, path):
    return subprocess.run([BUILD / "qad" / "qad", "--socket", socket_dir / "s", "--http", "127.0.0.1:0", "--http-allow-trim",
                           "--http-token-file", path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("content, mode, message", [
    (TOKEN, 0o644, "read by others"), (TOKEN, 0o620, "read by others"), ("", 0o600, "no token"), ("short", 0o600, "no token"),
    ("x" * 129, 0o600, "no token"), ("0123456789 abcdefghij", 0o600, "no token")])
def test_a_file_that_is_no_good(socket_dir, content, mode, message):
    path = socket_dir / "token"
    path.write_text(content + "\n")
    path.chmod(mode)
    done = run_with_token(socket_dir, path)
    assert done.returncode == 78 and message in done.stderr and str(path) in done.stderr, done
    assert path.read_text() == content + "\n" and not (socket_dir / "s").exists()


def test_no_link_and_no_folder(socket_dir):
    (socket_dir / "real").write_text(TOKEN)
    (socket_dir / "real").chmod(0o600)
    (socket_dir / "link").symlink_to("real")
    for path in (socket_dir / "link", socket_dir, socket_dir / "missing" / "token"):
        done = run_with_token(socket_dir, path)
        assert done.returncode == 78 and (f"{path}: " in done.stderr or f"{path} is no ordinary file" in done.stderr), done
    assert "it must be a file that the user of qad can read or make" in done.stderr


def test_a_token_of_ones_own(served, socket_dir, fake_of):
    path = socket_dir / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    qad = served("--http-allow-trim", "--http-token-file", path)
    target = fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, target)
    assert trim(qad, target.pid, TOKEN).status == 200
