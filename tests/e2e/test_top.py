"""qactl top in a real terminal: what is on the screen, what keys and the mouse do with it."""

import re
import threading

import pytest

import fake_qad
from harness import wait_until
from watched_qad import THREE, TICK_S, pids, process, top, watched  # two are fixtures


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
