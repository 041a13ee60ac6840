"""qactl top in a real terminal: what is on the screen, what keys and the mouse do, and how it leaves."""

import contextlib
import fcntl
import os
import pty
import re
import resource
import select
import signal
import struct
import termios
import threading

import msgpack
import pytest

import fake_qad
from conftest import BUILD, IS_SANITIZED, clean_environment, wait_until
from fake_qad import Error, FakeQad
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


# The screen


@pytest.mark.parametrize("width, height", [(80, 24), (40, 10), (200, 60)])
def test_500_processes_at_every_size(watched, top, width, height):
    watched([process(1000 + i, f"program-{i}", cached=i << 20) for i in range(500)])
    screen = top(width=width, height=height, wait=("1499", "1498"))
    wait_until(lambda: len(pids(screen.lines())) >= height - 6, what="a full screen")
    lines = screen.lines()
    assert all(len(line) <= width for line in lines) and len(lines) == height
    assert "500 processes" in lines[0]
    shown = pids(lines)
    assert shown == list(range(1499, 1499 - len(shown), -1))
    screen.keys("End")
    screen.wait_selected("1000")
    wait_until(lambda: pids(screen.lines()) == list(range(1000 + len(shown) - 1, 999, -1)), what="the last rows")
    screen.keys("PageUp", "Up")
    screen.wait_selected(str(1000 + len(shown)))
    screen.keys("Home", "PageDown", "Down")
    screen.wait_selected(str(1499 - len(shown)))
    screen.keys("q")
    assert screen.status() == 0


