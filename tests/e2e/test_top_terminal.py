"""qactl top and its terminal: sizes, colours, locales, how it leaves; and without a terminal."""

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

import pytest

import fake_qad
from harness import BUILD, IS_SANITIZED, clean_environment, wait_until
from watched_qad import ROWS, THREE, pids, process, top, watched  # two are fixtures


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
