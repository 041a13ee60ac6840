"""A client of qad in Python, written from docs/PROTOCOL.md: the same as client.mjs. Usage: client.py SOCKET PID"""

import json
import socket
import sys

import msgpack


class Client:
    def __init__(self, path, on_notification):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.unpacker = msgpack.Unpacker()
        self.on_notification = on_notification
        self.last_id = 0

    def frame(self):
        while True:
            for frame in self.unpacker:
                return frame
            data = self.socket.recv(65_536)
            if not data:
                raise EOFError
            self.unpacker.feed(data)

    def ask(self, method, **params):
        self.last_id += 1
        self.socket.sendall(msgpack.packb([0, self.last_id, method, params]))
        while True:
            kind, *rest = self.frame()
            if kind == 2:
                self.on_notification(*rest)
            elif rest[0] == self.last_id:
                if rest[1] is not None:
                    raise RuntimeError(rest[1]["code"])
                return rest[2]


def show(what, value):
    print(json.dumps({"what": what, "value": value}), flush=True)


def main(path, pid):
    client = Client(path, show)
    show("hello", client.ask("hello", protocol=1, role="client", version="py"))
    show("ps", client.ask("ps"))
    show("who", client.ask("ps", figures=False))
    show("stats", client.ask("stats", pid=pid))
    show("all classes", client.ask("stats", pid=pid, all_classes=True))
    show("map", client.ask("map", pid=pid))
    show("trim", client.ask("trim", pid=pid, keep_bytes=4096))
    show("trim class", client.ask("trim", pid=pid, block_size=64))
    show("trim all", client.ask("trim", all=True))
    watch = client.ask("watch", pid=pid, interval_ms=100, classes=True)["watch"]
    for _ in range(3):
        _, method, params = client.frame()
        show(method, params)
    show("unwatch", client.ask("unwatch", watch=watch))
    show("history", client.ask("history", pid=pid))
    show("tens", client.ask("history", pid=pid, step_s=10, from_s=60, to_s=0))
    show("nothing", client.ask("history", pid=pid, from_s=1, to_s=2))
    show("health", client.ask("health"))
    for method, params in (("stats", {"pid": 1 << 30}), ("reboot", {}), ("stats", {}), ("trim", {"pid": pid, "pool": "none"}),
                           ("trim", {"pid": pid, "pool": "none", "block_size": 16}), ("unwatch", {"watch": watch}),
                           ("watch", {"interval_ms": 99}), ("history", {"pid": pid, "step_s": 5})):
        try:
            client.ask(method, **params)
        except RuntimeError as error:
            show("error", str(error))


main(sys.argv[1], int(sys.argv[2]))
