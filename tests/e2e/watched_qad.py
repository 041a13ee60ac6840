"""A fake qad that tells of its targets again and again, and qactl top in a real terminal that watches it."""

import re
import threading

import msgpack
import pytest

import fake_qad
from fake_qad import Error, FakeQad
from harness import wait_until
from terminal import Terminal

TICK_S = 0.05


class WatchedQad(FakeQad):
    """A fake qad whose watches tell of self.targets (by pid) again and again."""

    def __init__(self, path, targets, rows=(), **answers):
        self.targets = {one["pid"]: one for one in targets}
        self.rows = list(rows)
        self.watches = {}
        self.lock = threading.RLock()
        self.closing = threading.Event()
        super().__init__(path, **{"history": self.history, "unwatch": self.unwatch, "watch": None, **answers})
        self.ticker = threading.Thread(target=self._tick, daemon=True)
        self.ticker.start()

    def history(self, params):
        empty = {f"{key}_bytes": [] for key in ("held", "used", "cached", "thread", "partial", "empty", "slack", "rss")}
        return {"pid": params["pid"], "step_s": 1, "points": 0, "first_age_s": 0, "first_time_s": 0, "trims": [], **empty}

    def unwatch(self, params):
        self.watches.pop(params["watch"], None)
        return {"watch": params["watch"]}

    def _answer(self, peer, kind, number, method, params):
        with self.lock:
            if method == "watch":
                watch = len(self.asked) + 1
                if "pid" not in params or params["pid"] in self.targets:
                    self.watches[watch] = (peer, params)
                self.answers["watch"] = lambda params: self._watch(params, watch)
            super()._answer(peer, kind, number, method, params)
            self._tell()

    def _watch(self, params, watch):
        if "pid" in params and params["pid"] not in self.targets:
            raise Error("no_target", "no such target")
        return {"watch": watch, "interval_ms": params["interval_ms"]}

    def _tell(self):
        for watch, (peer, params) in list(self.watches.items()):
            shown = [self.targets[params["pid"]]] if "pid" in params else list(self.targets.values())
            if params.get("classes"):
                shown = [{**one, "classes": self.rows} for one in shown]
            self._notify(peer, "figures", watch=watch, targets=shown, left_out=0, dropped=0)

    def _notify(self, peer, method, **params):
        try:
            peer.sendall(msgpack.packb([2, method, params]))
        except OSError:
            self.watches = {watch: one for watch, one in self.watches.items() if one[0] is not peer}

    def _tick(self):
        while not self.closing.wait(TICK_S):
            with self.lock:
                self._tell()

    def change(self, which, **figures):
        with self.lock:
            self.targets[which] = {**self.targets[which], **figures}

    def remove(self, pid):
        with self.lock:
            del self.targets[pid]
            for watch, (peer, params) in list(self.watches.items()):
                if params.get("pid") == pid:
                    self._notify(peer, "unwatched", watch=watch, pid=pid, code="gone", message="it ended")
                    del self.watches[watch]

    def of(self, method):
        with self.lock:
            return [params for asked, params in self.asked if asked == method]

    def close(self):
        self.closing.set()
        self.ticker.join(10)
        super().close()


def process(pid, command, cached=0, used=24_000, **more):
    return {**fake_qad.target(pid=pid, command=command), **fake_qad.totals(used=used, empty=cached, thread=0, partial=0,
                                                                         slack=0), **more}


THREE = [process(101, "docview", cached=3 << 20, name="editor"), process(102, "web", cached=2 << 20, used=9 << 20),
         process(103, "batch", cached=1 << 20, used=5 << 20)]
ROWS = [fake_qad.class_row(24, used=24_000), fake_qad.class_row(4096, used=40_960, used_blocks=10, pages=7),
        fake_qad.class_row(64, name="letters", used=64_000)]


@pytest.fixture
def watched(socket_path):
    made = []

    def make(targets=THREE, rows=ROWS, **answers):
        made.append(WatchedQad(socket_path, targets, rows, **answers))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def top(socket_dir, socket_path):
    """Starts qactl top in a terminal, which has waited for some text, else for the first processes."""
    made = []

    def start(*words, wait=(), **options):
        folder = socket_dir / f"terminal-{len(made)}"
        folder.mkdir()
        made.append(Terminal(folder, ["top", *words], QAD_SOCKET=socket_path, **options))
        if wait:
            made[-1].wait(*wait)
        else:
            wait_until(lambda: pids(made[-1].lines()), what="the first processes")
        return made[-1]

    yield start
    for one in made:
        one.end()


def pids(lines):
    return [int(line.split()[0]) for line in lines if re.match(r" *\d+ ", line)]
