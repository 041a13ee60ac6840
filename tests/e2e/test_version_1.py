"""
Version 1 as it was first spoken, from recorded bytes: an agent and a client of 0.1.0 are served by every later qad, and
an agent of today understands a qad of then. The bytes are never changed.
"""

import socket
import threading

import msgpack
import pytest

import fake_qad
import wire
from harness import REPO, wait_until

# What an agent of 0.1.0 said, and answered to the questions below; and what qactl 0.1.0 said (about pid 7).
AGENT_HELLO = bytes.fromhex(
    "940000a568656c6c6f85a870726f746f636f6c01a4726f6c65a6746172676574a776657273696f6ea5302e312e30a46e616d"
    "65a3646f63a3706964cd6bab")
AGENT_CLASSES = bytes.fromhex(
    "940101c08da9706167655f73697a65ce00010000a77468726561647301aa68656c645f6279746573ce00010000aa75736564"
    "5f6279746573cd1900ac6361636865645f6279746573cde700ac7468726561645f6279746573cd0500ad7061727469616c5f"
    "6279746573cde200ab656d7074795f627974657300ab736c61636b5f627974657300b1756e726561636861626c655f627974"
    "657300a6616c6c6f637364a5667265657300a7636c6173736573918da46e616d65a0aa626c6f636b5f73697a6540a5706167"
    "657301aa68656c645f6279746573ce00010000aa757365645f6279746573cd1900ac6361636865645f6279746573cde700ac"
    "7468726561645f6279746573cd0500ad7061727469616c5f6279746573cde200ab656d7074795f627974657300ab736c6163"
    "6b5f627974657300ab757365645f626c6f636b7364a6616c6c6f637364a5667265657300")
AGENT_TRIM = bytes.fromhex(
    "940102c087ae72657475726e65645f6279746573cde000b168656c645f6265666f72655f6279746573ce00010000b068656c"
    "645f61667465725f6279746573cd2000b36361636865645f6265666f72655f6279746573cde700b26361636865645f616674"
    "65725f6279746573cd0700ab6475726174696f6e5f757323af746872656164735f736b697070656400")
AGENT_TOTALS = bytes.fromhex(
    "940103c08ca9706167655f73697a65ce00010000a77468726561647301aa68656c645f6279746573cd2000aa757365645f62"
    "79746573cd1900ac6361636865645f6279746573cd0700ac7468726561645f627974657300ad7061727469616c5f62797465"
    "73cd0700ab656d7074795f627974657300ab736c61636b5f627974657300b1756e726561636861626c655f627974657300a6"
    "616c6c6f637364a5667265657300")
CLIENT_HELLO = bytes.fromhex("940001a568656c6c6f83a870726f746f636f6c01a4726f6c65a6636c69656e74a776657273696f6ea5302e312e30")
CLIENT_PS = bytes.fromhex("940002a2707381a766696775726573c3")
CLIENT_STATS = bytes.fromhex("940002a5737461747382a370696407ab616c6c5f636c6173736573c2")
CLIENT_TRIM = bytes.fromhex("940002a47472696d81a370696407")

# What qad 0.1.0 asked a target.
QAD_CLASSES = bytes.fromhex("940001a5737461747382a7636c6173736573c3ab616c6c5f636c6173736573c2")
QAD_TRIM = bytes.fromhex("940002a47472696d80")
QAD_TOTALS = bytes.fromhex("940003a5737461747382a7636c6173736573c2ab616c6c5f636c6173736573c2")

TARGET_KEYS = {"pid", "uid", "command", "name", "uptime_s", "inner_pid", "cgroup", "exe", "version", "rss_bytes", "silent"}
TOTALS_KEYS = {"age_ms", "page_size", "threads", "held_bytes", "used_bytes", "cached_bytes", "thread_bytes",
               "partial_bytes", "empty_bytes", "slack_bytes", "unreachable_bytes", "allocs", "frees"}
CLASS_KEYS = {"block_size", "name", "pages", "held_bytes", "used_bytes", "cached_bytes", "thread_bytes", "partial_bytes",
              "empty_bytes", "slack_bytes", "used_blocks", "allocs", "frees"}
TRIM_KEYS = {"pid", "command", "name", "returned_bytes", "held_before_bytes", "held_after_bytes", "cached_before_bytes",
             "cached_after_bytes", "rss_before_bytes", "rss_after_bytes", "duration_us", "threads_skipped"}


