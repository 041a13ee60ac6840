"""A client and targets of qad made by hand, frame by frame, from docs/PROTOCOL.md alone."""

import array
import contextlib
import gc
import os
import select
import signal
import socket
import time

import msgpack

DEADLINE = 30.0
REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2
PARTS = ("thread_bytes", "partial_bytes", "empty_bytes", "slack_bytes")


class Closed(Exception):
    """The other end closed the connection."""


class RemoteError(Exception):
    """An answer that is an error; its map in .map, its code in .code."""

    def __init__(self, error):
        super().__init__(error)
        self.map = error
        self.code = error["code"]


class Connection:
    """Sends and receives frames over a connected socket."""

    def __init__(self, sock):
        self.socket = sock
        self.socket.settimeout(DEADLINE)
        self.unpacker = msgpack.Unpacker(raw=False, max_buffer_size=64 << 20)
        self.last_id = 0
        self.early = []  # notifications that came before an answer that was waited for

    def send_bytes(self, data):
        self.socket.sendall(data)

    def send(self, frame):
        self.send_bytes(msgpack.packb(frame))

    def receive(self, timeout=DEADLINE):
        """The next frame. Closed at the end of the stream, TimeoutError after timeout seconds."""
        return self.early.pop(0) if self.early else self._read(timeout)

    def _read(self, timeout):
        deadline = time.monotonic() + timeout
        while True:
            for frame in self.unpacker:
                return frame
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data = self.socket.recv(1 << 20)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Closed
            self.unpacker.feed(data)

    def has_bytes(self):
        return bool(select.select([self.socket], [], [], 0)[0])

    def is_closed(self, timeout=DEADLINE):
        """Waits for the end of the stream; frames before it are dropped. False when it does not come."""
        try:
            while True:
                self.receive(timeout)
        except Closed:
            return True
        except TimeoutError:
            return False

    def ask(self, method, params=None, **more):
        """Sends a request and returns its id."""
        self.last_id += 1
        self.send([REQUEST, self.last_id, method, {**(params or {}), **more}])
        return self.last_id

    def answer_to(self, number, timeout=DEADLINE):
        """The result of that request; responses to others are an AssertionError. RemoteError when it is an error."""
        frame = self._read(timeout)
        while frame[0] == NOTIFICATION:
            self.early.append(frame)
            frame = self._read(timeout)
        kind, answered, error, result = frame
        assert (kind, answered) == (RESPONSE, number)
        assert (error is None) != (result is None)
        if error is not None:
            raise RemoteError(error)
        return result

    def call(self, method, params=None, timeout=DEADLINE, **more):
        return self.answer_to(self.ask(method, params, **more), timeout)

    def error_of(self, method, params=None, timeout=DEADLINE, **more):
        """The error's code; AssertionError when there is none."""
        try:
            result = self.call(method, params, timeout, **more)
        except RemoteError as error:
            return error.code
        raise AssertionError(f"no error but {result}")

    def close(self):
        self.socket.close()


def _text_of_size(size):
    return "x" * (size - (1 if size <= 32 else 2 if size <= 257 else 3))


def frame_of_size(frame_bytes, build):
    """build(pad) packed, with a list of texts as pad that makes it just so many bytes."""
    pad = [""] * 16  # from here on the list's header has its final size
    missing = frame_bytes - len(msgpack.packb(build(pad)))
    while missing > 0:
        size = min(missing, 4000)
        size -= size in (33, 258)  # no text has these sizes
        pad.append(_text_of_size(size))
        missing -= size
    data = msgpack.packb(build(pad))
    assert len(data) == frame_bytes
    return data


def connect(path):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(DEADLINE)
    sock.connect(str(path))
    return Connection(sock)


def client(path):
    """A connection that has said hello as a client."""
    connection = connect(path)
    connection.call("hello", protocol=1, role="client", version="test")
    return connection


def figures_of(used=24_000, thread=1_000, partial=2_000, empty=65_536, slack=536):
    cached = thread + partial + empty + slack
    return {"held_bytes": used + cached, "used_bytes": used, "cached_bytes": cached, "thread_bytes": thread,
            "partial_bytes": partial, "empty_bytes": empty, "slack_bytes": slack}


