"""qactl top and qad: what it asks for and when, trims, and a qad that goes and comes."""

import os

import pytest

import fake_qad
from fake_qad import Error
from harness import wait_until
from watched_qad import THREE, pids, process, top, watched  # two are fixtures


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
