"""A qad made of a bare socket, for tests of the agent. What it says and does not say is the test's business."""

import os
import select
import socket

import msgpack
import pytest

from harness import DEADLINE


class Server:
    """Listens where a qad would."""

    def __init__(self, path, in_place=True):
        self.path = str(path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        bound = self.path if in_place else self.path + ".new"
        self.listener.bind(bound)
        self.listener.listen(16)
        self.listener.settimeout(DEADLINE)
        if not in_place:
            os.rename(bound, self.path)
        self.peers = []

    def accept(self):
        peer, _ = self.listener.accept()
        self.peers.append(Peer(peer))
        return self.peers[-1]

    def welcome(self):
        """Accepts and answers hello."""
        peer = self.accept()
        peer.answer(peer.hello())
        return peer

    def is_asked(self, seconds=0.0):
        return bool(select.select([self.listener], [], [], seconds)[0])

    def close(self):
        for peer in self.peers:
            peer.close()
        self.listener.close()
        if os.path.lexists(self.path):
            os.unlink(self.path)


class Peer:
    """One connection of an agent."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.settimeout(DEADLINE)
        self.unpacker = msgpack.Unpacker()

    def receive(self):
        """The next frame, or None at the end of the connection."""
        while True:
            for frame in self.unpacker:
                return frame
            try:
                data = self.socket.recv(65_536)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.unpacker.feed(data)

    def hello(self):
        frame = self.receive()
        assert frame[0] == 0 and frame[2] == "hello", frame
        assert frame[3]["protocol"] == 1 and frame[3]["role"] == "target", frame
        return frame

    def answer(self, request):
        self.send([1, request[1], None, {"protocol": 1, "version": "0", "pid": 1}])

    def send(self, value):
        self.socket.sendall(msgpack.packb(value))

    def ask(self, method, params=None, number=7):
        self.send([0, number, method, {} if params is None else params])
        return self.receive()

    def close(self):
        self.socket.close()


@pytest.fixture
def server_at():
    made = []

    def make(path, **how):
        made.append(Server(path, **how))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def server(server_at, socket_path):
    return server_at(socket_path)