def totals_of(**parts):
    return {"page_size": 65_536, "threads": 1, **figures_of(**parts), "unreachable_bytes": 0, "allocs": 2_000,
            "frees": 1_000}


def row_of(block_size=24, name="", pages=2, **parts):
    return {"block_size": block_size, "name": name, "pages": pages, **figures_of(**parts), "used_blocks": 1_000,
            "allocs": 2_000, "frees": 1_000}


def trim_of(returned=65_536):
    return {"returned_bytes": returned, "held_before_bytes": 200_000, "held_after_bytes": 200_000 - returned,
            "cached_before_bytes": 100_000, "cached_after_bytes": 100_000 - returned, "duration_us": 12,
            "threads_skipped": 0}


def stats_of(params, **parts):
    """What a good target answers to stats."""
    result = totals_of(**parts)
    if params.get("classes"):
        result["classes"] = [row_of(**parts)]
    return result


def _become(uid, gid, groups):
    if groups is not None:
        os.setgroups(groups)
    if uid is not None:
        os.setgid(uid if gid is None else gid)
        os.setuid(uid)


def _send_descriptor(channel, descriptor):
    channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))])


def _receive_descriptor(channel):
    data, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(4))
    assert data == b"x" and ancillary, "the child could not connect"
    return array.array("i", ancillary[0][2])[0]


class Child:
    """A forked process that connects, as uid (and gid) if given, and then waits to be killed: qad's peer is it."""

    def __init__(self, path, uid=None, gid=None, groups=None, run=None):
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            gc.disable()  # what is left of the test's connections would close numbers that are other files' here
            with contextlib.suppress(BaseException):
                os.dup2(theirs.detach(), 3)
                os.closerange(4, 65_536)  # nothing of the test's other connections stays open here
                theirs = socket.socket(fileno=3)
                _become(uid, gid, groups)
                sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                sock.connect(str(path))
                if run:
                    run(Connection(sock))
                else:
                    _send_descriptor(theirs, sock.fileno())
                    sock.close()
                    while True:
                        signal.pause()
            os._exit(0)
        theirs.close()
        self.connection = None
        if not run:
            with ours:
                self.connection = Connection(socket.socket(fileno=_receive_descriptor(ours)))
        else:
            ours.close()

    def greet(self, **hello):
        """Says hello. Who is not welcome does not stay behind: nobody would know of it."""
        try:
            return self.connection.call("hello", protocol=1, **hello)
        except BaseException:
            self.end()
            raise

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)

    def end(self):
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        if self.connection:
            self.connection.close()


class FakeTarget(Child):
    """A process that is a target for qad, whose frames the test reads and writes itself."""

    def __init__(self, path, uid=None, **hello):
        super().__init__(path, uid=uid)
        self.hello = self.greet(role="target", version="0.1.0", **hello)

    def question(self, timeout=DEADLINE):
        """The next question as (id, method, params)."""
        kind, number, method, params = self.connection.receive(timeout)
        assert kind == REQUEST
        return number, method, params

    def answer(self, number, result):
        self.connection.send([RESPONSE, number, None, result])

    def answer_stats(self, **parts):
        """Takes a question that must be stats, and answers it."""
        number, method, params = self.question()
        assert method == "stats"
        self.answer(number, stats_of(params, **parts))
        return params


def serve(connection, hello=None, parts=None, rows=None):
    """A target's whole life: says hello, then answers until its connection ends."""
    connection.call("hello", protocol=1, role="target", version="0.1.0", **(hello or {}))
    while True:
        _, number, method, params = connection.receive(3600)
        if method == "map":
            result = {"page_size": 65_536, "classes": []}
        else:
            result = trim_of() if method == "trim" else stats_of(params, **(parts or {}))
        if rows and params.get("classes"):
            result["classes"] = rows
        connection.send([RESPONSE, number, None, result])


class ServingTarget(Child):
    """A process of its own that answers by itself, until it is killed or stopped."""

    def __init__(self, path, uid=None, parts=None, rows=None, **hello):
        super().__init__(path, uid=uid, run=lambda connection: serve(connection, hello, parts, rows))


class ClientOf(Child):
    """A client process of another user; the test uses its connection."""

    def __init__(self, path, uid=None, gid=None, groups=None):
        super().__init__(path, uid=uid, gid=gid, groups=groups)
        self.greet(role="client")
