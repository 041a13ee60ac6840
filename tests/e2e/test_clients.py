"""Clients that share no code with proto/, each written from docs/PROTOCOL.md, against the real qad and a real target."""

import json
import subprocess
import sys

import pytest
from pynvim import msgpack_rpc

import npm
from figures import assert_sums, row_of
from harness import REPO, wait_until

CLIENTS = REPO / "tests" / "clients"


@pytest.fixture
def doc(qad, target, qactl):
    process = target(QA_NAME="doc")
    process.ask("malloc 1 40000 64")
    process.ask("free 1 100")
    wait_until(lambda: qactl("stats", "doc").code == 0, what="the target in qad")
    return process


@pytest.fixture(scope="session")
def javascript():
    """A folder with the JavaScript clients and what their lock file says; after the first time without the network."""
    return npm.installed(CLIENTS)


@pytest.fixture(params=["python", "javascript"])
def command(request):
    if request.param == "python":
        return [sys.executable, CLIENTS / "client.py"]
    return ["node", request.getfixturevalue("javascript") / "client.mjs"]


def test_a_client_written_from_the_document(qad, doc, command, qactl):
    done = subprocess.run([*map(str, command), str(qad.socket_path), str(doc.pid)], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["what"] for line in lines] == [
        "hello", "ps", "who", "stats", "all classes", "map", "trim", "trim class", "trim all", "figures", "figures", "figures",
        "unwatch", "history", "tens", "nothing", "health"] + ["error"] * 8
    hello, ps, who, stats, classes, pages, trim, trim_class, trim_all, *figures = (line["value"] for line in lines[:12])
    assert hello["protocol"] == 1
    assert [row["name"] for row in ps["targets"]] == ["doc"] and "used_bytes" not in who["targets"][0]
    assert_sums(stats)
    assert stats["pid"] == doc.pid and stats["used_bytes"] == 400 * 64
    assert len(classes["classes"]) > len(stats["classes"]) >= 1
    (row,) = pages["classes"]
    assert sum(row["tenth_pages"]) == row["pages"] and sum(row["tenth_out_bytes"]) >= 400 * 64
    assert trim["cached_after_bytes"] >= 4_096 and trim["pid"] == doc.pid
    assert trim_class["held_after_bytes"] == row_of(classes, 64)["held_bytes"] - trim["returned_bytes"] - trim_class["returned_bytes"]
    assert [one["pid"] for one in trim_all["targets"]] == [doc.pid] and trim_all["not_allowed"] == 0
    assert all(one["targets"][0]["used_bytes"] == 400 * 64 for one in figures)
    assert all(row_of(one["targets"][0], 64)["used_blocks"] == 400 for one in figures)
    assert_histories(*(line["value"] for line in lines[13:16]))
    health = lines[16]["value"]
    assert health["targets"] == 1 and health["limits"]["connections"] == 8_192
    assert not health["http_on"] and health["http_requests"] == 0 and health["trims"] == 3
    assert [line["value"] for line in lines[17:]] == ["no_target", "unknown_method", "bad_request", "no_class", "bad_request",
                                                      "no_watch", "bad_request", "bad_request"]


def assert_histories(history, tens, nothing):
    assert [trim["keep_bytes"] for trim in history["trims"]] == [4_096, 0, 0]
    assert [trim["block_size"] for trim in history["trims"]] == [0, 64, 0]
    assert history["points"] == len(history["used_bytes"]) >= 1 and history["first_point"] > 0
    assert (history["first_point"] - 1) // 10 + 1 == tens["first_point"] and tens["step_s"] == 10
    assert all(used in (None, 400 * 64) for used in history["used_bytes"] + tens["used_bytes"])
    assert nothing["points"] == 0 and nothing["used_bytes"] == [] and len(nothing["trims"]) == 3


def test_a_target_written_from_the_document(qad, javascript, qactl, client):
    process = subprocess.Popen(["node", javascript / "target.mjs", qad.socket_path, "made"])
    try:
        wait_until(lambda: client.call("ps", figures=False)["targets"], what="the target in qad")
        stats = qactl("stats", "made", "--json").json
        assert_sums(stats)
        assert (stats["pid"], stats["version"], stats["used_bytes"]) == (process.pid, "js", 48_000)
        assert qactl("ps", "--json").json[0]["cached_bytes"] == 83_072
        assert qactl("map", "made", "--json").json["classes"][0]["tenth_pages"][7] == 1
        assert qactl("trim", "made", "--class", "48", "--json").json["returned_bytes"] == 65_536
        assert qactl("trim", "made", "--pool", "none").code == 67
        assert qactl("watch", "made", "-n", "2", "-i", "0.1").code == 0
    finally:
        process.kill()
        process.wait()


def test_a_stock_rpc_client(qad, doc):
    """python3-pynvim's session: a call of its own first, binary method names, params always in an array."""
    session = msgpack_rpc.socket_session(str(qad.socket_path))
    errors = []
    session.error_wrapper = lambda error: errors.append(error) or RuntimeError(error["code"])
    try:
        with pytest.raises(RuntimeError, match="bad_request"):
            session.request(b"nvim_get_api_info")
        assert session.request("hello", {"protocol": 1, "role": "client"})["protocol"] == 1
        with pytest.raises(RuntimeError, match="bad_request"):
            session.request(b"ps")
        assert [row["pid"] for row in session.request("ps")["targets"]] == [doc.pid]
        assert session.request("stats", {"pid": doc.pid})["used_bytes"] == 400 * 64
        with pytest.raises(RuntimeError, match="no_target"):
            session.request("stats", {"pid": 1})
        session.request("watch", {"pid": doc.pid, "interval_ms": 100})
        kind, method, params = session.next_message()
        assert (kind, method) == ("notification", "figures") and params["targets"][0]["pid"] == doc.pid
        assert all(error["message"] for error in errors) and len(errors) == 3
    finally:
        session.close()