def test_columns_bars_and_rates(watched, top):
    qad = watched([process(101, "docview", used=3 << 20, cached=1 << 20)])
    screen = top(width=200)
    titles = screen.lines()[3].split()
    assert titles[:2] == ["PID", "USER"] and titles[-3:] == ["THREADS", "STATE", "COMMAND"]
    first = re.compile(r"█{18}░{6} +4.0M +3.0M +1.0M +25.0 +4.8M +0 +0 +0 ")
    wait_until(lambda: first.search(screen.lines()[4]), what="the first rates")
    row = screen.lines()[4]
    assert re.search(r" [▁█]+ +1 ok +docview", row), row
    assert screen.lines()[2] == "█" * 150 + "░" * 50
    stop = threading.Event()

    def work():
        allocs = 2_000
        while not stop.wait(TICK_S / 2):
            allocs += 1_000_000
            qad.change(101, allocs=allocs, frees=allocs // 2)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        wait_until(lambda: re.search(r"4\.8M +[\d.]+M +[\d.]+[kM]? +0 ", screen.lines()[4]), what="rates")
    finally:
        stop.set()
        worker.join()


def test_the_line_of_the_last_minutes_comes_from_history(watched, top):
    def history(params):
        assert params["step_s"] == 1 and params["from_s"] == 300
        columns = {f"{key}_bytes": [None] * 300 for key in ("held", "used", "cached", "thread", "partial", "empty",
                                                            "slack", "rss")}
        for i in range(100, 200):
            columns["used_bytes"][i], columns["cached_bytes"][i], columns["rss_bytes"][i] = 100 << 20, 0, 1 << 20
        return {"pid": params["pid"], "step_s": 1, "points": 300, "first_age_s": 299, "first_time_s": 0, "trims": [],
                **columns}

    qad = watched([process(101, "docview", used=50 << 20)], history=history)
    screen = top(width=200)
    trend = re.compile(r" (█{9,11}) +[▃▄▅] ")
    wait_until(lambda: trend.search(screen.lines()[4]), what="the history")
    screen.keys("Enter")
    wait_until(lambda: re.search(r"^used +50.0 MiB +█{19,21} +[▃▄▅]", screen.lines()[2]), what="it in the process")
    asked = len(qad.of("history"))
    screen.keys("Escape")  # what others saw meanwhile
    wait_until(lambda: len(qad.of("history")) == asked + 1, what="another question")


def test_a_process_has_its_classes_and_pools(watched, top):
    watched()
    screen = top()
    screen.keys("Enter")
    lines = screen.wait("docview (editor), pid 101", "letters")
    titles = next(line for line in lines if "BLOCK" in line)
    assert re.split(r" {1,}", titles.strip()) == ["BLOCK", "PAGES", "HELD", "USED", "CACHED", "CACHED%", "BLOCKS", "USED",
                                                  "POOL"]
    assert any(re.search(r"^ +4096 +7 +107.5 KiB +40.0 KiB +67.5 KiB +62.8 +10$", line) for line in lines), lines
    for part in ("held", "used", "cached", "rss"):
        assert any(line.startswith(part) for line in lines)
    assert "thread 0 B, partial 0 B, empty 3.0 MiB, slack 0 B" in "\n".join(lines)
    screen.text("/")
    screen.text("letters")
    screen.keys("Enter")
    screen.wait("letters", without=["4096"])
    screen.keys("Escape")
    screen.wait("4096")
    screen.keys("Escape")
    screen.wait("3 processes")
    screen.text("1")
    screen.wait("BLOCK")
    screen.text("1")
    screen.wait("3 processes")


def test_a_target_of_the_command_line_is_opened_at_once(watched, top, qactl):
    fakes = watched(ps=lambda params: {"targets": THREE})
    screen = top("web", wait=("web, pid 102", "letters"))
    screen.keys("Escape")
    screen.wait("3 processes")
    assert [params for params in fakes.of("watch") if "pid" not in params]
    assert qactl("top", "nobody").code == 67
    gone = top("4711", wait=("it has ended",))
    assert gone.status() == 67 and "no such target: pid 4711" in gone.errors.read_text()


@pytest.mark.plain_only
def test_help_tells_every_key(watched, top):
    watched()
    screen = top()
    screen.text("h")
    text = "\n".join(screen.wait("qactl top: keys", "trim the process"))
    for key in ("Enter", "PgUp", "Home", "Esc", "/", "s, >, <", "r ", "c ", "u ", "t ", "T ", "p ", "d ", "q ", "h, F1, ?"):
        assert f" {key}" in text, key
    screen.text("x")
    screen.wait("3 processes")
    screen.keys("F1")
    screen.wait("qactl top: keys")
    screen.text("q")
    assert screen.status() == 0


# Filter and order


def test_filter(watched, top):
    watched()
    screen = top()
    screen.text("/")
    screen.wait("Only with: _")
    screen.text("EDIT")
    screen.wait("docview", without=["batch", "web"])
    screen.keys("Enter")
    screen.wait('1 with "EDIT"', "Enter open")
    screen.keys("Escape")
    screen.wait("batch", "web")
    screen.text("/")
    screen.text("102x")
    screen.wait('0 with "102x"')
    screen.keys("BSpace")
    assert pids(screen.wait("web", without=["batch"])) == [102]
    screen.keys("Escape")
    screen.wait("batch")
    other = top("--filter", "bat")
    assert pids(other.wait("batch", without=["web"])) == [103]


def test_order(watched, top, qactl):
    watched()
    screen = top(width=120, TERM="xterm-256color")

    def wait_order(*expected):
        wait_until(lambda: pids(screen.lines()) == list(expected), what=f"{expected}, not {pids(screen.lines())}")

    wait_order(101, 102, 103)
    screen.text("u")
    wait_order(102, 103, 101)
    screen.text("r")
    wait_order(101, 103, 102)
    screen.text("c")
    wait_order(101, 102, 103)
    screen.text("<")  # used
    wait_order(102, 103, 101)
    screen.text("<")  # held
    screen.text("s")  # used
    screen.text(">")  # cached
    wait_order(101, 102, 103)
    titles = screen.lines()[3]
    screen.mouse(0, titles.index("COMMAND"), 3)
    wait_order(103, 101, 102)
    screen.mouse(0, titles.index("COMMAND"), 3)
    wait_order(102, 101, 103)
    by_pid = top("--sort", "pid")
    wait_until(lambda: pids(by_pid.lines()) == [101, 102, 103], what="the order of pids")
    wrong = qactl("top", "--sort", "size")
    assert wrong.code == 64 and "there is no such column" in wrong.err and "  cached\n" in wrong.err


def test_the_mouse(watched, top):
    watched([process(100 + i, f"p{i}", cached=(50 - i) << 20) for i in range(50)])
    screen = top()
    screen.mouse(0, 10, 8)
    screen.wait_selected("104")
    screen.mouse(65, 10, 8)
    screen.wait_selected("107")
    screen.mouse(64, 10, 8)
    screen.wait_selected("104")
    screen.mouse(0, 10, 8)
    screen.wait("p4, pid 104")


def test_the_selection_stays_with_its_process(watched, top):
    qad = watched()
    screen = top()
    screen.keys("Down")
    screen.wait_selected("web")
    qad.change(102, **fake_qad.totals(empty=90 << 20))
    screen.wait("90.0M")
    screen.wait_selected("web")
    wait_until(lambda: pids(screen.lines()) == [102, 101, 103], what="it on top")
    qad.remove(102)  # it ends while selected
    screen.wait("2 processes", without=["web"])
    screen.wait_selected("docview")
    screen.keys("Down")
    screen.wait_selected("batch")


def test_a_process_that_ends_while_it_is_open(watched, top):
    qad = watched()
    screen = top()
    screen.keys("Enter")
    screen.wait("letters")
    qad.remove(101)
    screen.wait("It has ended; these are its last figures", "letters", "(ended)")
    screen.text("t")  # nothing to ask
    screen.keys("Escape")
    screen.wait("2 processes", without=["docview"])


# What it asks for


def test_trim_asks_first_and_tells_what_came_back(watched, top):
    qad = watched(trim=lambda params: fake_qad.trim_of(THREE[0], returned=65_536))
    screen = top()
    screen.text("t")
    screen.wait("Trim docview (editor), pid 101? y: yes, any other key: no")
    screen.text("n")
    screen.wait("Not trimmed.")
    screen.text("t")
    screen.keys("Enter")
    screen.wait("Not trimmed.")
    assert qad.of("trim") == []
    screen.text("ty")
    screen.wait("Returned 64.0 KiB in 1.2 ms: docview (editor), pid 101")
    assert qad.of("trim") == [{"pid": 101}]
    screen.keys("Enter")
    screen.wait("letters")
    screen.keys("Down")
    screen.text("T")
    screen.wait("Trim blocks of 4096 bytes of docview (editor), pid 101?")
    screen.text("y")
    wait_until(lambda: len(qad.of("trim")) == 2, what="the trim")
    screen.text("/letters")
    screen.keys("Enter")
    screen.wait("letters", without=["4096"])
    screen.text("T")
    screen.wait("Trim pool letters of docview (editor)")
    screen.text("y")
    wait_until(lambda: len(qad.of("trim")) == 3, what="the trim")
    assert qad.of("trim")[1:] == [{"pid": 101, "block_size": 4096}, {"pid": 101, "pool": "letters"}]


@pytest.mark.parametrize("code, text", [("not_allowed", "may be looked at but not trimmed by you"),
                                        ("gone", "ended while it was asked"), ("timeout", "did not answer in time"),
                                        ("strange", "what qad says (strange)")])
def test_a_trim_that_fails_is_told(watched, top, code, text):
    watched(trim=fake_qad.raising(Error(code)))
    screen = top(width=120)
    screen.text("ty")
    screen.wait(text)
    screen.text("j")
    screen.wait("Enter open", without=[text])


@pytest.mark.plain_only
def test_readonly(watched, top):
    qad = watched()
    screen = top("--readonly")
    assert "t trim" not in "\n".join(screen.lines())
    screen.text("t")
    screen.wait("--readonly")
    screen.text("y")
    screen.wait("Enter open")
    assert qad.of("trim") == []


@pytest.mark.plain_only
def test_pause_asks_nobody(watched, top):
    qad = watched()
    screen = top()
    screen.text("p")
    screen.wait("Paused")
    wait_until(lambda: not qad.watches, what="the end of the watch")
    qad.change(101, command="changed")
    screen.keys("Down")
    screen.wait("Paused", "docview")
    screen.text("p")
    screen.wait("changed", without=["Paused"])


@pytest.mark.plain_only
def test_delay(watched, top, qactl):
    qad = watched()
    screen = top("--delay", "0.5", wait=("every 0.5 s",))
    assert qad.of("watch")[-1] == {"interval_ms": 500}
    screen.text("d")
    screen.wait("Seconds between two looks: 0.5_")
    screen.keys("C-u")
    screen.text("2")
    screen.keys("Enter")
    screen.wait("every 2 s")
    wait_until(lambda: qad.of("watch")[-1] == {"interval_ms": 2_000}, what="another watch")
    wait_until(lambda: len(qad.watches) == 1, what="the end of the watch before")
    screen.text("d")
    screen.text("x")
    screen.keys("Enter")
    screen.wait("Not a delay")
    for words in (["--delay", "0.01"], ["-d", "x"]):
        assert qactl("top", *words).code == 64


# qad comes and goes


def test_qad_away_and_back(watched, top):
    first = watched()
    screen = top()
    screen.keys("Down")
    screen.wait_selected("web")
    first.close()
    screen.wait("qad is gone; trying again. These figures are", "docview", "web")
    screen.text("ty")
    screen.wait("Not asked: qad is away.")
    os.unlink(first.path)
    second = watched([process(102, "web", cached=7 << 20), process(104, "newcomer", cached=9 << 20)])
    screen.wait("newcomer", without=["docview", "qad is gone"])
    wait_until(lambda: {102, 104} <= {params["pid"] for params in second.of("history")}, what="questions for history")
    screen.wait_selected("web")
    screen.keys("Enter")
    screen.wait("web, pid 102", "letters")
    second.close()
    screen.wait("qad is gone", "letters")
    os.unlink(second.path)
    third = watched([process(104, "newcomer")])
    screen.wait("no such target (no_target); trying again")  # its connection comes later than ours
    with third.lock:
        third.targets[102] = process(102, "web", cached=50 << 20)
    screen.wait("50.0 MiB", without=["no_target"])


def test_what_qad_says_makes_no_sense(watched, top):
    qad = watched()
    screen = top()
    qad.change(101, pid="x")
    screen.wait("qad says what is not understood (pid); trying again", "docview")
    qad.change(101, pid=101)
    screen.wait("docview", without=["trying again"])


@pytest.mark.plain_only
def test_no_qad_is_told_as_by_other_commands(top, qactl):
    screen = top(wait=("it has ended",))
    assert screen.status() == 69
    assert screen.errors.read_text() == qactl("ps").err


def test_a_real_qad_and_real_targets(qad, target, qactl, top):
    small, large = target(QA_NAME="small"), target(QA_NAME="large")
    for one, blocks in ((small, 1_000), (large, 60_000)):
        one.ask(f"malloc 1 {blocks} 64")
        one.ask("free 1 1000")
    wait_until(lambda: len(qactl("ps", "--json").json) == 2, what="both in qad")
    screen = top("--delay", "0.1")
    wait_until(lambda: pids(screen.lines()) == [large.pid, small.pid], what="both on the screen")
    screen.text("ty")
    screen.wait("Returned ", f"pid {large.pid}")
    assert qactl("stats", large.pid, "--json").json["empty_bytes"] == 0
    small.ask("malloc 1 200000 64")
    small.ask("free 1 1000")
    wait_until(lambda: pids(screen.lines()) == [small.pid, large.pid], what="another order")
    qad.kill()
    screen.wait("qad is gone; trying again")
    qad.start()
    screen.wait("(large)", "(small)", without=["qad is gone"])
    wait_until(lambda: pids(screen.lines()) == [small.pid, large.pid], what="both again")
    screen.wait_selected("(small)")
    screen.keys("Enter")
    figures = qactl("stats", small.pid, "--json").json
    used = f"used {figures['used_bytes'] / 1024:>8.1f} KiB"
    screen.wait("target (small)", used)
    wait_until(lambda: len(pids(screen.lines())) == len(figures["classes"]), what="all its classes")
    small.quit()
    screen.wait("It has ended")
    screen.keys("Escape")
    screen.wait("1 process,", "(large)", without=["(small)"])
    screen.text("q")
    assert screen.status() == 0


# The terminal


def test_resize_down_to_nothing_and_back(watched, top):
    watched([process(1000 + i, f"program-{i}", cached=i << 20) for i in range(50)])
    screen = top()
    for width, height in ((20, 5), (1, 1), (7, 2), (300, 3), (40, 10), (20, 5)):
        screen.resize(width, height)
        wait_until(lambda: screen.flag("pane_width") == str(width), what="the size")
        for key in ("Down", "Enter", "Escape", "h", "h", "t", "n"):
            screen.keys(key)
    screen.resize(200, 50)
    wait_until(lambda: len(pids(screen.lines())) == 45, what="45 rows")
    assert len(screen.lines()[2]) == 200
    screen.resize(20, 5)
    wait_until(lambda: len(pids(screen.lines())) >= 2 and len(screen.lines()) == 5, what="a tiny screen")
    screen.keys("Enter")
    screen.wait("program-")
    screen.text("q")
    screen.resize(80, 24)
    assert screen.status() == 0


def test_a_terminal_of_any_size(watched, socket_path):
    """Sizes are what somebody wrote into the terminal: none of them ends it, nor makes it take all memory."""
    watched()
    pid, terminal = pty.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30 if not IS_SANITIZED else -1,) * 2)
        os.execve(BUILD / "qactl" / "qactl", ["qactl", "top"], clean_environment(QAD_SOCKET=socket_path, TERM="xterm", LC_ALL="C.UTF-8"))

    def resize(lines, columns):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def has_drawn():
        return select.select([terminal], [], [], 0)[0] and os.read(terminal, 1 << 20)

    def has_ended():
        with contextlib.suppress(OSError):  # the terminal is gone with it
            has_drawn()
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)

    try:
        for lines, columns in ((65_535, 65_535), (24, 40_000), (40_000, 80), (1, 65_535), (24, 80)):
            resize(lines, columns)
            wait_until(has_drawn, what=f"{lines} lines of {columns}")
            while select.select([terminal], [], [], 0.2)[0]:
                os.read(terminal, 1 << 20)
        os.write(terminal, b"q")
        wait_until(has_ended, what="its end")
    finally:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
    assert status == 0