class FakeSocket:
    """Where agents are expected by hand: called, it gives the connection of the next one."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen(8)
        self.socket.settimeout(wire.DEADLINE)

    def __call__(self):
        return wire.Connection(self.socket.accept()[0])


@pytest.fixture
def fake_socket(socket_dir):
    made = FakeSocket(socket_dir / "fake.sock")
    yield made
    made.socket.close()


def about(frame, pid):
    """The recorded request, about another pid."""
    assert frame.endswith(b"\xa3pid\x07") or b"\xa3pid\x07" in frame
    return frame.replace(b"\xa3pid\x07", b"\xa3pid" + msgpack.packb(pid))


def as_asked_now(frame, number):
    """The recorded response, with the id that qad chose this time."""
    return b"\x94\x01" + msgpack.packb(number) + frame[3:]


def test_an_agent_and_a_client_of_then_with_the_qad_of_now(qad):
    agent = wire.Child(qad.socket_path)
    client = wire.connect(qad.socket_path)
    try:
        agent.connection.send_bytes(AGENT_HELLO)
        kind, number, error, result = agent.connection.receive()
        assert (kind, number, error) == (1, 0, None) and result.items() >= {"protocol": 1, "pid": agent.pid}.items()
        client.send_bytes(CLIENT_HELLO)
        kind, number, error, result = client.receive()
        assert (kind, number, error) == (1, 1, None) and result["protocol"] == 1

        def ask(frame, answer):
            client.send_bytes(about(frame, agent.pid) if b"\xa3pid" in frame else frame)
            number, method, params = question(agent)
            agent.connection.send_bytes(as_asked_now(answer, number))
            kind, number, error, result = client.receive()
            assert (kind, number, error) == (1, 2, None)
            return result, method, params

        result, method, params = ask(CLIENT_PS, AGENT_TOTALS)
        assert method == "stats" and not params["classes"]
        (row,) = result["targets"]
        assert set(row) >= TARGET_KEYS | TOTALS_KEYS and row["name"] == "doc" and row["used_bytes"] == 6_400
        result, method, params = ask(CLIENT_STATS, AGENT_CLASSES)
        assert method == "stats" and params["classes"] and not params["all_classes"]
        assert set(result) >= TARGET_KEYS | TOTALS_KEYS and set(result["classes"][0]) >= CLASS_KEYS
        result, method, params = ask(CLIENT_TRIM, AGENT_TRIM)
        assert method == "trim" and params == {}
        assert set(result) >= TRIM_KEYS and result["returned_bytes"] == 57_344
    finally:
        agent.end()
        client.close()


def question(agent):
    kind, number, method, params = agent.connection.receive()
    assert kind == 0
    return number, method, params


def test_an_agent_of_now_with_a_qad_of_then(fake_socket, target):
    process = target(QA_NAME="doc", QAD_SOCKET=fake_socket.path)
    connection = fake_socket()
    kind, number, method, params = connection.receive()
    assert (kind, method) == (0, "hello") and params.items() >= {"protocol": 1, "role": "target", "name": "doc",
                                                                "pid": process.pid}.items()
    connection.send([1, number, None, {"protocol": 1, "version": "0.1.0", "pid": process.pid}])
    process.ask("malloc 1 100 64")
    answers = {}
    for frame in (QAD_CLASSES, QAD_TRIM, QAD_TOTALS):
        connection.send_bytes(frame)
        kind, number, error, result = connection.receive()
        assert kind == 1 and error is None
        answers[number] = result
    assert set(answers[1]) >= (TOTALS_KEYS - {"age_ms"}) | {"classes"} and set(answers[1]["classes"][0]) >= CLASS_KEYS
    assert set(answers[2]) >= TRIM_KEYS - {"pid", "command", "name", "rss_before_bytes", "rss_after_bytes"}
    assert "classes" not in answers[3] and answers[3]["used_bytes"] == 6_400
    process.quit()


def test_unknown_keys_methods_and_notifications_are_harmless_both_ways(qad, target, fake_socket):
    client = wire.client(qad.socket_path)
    assert client.call("ps", later={"a": [1, {"b": None}]}, figures=True) == {"targets": []}
    assert client.error_of("later") == "unknown_method"
    client.send([2, "later", {"x": 1}])
    assert client.call("health", later=1)["targets"] == 0
    made = wire.FakeTarget(qad.socket_path, later="x")
    try:
        wait_until(lambda: client.call("ps", figures=False)["targets"])
        number = client.ask("stats", pid=made.pid)
        asked, _, _ = made.question()
        made.connection.send([2, "later", {}])
        made.answer(asked, {**wire.totals_of(), "classes": [{**wire.row_of(), "later": -1.5}], "later": {"x": []}})
        assert "later" not in client.answer_to(number)
    finally:
        made.end()
    process = target(QAD_SOCKET=fake_socket.path)
    connection = fake_socket()
    number = connection.receive()[1]
    connection.send([1, number, None, {"protocol": 1, "version": "9.9", "pid": 1, "later": [1.5]}])
    connection.send([2, "later", {}])
    connection.send([0, 1, "later", {}])
    assert connection.receive()[2]["code"] == "unknown_method"
    connection.send([0, 2, "stats", {"classes": False, "later": {}}])
    assert connection.receive()[2] is None
    process.quit()


# A whole conversation, from version_1.txt: every method, notification and question.


def read_frames():
    frames, name = {}, None
    for line in (REPO / "tests" / "e2e" / "version_1.txt").read_text().splitlines():
        if line.startswith("\t"):
            frames[name] += bytes.fromhex(line)
        elif not line.startswith("#"):
            name = line
            frames[name] = b""
    return frames


FRAMES = read_frames()


def covers(now, then):
    """Whether all that was told then is told now, in the same shape; figures may differ, and more be told."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(key in now and covers(now[key], value) for key, value in then.items())
    if isinstance(then, list):
        return isinstance(now, list) and (not then or bool(now)) and all(covers(one, then[0]) for one in now if then)
    return type(now) is type(then)


