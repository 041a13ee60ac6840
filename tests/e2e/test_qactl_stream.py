"""qactl stats with an interval, and watch: lines, JSON, CSV, and how they end; and two that wait or find nothing."""

import csv
import io
import json
import os
import pty
import signal
import subprocess

import msgpack
import pytest

import fake_qad
import wire
from fake_qad import DOCVIEW, ROWS, Raw, Silence, fake  # noqa: F401, a fixture
from harness import BUILD, SANITIZER_REPORT, clean_environment, wait_until

QACTL = BUILD / "qactl" / "qactl"
TITLES = "HELD USED CACHED THREAD PARTIAL EMPTY SLACK RSS ALLOC/S FREE/S".split()
COLUMNS = ("time pid uid command name uptime_s silent age_ms rss_bytes page_size threads held_bytes used_bytes cached_bytes "
           "thread_bytes partial_bytes empty_bytes slack_bytes unreachable_bytes allocs frees").split()


def rounds(*notifications, more=b""):
    """An answer to watch: its result and these notifications, each a list of targets."""
    frames = [msgpack.packb([1, 2, None, {"watch": 7, "interval_ms": 1000}])]
    frames += [msgpack.packb([2, "figures", {"watch": 7, "targets": targets, "left_out": 0, "dropped": 0}], unicode_errors="surrogateescape")
               for targets in notifications]

    def answer(params):
        raise Raw(b"".join(frames) + more)
    return answer