@pytest.mark.plain_only
@pytest.mark.parametrize("terminal, no_color, is_coloured", [("screen-256color", None, True), ("screen", None, True),
                                                             ("screen-256color", "", True), ("linux", None, True),
                                                             ("screen-256color", "1", False), ("vt100", None, False)])
def test_colours(watched, top, terminal, no_color, is_coloured):
    watched()
    screen = top(TERM=terminal, NO_COLOR=no_color)
    screen.wait_selected("docview") if not is_coloured else screen.wait("docview")
    assert bool(screen.colours()) == is_coloured
    screen.text("q")
    assert screen.status() == 0


@pytest.mark.plain_only
@pytest.mark.parametrize("terminal, text", [("nonsense", "TERM=nonsense"), ("dumb", "TERM=dumb"), ("", "TERM is not set")])
def test_a_terminal_that_can_not_do(watched, top, terminal, text):
    watched()
    screen = top(wait=("it has ended",), TERM=terminal)
    assert screen.status() == 64 and text in screen.errors.read_text()
    assert "qactl top --once" in screen.errors.read_text()


def test_names_are_escaped_and_a_plain_locale_gets_ascii(watched, top):
    watched([process(101, "a\x1b[31mb\u202e", cached=1 << 20, name="é")], [fake_qad.class_row(24, name="p\x07\u202e")])
    screen = top(width=200, wait=(r"a\x1b[31mb\u{202e} (é)", "░"))
    screen.keys("Enter")
    screen.wait(r"p\x07\u{202e}")
    plain = top(width=200, wait=(r"a\x1b[31mb\xe2\x80\xae (\xc3\xa9)",), LC_ALL="C")
    assert "\n".join(plain.lines()).isascii() and "###" in plain.lines()[4] + plain.lines()[2]
    narrow = top()
    wait_until(lambda: re.search(r" a\\x1b\[31mb\S*\+$", narrow.lines()[4]), what="a name that is cut, and says so")
    plain.text("h")
    assert "\n".join(plain.wait("qactl top: keys")).isascii()


