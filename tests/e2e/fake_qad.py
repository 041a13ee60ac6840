"""A qad made of answers: what qactl does with each can be tested without bringing a real qad into that state."""

import socket
import threading

import msgpack
import pytest

PARTS = ("thread_bytes", "partial_bytes", "empty_bytes", "slack_bytes")


class Error(Exception):
    """An answer that is an error; extra are further keys of its map."""

    def __init__(self, code, message="what qad says", **extra):
        super().__init__(code)
        self.map = {"code": code, "message": message, **extra}


class Raw(Exception):
    """Bytes instead of an answer; then the connection is closed if close."""

    def __init__(self, data, close=False):
        super().__init__()
        self.data = data
        self.close = close


class Silence(Exception):
    """No answer at all."""


def figures(used=24_000, thread=1_000, partial=2_000, empty=65_536, slack=536):
    cached = thread + partial + empty + slack
    return {"held_bytes": used + cached, "used_bytes": used, "cached_bytes": cached, "thread_bytes": thread,
            "partial_bytes": partial, "empty_bytes": empty, "slack_bytes": slack}


def totals(**parts):
    return {"page_size": 65_536, "threads": 1, **figures(**parts), "unreachable_bytes": 0, "allocs": 2_000,
            "frees": 1_000, "age_ms": 0}


def target(pid=4242, command="docview", name="", uid=0, **more):
    return {"pid": pid, "uid": uid, "command": command, "name": name, "uptime_s": 75, "inner_pid": pid,
            "cgroup": "/user.slice", "exe": f"/usr/bin/{command}", "version": "0.1.0", "rss_bytes": 5_000_000,
            "silent": False, **more}


def class_row(block_size=24, pages=2, used_blocks=1_000, name="", **parts):
    return {"block_size": block_size, "name": name, "pages": pages, **figures(**parts), "used_blocks": used_blocks,
            "allocs": 2_000, "frees": 1_000}


def stats_of(one, rows):
    """A result of stats whose totals are the sums of the rows."""
    sums = {key: sum(row[key] for row in rows) for key in figures()}
    return {**one, **totals(), **sums, "classes": rows}


def trim_of(one, returned=65_536, **more):
    return {"pid": one["pid"], "command": one["command"], "name": one["name"], "returned_bytes": returned,
            "held_before_bytes": 100_000, "held_after_bytes": 100_000 - returned, "cached_before_bytes": 70_000,
            "cached_after_bytes": 70_000 - returned, "rss_before_bytes": 5_000_000,
            "rss_after_bytes": 5_000_000 - returned, "duration_us": 1_234, "threads_skipped": 0, **more}


class FakeQad:
    """
    Listens until closed. answers maps a method to a function of params, which returns a result or raises one of the
    above.
    """

    def __init__(self, path, **answers):
        self.answers = {"hello": lambda params: {"protocol": 1, "version": "0.1.0", "pid": 1}, **answers}
        self.path = str(path)
        self.asked = []  # (method, params), in order
        self.errors = "strict"  # of strings that are encoded
        self.garbage = []  # what came and is no request
        self.most_waiting = 0  # requests that came before an answer was given; the last of them is answered first
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen(16)
        self.peers = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    def _accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.peers.append(peer)
            self.threads.append(threading.Thread(target=self._serve, args=(peer,), daemon=True))
            self.threads[-1].start()

    def _serve(self, peer):
        unpacker = msgpack.Unpacker()
        waiting = []
        try:
            while data := peer.recv(65_536):
                unpacker.feed(data)
                for frame in unpacker:
                    (waiting if isinstance(frame, list) else self.garbage).append(frame)
                self.most_waiting = max(self.most_waiting, len(waiting))
                while waiting:
                    self._answer(peer, *waiting.pop())
        except OSError:
            pass

    def _answer(self, peer, kind, number, method, params):
        assert kind == 0
        self.asked.append((method, params))
        try:
            result = self.answers[method](params)
            peer.sendall(msgpack.packb([1, number, None, result], unicode_errors=self.errors))
        except Error as error:
            peer.sendall(msgpack.packb([1, number, error.map, None]))
        except Raw as raw:
            peer.sendall(raw.data)
            if raw.close:
                peer.shutdown(socket.SHUT_RDWR)
        except Silence:
            pass

    def close(self):
        for one in [self.listener, *self.peers]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        for thread in self.threads:
            thread.join(10)
            assert not thread.is_alive()


DOCVIEW = target(name="editor")
ROWS = [class_row(24), class_row(4096, used_blocks=5)]


@pytest.fixture
def fake(socket_path):
    """Makes a fake qad that knows docview, unless answers say otherwise."""
    made = []

    def make(path=socket_path, **answers):
        usual = {"ps": lambda params: {"targets": [{**DOCVIEW, **totals()}]},
                 "stats": lambda params: stats_of(DOCVIEW, ROWS),
                 "trim": lambda params: trim_of(DOCVIEW)}
        made.append(FakeQad(path, **{**usual, **answers}))
        return made[-1]

    yield make
    for one in made:
        one.close()


def raising(error):
    """An answer that is always this error."""
    def answer(params):
        raise error
    return answer
