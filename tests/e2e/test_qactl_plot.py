"""qactl plot: what qad recorded and what a file has, drawn for a terminal or a pipe."""

import fcntl
import itertools
import os
import pty
import re
import signal
import struct
import termios
import time

import msgpack
import pytest

import fake_qad
import wire
from fake_qad import DOCVIEW, Raw, fake  # noqa: F401, a fixture
from harness import wait_until
from test_qactl_stream import end_of, one, rounds, start  # noqa: F401, a fixture

MIB = 1 << 20


def history(step_s=1, points=60, trims=(), first_age_s=None, **columns):
    now = int(time.time())
    age = points * step_s if first_age_s is None else first_age_s
    usual = {"used_bytes": [24 * MIB] * points, "cached_bytes": [0] * (points // 2) + [40 * MIB] * (points - points // 2),
             "rss_bytes": [60 * MIB] * points}
    return {**{key: DOCVIEW[key] for key in ("pid", "command", "name")}, "step_s": step_s, "points": points, "first_age_s": age,
            "first_time_s": now - age, **usual, **columns,
            "trims": [{"age_ms": age_ms, "returned_bytes": returned} for age_ms, returned in trims]}


def asked_steps(fakes):
    return [params["step_s"] for method, params in fakes.asked if method == "history"]


def test_a_plot_in_a_pipe_has_80_columns_and_24_lines(fake, qactl):
    fake(history=lambda params: history(params["step_s"], trims=[(15_000, 9 * MIB), (10_000, 3 * MIB)]))
    for locale, signs in (("C", "#:-^"), ("C.UTF-8", "\u2588\u2591\u2501\u25b2")):
        result = qactl("plot", "4242", LC_ALL=locale)
        assert (result.code, result.err) == (0, "") and "\x1b" not in result.out
        lines = result.out.splitlines()
        assert len(lines) == 24 and max(map(len, lines)) == 80
        assert lines[0].startswith("docview (editor), pid 4242, ")
        assert lines[1] == "{} used 24.0M  {} cached 40.0M  {} rss 60.0M".format(*signs)
        assert "64.0 MiB" in lines[2] and "0 B" in lines[20]
        low, middle, high = lines[20][12:], lines[10][12:], lines[4][12:]
        assert set(low) == {signs[0]} and set(middle) == {" ", signs[1]} and middle.index(signs[1]) in (33, 34)
        assert set(lines[3][12:]) == {signs[2]} and set(high) == {" ", signs[1]}
        assert lines[21].count(signs[3]) == 2 and "trim" in lines[23] and lines[23].endswith("3.0 MiB; 1 before")
        assert re.search(r"\d\d:\d\d:\d\d", lines[22]) and not any(line.endswith(" ") for line in lines)


def test_size_steps_and_since(fake, qactl):
    fakes = fake(history=lambda params: history(params["step_s"]))
    lines = qactl("plot", "4242", "--width", "120", "--height", "40").out.splitlines()
    assert len(lines) == 40 and max(map(len, lines)) == 120 and asked_steps(fakes) == [10, 1]
    qactl("plot", "4242", "--step", "10", "--since", "1h")
    assert fakes.asked[-1] == ("history", {"pid": 4242, "step_s": 10, "from_s": 3600})
    fakes.answers["history"] = lambda params: history(params["step_s"], points=200, first_age_s=2_000)
    assert qactl("plot", "4242").code == 0 and asked_steps(fakes)[-2:] == [10, 10]


def test_gaps_are_empty(fake, qactl):
    fake(history=lambda params: history(points=60, used_bytes=[24 * MIB] * 20 + [None] * 20 + [24 * MIB] * 20))
    low = qactl("plot", "4242", LC_ALL="C").out.splitlines()[20][12:]
    assert re.fullmatch(r"#+ {15,25}#+", low)


@pytest.mark.parametrize("points", [0, 5])
def test_nothing_recorded_says_what_to_do(fake, qactl, points):
    fake(history=lambda params: history(points=points, used_bytes=[None] * points))
    result = qactl("plot", "editor")
    assert (result.code, result.out) == (66, "")
    assert "nothing is recorded" in result.err and "qad with --history" in result.err and "'qactl watch 4242'" in result.err
    assert "of that time" in qactl("plot", "editor", "--since", "5").err


@pytest.mark.parametrize("words", [
    [], ["x", "y"], ["x", "--width", "39"], ["x", "--height", "9"], ["x", "--width", "1001"], ["x", "--step", "2"],
    ["x", "--since", "0"], ["--file", "f", "--follow"], ["--file", "f", "--step", "1"], ["x", "--json"]])
def test_words_that_make_no_sense(qactl, words):
    assert qactl("plot", *words).code == 64


def test_answers_that_make_no_sense(fake, qactl):
    fakes = fake(history=lambda params: {**history(), "rss_bytes": 7})
    assert qactl("plot", "4242").code == 76
    fakes.answers["history"] = fake_qad.raising(fake_qad.Error("no_target"))
    assert qactl("plot", "4242").code == 67
    fakes.answers["history"] = lambda params: history(rss_bytes=[1, 2], used_bytes=[-5, "x", 1])
    assert qactl("plot", "4242").code == 66
    fakes.answers["history"] = lambda params: history(first_time_s=2**64 - 800)
    assert qactl("plot", "4242").code == 76


def test_a_clock_that_begins(fake, qactl):
    fake(history=lambda params: history(params["step_s"], first_time_s=0, first_age_s=60))
    result = qactl("plot", "--since", 900, "4242", TZ="UTC")
    assert (result.code, result.err) == (0, "") and "00:00:00 to 00:01:00" in result.out


def screen_of(start, *words, size=(30, 100), **environment):
    """What a terminal of that size gets."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    process = start(*words, stdout=slave, locale="C.UTF-8", environment=environment)
    os.close(slave)
    return master, process


def read_all(master):
    data = b""
    try:
        while piece := os.read(master, 65_536):
            data += piece
    except OSError:
        pass
    os.close(master)
    return data.decode(errors="replace")


@pytest.mark.parametrize("environment,coloured", [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                                                  ({"TERM": "xterm", "NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_its_size_and_colours(fake, start, environment, coloured):
    fake(history=lambda params: history())
    master, process = screen_of(start, "plot", "4242", **environment)
    text = read_all(master)
    assert process.wait(wire.DEADLINE) == 0 and ("\x1b[" in text) == coloured
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert len(lines) == 29 and max(map(len, lines)) == 100  # a line is left for the prompt


def again():
    """Answers to history, each with a notification behind it."""
    numbers = itertools.count(3)  # hello and watch were before

    def answer(params):
        raise Raw(msgpack.packb([1, next(numbers), None, history()]) +
                  msgpack.packb([2, "figures", {"watch": 7, "targets": [one()]}]))
    return answer


def test_follow_draws_again_and_ends_by_a_signal(fake, start):
    fakes = fake(history=again(), watch=rounds([one()]))
    process = start("plot", "4242", "--follow", "--height", "10")
    lines = [process.stdout.readline() for _ in range(21)]
    assert lines[0].split(",")[0] == lines[11].split(",")[0] and lines[10] == "\n" and lines[1].count("used") == 1
    process.send_signal(signal.SIGINT)
    assert end_of(process)[0] == 0 and ("watch", {"interval_ms": 1000, "pid": 4242, "classes": False}) in fakes.asked


def test_follow_on_a_terminal_overwrites(fake, start):
    fake(history=again(), watch=rounds([one()]))
    master, process = screen_of(start, "plot", "4242", "-f", TERM="xterm")
    text = b""
    while text.count(b"\x1b[J") < 3:
        text += os.read(master, 65_536)
    assert text.startswith(b"\x1b[2J\x1b[H") and text.count(b"\x1b[2J") == 1 and text.count(b"\x1b[H") >= 3
    process.send_signal(signal.SIGTERM)
    read_all(master)
    assert process.wait(wire.DEADLINE) == 0


def test_a_recording_is_drawn(fake, qactl, tmp_path):
    file = tmp_path / "record"
    fakes = fake(watch=rounds(*[[one(used_bytes=24 * MIB)] for _ in range(3)]))
    assert qactl("record", "-o", file, "-n", "3").code == 0
    result = qactl("plot", "--file", file, LC_ALL="C")
    assert result.code == 0 and "docview (editor), pid 4242" in result.out and "#" in result.out
    assert qactl("plot", "--file", file, "4242").out and qactl("plot", "--file", file, "nobody").code == 67
    file.write_bytes(file.read_bytes()[:-30])
    result = qactl("plot", "--file", file, LC_ALL="C")
    assert result.code == 65 and "#" in result.out and "is damaged" in result.err
    fakes.answers["watch"] = rounds([one(), one(pid=7)])
    assert qactl("record", "-o", file, "-n", "1", "--force").code == 0
    result = qactl("plot", "--file", file)
    assert result.code == 64 and "several targets" in result.err and qactl("plot", "--file", file, "7").code == 0


def test_the_real_qad(qad, target, qactl, start):
    doc = target(QA_NAME="doc")
    wait_until(lambda: qactl("stats", "doc").code == 0, what="the target")
    assert qactl("plot", "doc").code == 66
    doc.ask("malloc 1 100000 64")
    process = start("plot", "doc", "--follow", "--height", "10")
    assert f"pid {doc.pid}" in process.stdout.readline()
    doc.ask("free 1")
    assert qactl("trim", "doc").code == 0
    wait_until(lambda: "trim" in qactl("plot", "doc", "--width", "60").out, what="the mark of the trim")
    doc.quit()
    assert end_of(process)[0] == 67