@pytest.mark.plain_only
@pytest.mark.parametrize("how, status", [("q", 0), ("C-c", 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129),
                                         (signal.SIGINT, 130)])
def test_it_leaves_the_terminal_as_it_was(watched, top, how, status):
    watched()
    screen = top()
    assert [screen.flag(name) for name in ("alternate_on", "cursor_flag", "mouse_any_flag")] == ["1", "0", "1"]
    if isinstance(how, str):
        screen.keys(how)
    else:
        os.kill(screen.pid, how)
    assert screen.status() == status


@pytest.mark.plain_only
def test_stop_and_go_on(watched, top):
    watched()
    screen = top(shell=["bash", "--norc", "--noprofile", "-i"], wait=("READY",), PS1="READY ")
    screen.text(f"{screen.command} 2>{screen.errors}\n")
    screen.wait("docview", "Enter open")
    screen.keys("C-z")
    screen.wait("Stopped")
    assert [screen.flag(name) for name in ("alternate_on", "cursor_flag", "mouse_any_flag")] == ["0", "1", "0"]
    screen.resize(100, 30)
    screen.text("fg\n")
    screen.wait("docview", "Enter open", "d delay")
    wait_until(lambda: len(screen.lines()[2]) == 100, what="the new width")
    screen.text("q")
    screen.wait("Stopped", without=["docview"])


