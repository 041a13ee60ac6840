"""Asks qad over HTTP, as a browser or Prometheus does, and byte by byte where a test wants to be rude."""

import http.client
import json
import socket
import threading

from harness import DEADLINE, wait_until


class Answer:
    """Status, headers (small letters) and body of one answer."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        assert self.headers["content-type"] == "application/json", self
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:2000]!r}"


class Reader:
    """One connection, kept alive between requests."""

    def __init__(self, address):
        self.address = address
        self.connection = http.client.HTTPConnection(*address, timeout=DEADLINE)

    def ask(self, path, method="GET", body=None, **headers):
        """Header names are given with _ for -."""
        self.send(path, method, body, **headers)
        return self.answer()

    def send(self, path, method="GET", body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, body, headers)

    def answer(self):
        return Answer(self.connection.getresponse())

    def close(self):
        self.connection.close()


def address_of(qad):
    """Where a qad that was started with --http listens."""
    return qad.http


def get(address, path="/metrics", method="GET", body=None, **headers):
    reader = Reader(address)
    try:
        return reader.ask(path, method, body, **headers)
    finally:
        reader.close()


def raw(address, data=b""):
    """A connection that has sent these bytes and no more."""
    sock = socket.create_connection(address, timeout=DEADLINE)
    sock.sendall(data)
    return sock


def read_all(sock):
    """Everything until the other end closes."""
    data = b""
    while True:
        try:
            part = sock.recv(1 << 16)
        except ConnectionResetError:
            part = b""
        if not part:
            return data
        data += part


def later(function, *arguments, **more):
    """Runs it beside the test; the returned function waits for what it gave."""
    result = []
    thread = threading.Thread(target=lambda: result.append(function(*arguments, **more)), daemon=True)
    thread.start()

    def wait():
        thread.join(DEADLINE)
        assert result, "no answer came"
        return result[0]

    return wait


def wait_for_targets(qad, *targets):
    pids = {target.pid for target in targets}
    wait_until(lambda: pids == {row["pid"] for row in qad.client.call("ps", figures=False)["targets"]}, what="targets")
