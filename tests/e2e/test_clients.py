"""Clients that share no code with proto/, each written from docs/PROTOCOL.md, against the real qad and a real target."""

import json
import subprocess
import sys

import pytest
from pynvim import msgpack_rpc

import npm
from conftest import REPO, assert_sums, wait_until

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
    """The JavaScript client with what its lock file says; after the first time without the network."""
    return ["node", npm.installed(CLIENTS) / "client.mjs"]


@pytest.fixture(params=["python", "javascript"])
def command(request):
    if request.param == "python":
        return [sys.executable, CLIENTS / "client.py"]
    return request.getfixturevalue("javascript")


def test_a_client_written_from_the_document(qad, doc, command, qactl):
    done = subprocess.run([*map(str, command), str(qad.socket_path), str(doc.pid)], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["what"] for line in lines] == ["hello", "ps", "stats", "trim", "figures", "figures", "figures", "unwatch",
                                                "history", "health", "error", "error", "error"]
    hello, ps, stats, trim, *figures = (line["value"] for line in lines[:7])
    assert hello["protocol"] == 1
    assert [row["name"] for row in ps["targets"]] == ["doc"]
    assert_sums(stats)
    assert stats["pid"] == doc.pid and stats["used_bytes"] == 400 * 64
    assert trim["cached_after_bytes"] >= 4_096 and trim["pid"] == doc.pid
    assert all(one["targets"][0]["used_bytes"] == 400 * 64 for one in figures)
    history, health = lines[8]["value"], lines[9]["value"]
    assert history["trims"][-1]["keep_bytes"] == 4_096 and history["points"] >= 1
    assert health["targets"] == 1 and health["limits"]["connections"] == 8_192
    assert [line["value"] for line in lines[10:]] == ["no_target", "unknown_method", "bad_request"]


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