def body(name):
    """The result, error or params of a recorded frame."""
    frame = msgpack.unpackb(FRAMES[name])
    return frame[3] if frame[0] == 0 else frame[2] or frame[3]


def question_name(method, params):
    """Which of the questions of then that is."""
    if method == "stats":
        return "all_classes" if params["all_classes"] else "classes" if params["classes"] else "totals"
    if method == "trim" and "pool" in params:
        return "trim_pool" if params["pool"] == "nodes" else "trim_no_pool"
    return "trim_class" if method == "trim" and "block_size" in params else method


class AgentOfThen:
    """Says what an agent of 0.1.0 said, until its process is ended."""

    def __init__(self, path):
        self.child = wire.Child(path)
        self.child.connection.send_bytes(FRAMES["agent_hello"])
        self.welcome = self.child.connection.receive()
        self.asked = []
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        try:
            while True:
                _, number, method, params = self.child.connection.receive(3600)
                name = question_name(method, params)
                self.asked.append((name, params))
                self.child.connection.send_bytes(as_asked_now(FRAMES[f"agent_{name}"], number))
        except (wire.Closed, OSError):
            pass

    def end(self):
        if self.thread.is_alive():
            self.child.connection.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.child.end()


class ClientOfThen:
    def __init__(self, path, pid):
        self.connection = wire.connect(path)
        self.pid = pid
        self.told = []
        assert covers(self.ask("client_hello"), body("to_client_hello"))

    def ask(self, name):
        """Its result or error; what is told meanwhile goes to told."""
        frame = FRAMES[name]
        self.connection.send_bytes(about(frame, self.pid) if b"\xa3pid\x07" in frame else frame)
        while True:
            kind, *rest = self.connection.receive()
            if kind == 1:
                assert rest[0] == msgpack.unpackb(frame)[1]
                return rest[1] or rest[2]
            self.told.append(rest)

    def wait_for(self, method):
        while method not in [one for one, _ in self.told]:
            self.told.append(self.connection.receive()[1:])
        return next(params for one, params in self.told if one == method)


@pytest.fixture
def spoken(qad):
    agent = AgentOfThen(qad.socket_path)
    client = ClientOfThen(qad.socket_path, agent.child.pid)
    yield agent, client
    agent.end()
    client.connection.close()


def test_a_whole_conversation_of_then_with_the_qad_of_now(spoken):
    agent, client = spoken
    assert agent.welcome[1] == 0 and covers(agent.welcome[3], body("to_agent_hello"))
    for name in ("ps", "who", "stats", "map", "trim", "trim_class", "trim_pool", "trim_no_pool", "health", "none"):
        answer = client.ask(f"client_{name}")
        assert covers(answer, body(f"to_client_{name}")), (name, answer)
    assert client.ask("client_none")["code"] == "no_target" and client.ask("client_trim_no_pool")["code"] == "no_class"
    assert [name for name, _ in agent.asked] == ["totals", "classes", "map", "trim", "trim_class", "trim_pool", "trim_no_pool",
                                                 "trim_no_pool"]
    assert all(params.items() >= body(f"qad_{name}").items() for name, params in agent.asked)
    answer = client.ask("client_trim_all")
    assert covers(answer, {"targets": [body("to_client_trim")], "returned_bytes": 0, "not_allowed": 0})
    assert agent.asked[-1] == ("trim", {"keep_bytes": 4_096})
    assert client.ask("client_watch").items() >= {"watch": 1, "interval_ms": 200}.items()
    told = client.wait_for("figures")
    assert covers(told, body("to_client_figures_classes")) and len(told["targets"][0]["classes"]) == 3
    assert client.ask("client_unwatch") == {"watch": 1}
    client.told.clear()
    assert covers(client.ask("client_watch_all"), body("to_client_watch_all"))
    assert covers(client.wait_for("figures"), body("to_client_figures"))
    for name in ("history", "history_1", "trims"):
        assert covers(client.ask(f"client_{name}"), body(f"to_client_{name}")), name
    client.ask("client_watch")
    agent.end()
    assert covers(client.wait_for("unwatched"), body("to_client_unwatched"))