@pytest.mark.plain_only
def test_the_end_of_the_terminal_is_its_end(watched, top):
    watched()
    screen = top()
    pid = screen.pid
    screen.tmux("kill-server")
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), what="its end")


# Without a terminal


def test_one_plain_frame(watched, qactl):
    watched()
    for words in ((), ("--once",)):
        result = qactl("top", "--delay", "0.1", *words)
        assert (result.code, result.err) == (0, "")
        titles, *rows = result.out.splitlines()
        assert titles.split() == ["PID", "USER", "UPTIME", "HELD", "USED", "CACHED", "CACHED%", "RSS", "ALLOC/S", "FREE/S",
                                  "GROW/S", "THREADS", "STATE", "COMMAND"]
        assert [row.split()[0] for row in rows] == ["101", "102", "103"]
        assert rows[0].split()[3:12] == ["3.0M", "23.4K", "3.0M", "99.2", "4.8M", "0", "0", "0", "1"]
    result = qactl("top", "--sort", "used", "--filter", "e", "-d", "0.1")
    assert [row.split()[0] for row in result.out.splitlines()[1:]] == ["102", "101"]
    assert "\x1b" not in result.out


def test_one_plain_frame_of_a_process(watched, qactl):
    watched(ps=lambda params: {"targets": THREE}, stats=lambda params: {**THREE[0], "classes": ROWS})
    assert qactl("top", "docview").out == qactl("stats", "docview").out
    assert qactl("top", "4711").code == 67 and qactl("top", "--once", "--readonly", "docview").code == 0


def test_one_plain_frame_of_nothing(watched, qactl):
    watched([])
    result = qactl("top", "-d", "0.1")
    assert result.code == 0 and "no targets" in result.err and len(result.out.splitlines()) == 1