def one(allocs=0, age_ms=0, **more):
    return {**DOCVIEW, **fake_qad.totals(), "allocs": allocs, "frees": allocs // 2, "age_ms": age_ms, **more}


@pytest.fixture
def start(socket_path):
    """Starts a qactl that goes on; all have ended at the end of the test."""
    made = []

    def make(*words, locale=None, environment=(), **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        made.append(subprocess.Popen([QACTL, *map(str, words)],
                                     env=clean_environment(QAD_SOCKET=socket_path, LC_ALL=locale, **dict(environment)), **options))
        return made[-1]

    yield make
    for process in made:
        process.kill()
        process.wait()


def end_of(process):
    out, errors = process.communicate(timeout=wire.DEADLINE)
    assert not SANITIZER_REPORT.search(str(errors)), errors
    return process.returncode, out, errors


def test_stats_with_an_interval(fake, qactl):
    fakes = fake(watch=rounds([one(10, age_ms=9_000)], [one(4_000_010, age_ms=8_000)], [one(4_000_010, silent=True, age_ms=8_000)]))
    result = qactl("stats", "4242", "0.5", "3")
    assert (result.code, result.err) == (0, "")
    assert fakes.asked[-1] == ("watch", {"interval_ms": 500, "pid": 4242, "classes": False})
    titles, first, second, third = [line.split() for line in result.out.splitlines()]
    assert titles == TITLES
    assert first == ["90.9K", "23.4K", "67.5K", "1000B", "2.0K", "64.0K", "536B", "4.8M", "-", "-"]
    assert second[:8] == first[:8]
    assert 3.5 < float(second[8].removesuffix("M")) <= 4.1 and second[8][-1] == "M", second
    assert third[8:] == ["-", "-", "silent"]
    assert {len(line) for line in result.out.splitlines()[:3]} == {79}


def test_titles_come_again(fake, qactl):
    fake(watch=rounds(*[[one(i)] for i in range(45)]))
    lines = qactl("stats", "4242", "1", "45").out.splitlines()
    assert [i for i, line in enumerate(lines) if "HELD" in line] == [0, 21, 42]
    lines = qactl("watch", "4242", "-n", "45").out.splitlines()
    assert [i for i, line in enumerate(lines) if "HELD" in line] == [0, 21, 42]


def test_stats_with_an_interval_as_json(fake, qactl):
    fakes = fake(watch=rounds([{**one(10), "classes": ROWS}], [{**one(11), "classes": ROWS[:1]}]))
    result = qactl("stats", "4242", "1", "2", "--json", "--classes")
    first, second = map(json.loads, result.out.splitlines())
    assert (first["allocs"], first["classes"], first["pid"]) == (10, ROWS, 4242) and second["classes"] == ROWS[:1]
    assert first["time_ms"] // 1000 == first["time_s"] and fakes.asked[-1][1]["classes"] is True
    assert "classes" not in json.loads(qactl("stats", "4242", "1", "1", "--json").out)


NAMES = ["plain", "a,b", 'say "x"', "line\nfeed\r", "\x1b[2J\x7f", "back\\slash", " space", "=1+1", "caf\u00e9 \u65e5\u672c",
         "\x9b31m", "bad\udcff"]
SHOWN = ["plain", "a,b", 'say "x"', r"line\x0afeed\x0d", r"\x1b[2J\x7f", r"back\\slash", " space", "=1+1", "caf\u00e9 \u65e5\u672c",
         r"\u{9b}31m", r"bad\xff"]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_csv(fake, start, locale):
    targets = [one(5, name=name, pid=100 + i) for i, name in enumerate(NAMES)]
    unknown = fake_qad.target(pid=9, silent=True)
    fake(watch=rounds([*targets, unknown], targets[:1]))
    code, raw, errors = end_of(start("watch", "--csv", "-n", "2", locale=locale, text=False))
    assert (code, errors) == (0, b"")
    assert raw.count(b"\r\n") == raw.count(b"\n") == 2 + len(NAMES) + 1 and b"\x1b" not in raw
    titles, *rows = csv.reader(io.StringIO(raw.decode(), newline=""), strict=True)
    assert titles == COLUMNS and {len(row) for row in rows} == {len(COLUMNS)}
    rows = [dict(zip(titles, row)) for row in rows]
    assert [row["name"] for row in rows] == [*SHOWN, "", SHOWN[0]]
    assert rows[0]["held_bytes"] == "93072" and rows[0]["allocs"] == "5" and rows[0]["silent"] == "0"
    last = rows[len(NAMES)]
    assert (last["pid"], last["held_bytes"], last["age_ms"], last["silent"]) == ("9", "", "", "1")


@pytest.mark.parametrize("words", [
    ["stats", "x", "0"], ["stats", "x", "1", "0"], ["stats", "x", "1", "y"], ["stats", "x", "nan"], ["stats", "x", "2d"],
    ["stats", "x", "--csv"], ["stats", "x", "--classes"], ["stats", "x", "1", "--all-classes"], ["stats", "x", "1", "--classes"],
    ["stats", "x", "1", "--csv", "--json"], ["watch", "--classes", "--json"], ["watch", "x", "--classes"],
    ["watch", "--csv", "--json"]])
def test_words_that_make_no_sense_together(qactl, words):
    result = qactl(*words)
    assert result.code == 64 and result.out == "" and result.err.startswith("qactl: "), result


# How they end


@pytest.mark.parametrize("words", [["stats", "4242", "60"], ["watch", "-i", "60"], ["watch", "-i", "60", "--csv"]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_after_a_whole_line(fake, start, words, number):
    fake(watch=rounds([one()]))
    process = start(*words)
    lines = [process.stdout.readline(), process.stdout.readline()]
    process.send_signal(number)
    assert end_of(process) == (0, "", "") and all(line.endswith("\n") for line in lines)


def test_an_ignored_interrupt_stays_ignored(fake, start):
    fake(watch=rounds([one()]))
    process = start("watch", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    process.stdout.readline()
    mask = next(line.split()[1] for line in open(f"/proc/{process.pid}/status") if line.startswith("SigBlk"))
    assert not int(mask, 16) >> signal.SIGINT - 1 & 1 and int(mask, 16) >> signal.SIGTERM - 1 & 1
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert end_of(process)[0] == 0


@pytest.mark.parametrize("words", [["stats", "4242", "60"], ["watch", "-i", "60"]])
def test_it_ends_at_once_when_nobody_reads(fake, start, words):
    """Not only at the next line, which is a minute away."""
    fake(watch=rounds([one()]))
    process = start(*words)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(wire.DEADLINE) == 74 and process.stderr.read() == ""


def test_a_full_disk_is_told(fake, start):
    fake(watch=rounds([one()]))
    with open("/dev/full", "w") as full:
        code, _, errors = end_of(start("watch", stdout=full))
    assert code == 74 and "No space left on device" in errors


def test_it_ends_with_its_target_and_with_qad(qad, target, qactl, start):
    doc = target(QA_NAME="doc")
    wait_until(lambda: qactl("stats", "doc").code == 0, what="the target in qad")
    lines, rows = start("stats", "doc", "0.1"), start("watch", "doc", "--csv", "-i", "0.1")
    for process in (lines, rows):
        process.stdout.readline(), process.stdout.readline()
    doc.quit()
    for process in (lines, rows):
        code, _, errors = end_of(process)
        assert code == 67 and errors == f"qactl: target (doc), pid {doc.pid}: ended\n"
    every = start("watch", "-i", "0.1", "--json")
    wait_until(lambda: qactl("health", "--json").json["watches"] == 1, what="the watch")
    qad.stop()
    code, _, errors = end_of(every)
    assert code == 69 and "ended the connection" in errors


def test_a_watch_that_is_refused_or_ended(fake, qactl):
    answers = fake(watch=fake_qad.raising(fake_qad.Error("no_target"))).answers
    result = qactl("watch", "4242")
    assert result.code == 67 and "no such target: pid 4242" in result.err
    answers["watch"] = rounds(more=msgpack.packb([2, "unwatched", {"watch": 7, "pid": 4242, "code": "failed", "message": ""}]))
    result = qactl("watch", "4242")
    assert result.code == 76 and "pid 4242: has more figures than fit a frame" in result.err


# Where nothing happens


def test_no_targets_names_the_socket(fake, qactl, socket_path):
    fake(ps=lambda params: {"targets": []})
    for words in (["ps"], ["trim", "--all"]):
        assert f"no targets at {socket_path};" in qactl(*words).err


def silence(params):
    raise Silence


def test_a_trim_that_waits_says_so_on_a_terminal(fake, start):
    fake(trim=silence)
    master, slave = pty.openpty()
    process = start("trim", "4242", stderr=slave)
    os.close(slave)
    text = b""
    while b"\n" not in text:
        text += os.read(master, 1000)
    assert b"still waiting for pid 4242" in text and process.poll() is None
    os.close(master)