def test_a_qad_of_then_asks_the_agent_of_now(fake_socket, target):
    process = target(QA_NAME="doc", QAD_SOCKET=fake_socket.path)
    connection = fake_socket()
    assert covers(connection.receive()[3], body("agent_hello"))
    connection.send_bytes(FRAMES["to_agent_hello"])
    process.ask("malloc 1 100 64")
    for name in ("totals", "classes", "all_classes", "map", "trim_class", "trim", "trim_no_pool"):
        connection.send_bytes(FRAMES[f"qad_{name}"])
        _, number, error, result = connection.receive()
        then = body("agent_classes" if name == "all_classes" else f"agent_{name}")
        assert number == msgpack.unpackb(FRAMES[f"qad_{name}"])[1] and covers(error or result, then), name
        assert (error or {}).get("code") == then.get("code")
    process.quit()


class QadOfThen(fake_qad.FakeQad):
    """Answers a client what a qad of 0.1.0 did. is_late: its target did not answer in time."""

    is_late = False

    def _answer(self, peer, kind, number, method, params):
        self.asked.append(method)
        name = method
        if method == "ps":
            name = "ps" if params["figures"] else "who"
        elif method == "stats":
            name = "none" if params["pid"] != 7 else "timeout" if self.is_late else "stats"
        elif method == "trim":
            name = question_name(method, {key: value for key, value in params.items() if key != "pid"})
        elif method == "history":
            name = "trims" if "from_s" in params else "history" if params["step_s"] == 10 else "history_1"
        elif method == "watch":
            name = "watch" if "pid" in params else "watch_all"
        answer = as_asked_now(FRAMES[f"to_client_{name}"], number)
        if method == "watch" and "pid" in params:
            answer += FRAMES["to_client_figures_classes"] + FRAMES["to_client_unwatched"]
        elif method == "watch":
            answer += FRAMES["to_client_figures"]
        peer.sendall(answer)


@pytest.fixture
def qad_of_then(socket_path):
    made = QadOfThen(socket_path)
    yield made
    made.close()


def test_a_qad_of_then_with_the_qactl_of_now(qad_of_then, qactl):
    (row,) = qactl("ps", "--json").json
    assert row.items() >= body("to_client_ps")["targets"][0].items()
    assert qactl("stats", "doc", "--json").json.items() >= body("to_client_stats").items()
    rows = sorted(body("to_client_map")["classes"], key=lambda one: one["block_size"])
    assert qactl("map", "doc", "--json").json["classes"] == rows and len(rows) == 2
    for options, name in (((), "trim"), (("--class", "48"), "trim_class"), (("--pool", "nodes", "--keep", "4K"), "trim_pool")):
        assert qactl("trim", "doc", "--json", *options).json == body(f"to_client_{name}")
    assert qactl("health", "--json").json == body("to_client_health")
    watched = qactl("watch", "--json", "--classes", "doc")
    assert watched.code == 67 and watched.json["classes"] == body("to_client_figures_classes")["targets"][0]["classes"]
    assert qactl("watch", "--json", "-n", "1").json["used_bytes"] == row["used_bytes"]
    assert "docview (doc)" in qactl("plot", "doc").out and qactl("doctor", "doc").code == 0
    assert (qactl("trim", "--pool", "nix", "doc").code, qactl("stats", str(1 << 30)).code) == (67, 67)
    qad_of_then.is_late = True
    late = qactl("stats", "doc", "--json")
    assert late.code == 75 and late.json["used_bytes"] == body("to_client_timeout")["last"]["used_bytes"]
    assert set(qad_of_then.asked) == {"hello", "ps", "stats", "map", "trim", "health", "watch", "history"}
