"""qactl record and replay: what is written can be read, whatever ended it, and of a damaged file what is whole."""

import csv
import io
import json
import os
import resource
import signal
import time

import msgpack
import pytest

import fake_qad
import wire
from fake_qad import DOCVIEW, ROWS, fake  # noqa: F401, a fixture
from harness import wait_until
from test_qactl_stream import COLUMNS, end_of, one, rounds, start  # noqa: F401, a fixture

LONG = 'a "quoted", \u65e5\u672c\n' * 3


@pytest.fixture
def file(tmp_path):
    return tmp_path / "record"


def is_begun(file):
    """There is a file, and its first line."""
    return file.exists() and file.read_bytes().endswith(b"\n")


def lines_of(file):
    text = file.read_text()
    assert text.endswith("\n") and text.isascii()
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def recording(fake, qactl, file):
    """A recording of three rounds, of two targets in the last."""
    fake(watch=rounds([one(1)], [one(2, name=LONG)], [one(3), fake_qad.target(pid=9, silent=True)]))
    result = qactl("record", "-o", file, "-n", "3")
    assert (result.code, result.out) == (0, "") and "3 records" in result.err, result
    return file


def test_what_is_in_the_file(recording):
    header, *records, end = lines_of(recording)
    assert (header["format"], header["version"], header["interval_ms"], header["classes"]) == ("qactl-record", 1, 1000, False)
    assert header["host"] == os.uname().nodename and header["qactl"]
    assert [len(record["targets"]) for record in records] == [1, 1, 2] and end["records"] == 3
    first, unknown = records[0]["targets"][0], records[2]["targets"][1]
    assert first["allocs"] == 1 and first["held_bytes"] == 93_072 and "classes" not in first
    assert unknown["held_bytes"] is None and unknown["pid"] == 9
    assert abs(records[0]["time_ms"] / 1000 - time.time()) < 1000
    assert records[1]["targets"][0]["name"] == LONG[:len(LONG.encode()[:64].decode(errors="ignore"))]


def test_replay_shows_what_watch_would(recording, qactl):
    table = qactl("replay", recording)
    assert (table.code, table.err) == (0, "")
    titles, *lines = table.out.splitlines()
    assert titles.split() == ["TIME", "PID", "HELD", "USED", "CACHED", "RSS", "COMMAND"] and len(lines) == 4
    assert lines[0].split()[1:8] == ["4242", "90.9", "KiB", "23.4", "KiB", "67.5", "KiB"]
    objects = [json.loads(line) for line in qactl("replay", recording, "--json").out.splitlines()]
    records = lines_of(recording)[1:-1]
    for shown, (record, target) in zip(objects, [(record, target) for record in records for target in record["targets"]], strict=True):
        assert shown == {**target, "time_ms": record["time_ms"], "time_s": record["time_ms"] // 1000}
    rows = list(csv.reader(io.StringIO(qactl("replay", recording, "--csv").out)))
    assert rows[0] == COLUMNS and len(rows) == 5 and [row[COLUMNS.index("allocs")] for row in rows[1:]] == ["1", "2", "3", ""]
    assert [json.loads(line)["pid"] for line in qactl("replay", recording, "9", "--json").out.splitlines()] == [9]
    assert len(qactl("replay", recording, "editor").out.splitlines()) == 3
    assert qactl("replay", recording, "nobody").code == 67


def test_replay_as_fast_as_it_was(recording, start):
    text = recording.read_text().splitlines()
    for i in (1, 2, 3):
        text[i] = json.dumps({**json.loads(text[i]), "time_ms": i * 3_600_000})
    recording.write_text("\n".join(text) + "\n")
    process = start("replay", recording, "--speed", "1000000")  # 3.6 ms an hour
    assert end_of(process)[0] == 0
    process = start("replay", recording, "--speed", "0.5", "--json")
    assert json.loads(process.stdout.readline())["allocs"] == 1
    process.send_signal(signal.SIGINT)  # the next line is two hours away
    assert end_of(process) == (0, "", "")


def test_classes_are_recorded_and_replayed(fake, qactl, file):
    fakes = fake(watch=rounds([{**one(), "classes": ROWS}]))
    assert qactl("record", "4242", "--classes", "-o", file, "-n", "1").code == 0
    assert fakes.asked[-1] == ("watch", {"interval_ms": 1000, "pid": 4242, "classes": True})
    assert json.loads(qactl("replay", file, "--json").out)["classes"] == ROWS


def test_a_file_that_exists_is_not_written_over(fake, qactl, file):
    fake(watch=rounds([one()]))
    file.write_text("mine" * 1000)
    result = qactl("record", "-o", file, "-n", "1")
    assert result.code == 73 and "--force" in result.err and file.read_text() == "mine" * 1000
    assert qactl("record", "-o", file, "-n", "1", "--force").code == 0 and qactl("replay", file).code == 0
    assert qactl("record", "-o", file / "x", "-n", "1").code == 73
    assert qactl("record", "-n", "1").code == 64 and qactl("record", "--classes", "-o", file).code == 64


def test_nothing_recorded_leaves_no_file(fake, qactl, file):
    fake(watch=fake_qad.raising(fake_qad.Error("no_target")))
    result = qactl("record", "4242", "-o", file)
    assert result.code == 67 and "nothing was recorded" in result.err and not file.exists()
    assert qactl("record", "-o", file, QAD_SOCKET="/nowhere").code == 69 and not file.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_sum(fake, start, qactl, file, number):
    fake(watch=rounds([one()], [one()]))
    process = start("record", "-o", file)
    wait_until(lambda: file.exists() and file.read_text().count("\n") == 3, what="two records")
    assert len(qactl("replay", file).out.splitlines()) == 3  # while it is written
    process.send_signal(number)
    code, out, errors = end_of(process)
    assert (code, out) == (0, "") and "2 records" in errors and str(file) in errors
    assert qactl("replay", file).code == 0


def test_a_duration_ends_it(fake, qactl, file):
    fake(watch=rounds([one()]))
    assert qactl("record", "-o", file, "-i", "60", "--duration", "0.3").code == 0 and len(lines_of(file)) == 3


def test_to_and_from_a_pipe(fake, start, qactl, file):
    fake(watch=rounds([one(7)]))
    code, out, _ = end_of(start("record", "-o", "-", "-n", "1"))
    assert code == 0 and [len(json.loads(line)) > 0 for line in out.splitlines()] == [True] * 3
    file.write_text(out)
    with open(file) as stdin:
        process = start("replay", "-", "--json", stdin=stdin)
        assert json.loads(end_of(process)[1])["allocs"] == 7


def test_no_room_leaves_whole_lines(fake, start, qactl, file):
    """A limit on the size of a file fails as a full disk does, within a line."""
    fake(watch=rounds(*[[one(i)] for i in range(50)]))
    process = start("record", "-o", file, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000)))
    code, _, errors = end_of(process)
    assert code == 74 and "File too large; the recording ends there" in errors and "records" in errors
    records = lines_of(file)[1:]
    assert 3 < len(records) < 50 and 4_000 < file.stat().st_size <= 5_000
    result = qactl("replay", file)
    assert result.code == 65 and len(result.out.splitlines()) == len(records) + 1 and "has no end" in result.err


def test_a_full_device(fake, qactl):
    fake(watch=rounds([one()]))
    result = qactl("record", "-o", "/dev/full", "--force")
    assert result.code == 74 and "/dev/full: No space left on device" in result.err and os.path.exists("/dev/full")


def test_the_real_qad_and_several_targets_until_they_end(qad, target, start, qactl, file):
    first, second = target(QA_NAME="first"), target(QA_NAME="second")
    wait_until(lambda: len(qactl("ps", "--json").json) == 2, what="both targets")
    process = start("record", "first", second.pid, "first", "-o", file, "-i", "0.1")
    wait_until(lambda: is_begun(file) and {first.pid, second.pid} <= {record["targets"][0]["pid"] for record in
                                                                     lines_of(file)[1:]}, what="a record of each")
    first.quit()
    before = len(file.read_text().splitlines())
    wait_until(lambda: len(file.read_text().splitlines()) > before, what="a record of the other")
    second.quit()
    code, _, errors = end_of(process)
    assert code == 0 and f"pid {first.pid}: ended" in errors and "records" in errors
    result = qactl("replay", file, "second", "--json")
    assert result.code == 0 and {json.loads(line)["pid"] for line in result.out.splitlines()} == {second.pid}


def test_qad_goes_while_it_records(qad, target, start, qactl, file):
    target(QA_NAME="doc")
    wait_until(lambda: qactl("stats", "doc").code == 0, what="the target")
    process = start("record", "-o", file, "-i", "0.1")
    wait_until(lambda: is_begun(file) and len(lines_of(file)) > 1, what="a record")
    qad.stop()
    code, _, errors = end_of(process)
    assert code == 69 and "record" in errors and qactl("replay", file).code == 0


# Damaged files


def damaged(file, change):
    lines = file.read_bytes().splitlines(keepends=True)
    change(lines)
    file.write_bytes(b"".join(lines))


def change_byte(lines):
    lines[2] = lines[2].replace(b'"pid":4242', b'"pid":"242')


def drop_key(lines):
    lines[2] = lines[2].replace(b'"uid":0,', b"")


def nul(lines):
    lines[2] = b"\0" * 300 + b"\n"


@pytest.mark.parametrize("change", [change_byte, drop_key, nul])
def test_a_damaged_line_costs_only_itself(recording, qactl, change):
    damaged(recording, change)
    result = qactl("replay", recording)
    assert result.code == 65 and len(result.out.splitlines()) == 1 + 3, result
    offset = sum(map(len, recording.read_bytes().splitlines(keepends=True)[:2]))
    assert f"line 3, at byte {offset}, is damaged" in result.err


def test_many_damaged_lines_are_told_as_a_number(recording, qactl):
    damaged(recording, lambda lines: lines.__setitem__(slice(2, 2), [b"x\n"] * 50))
    result = qactl("replay", recording)
    assert result.code == 65 and result.err.count("is damaged") == 3 and "50 lines in all" in result.err


def test_wherever_it_is_cut_what_is_whole_is_shown(recording, qactl):
    data = recording.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    for cut in [*range(0, ends[0] + 2, 40), *ends[:-1], ends[1] - 1, ends[1] + 5, ends[3] - 2, len(data) - 1]:
        recording.write_bytes(data[:cut])
        result = qactl("replay", recording, "--json")
        whole = sum(end <= cut for end in ends)
        assert result.code == 65 and result.err, (cut, result)
        assert len(result.out.splitlines()) == [0, 0, 1, 2, 4][whole], (cut, result)
        said = "no recording" if whole == 0 else "has no end" if cut in ends else f"line {whole + 1}, at byte {ends[whole - 1]}"
        assert said in result.err, (cut, result)


@pytest.mark.parametrize("data,says", [
    (b"", "is no recording"), (b"hello\n", "is no recording"), (b"[]\n", "is no recording"), (bytes(range(256)) * 50, "is no recording"),
    (b'{"format":"qactl-record","version":2}\n', "version 2"), (b'{"format":"other","version":1}\n', "is no recording")])
def test_what_is_no_recording(file, qactl, data, says):
    file.write_bytes(data)
    result = qactl("replay", file)
    assert (result.code, result.out) == (65, "") and says in result.err
    assert qactl("replay", file.parent / "none").code == 66 and qactl("replay", file.parent).code == 66
    assert qactl("replay").code == 64


def test_later_lines_and_keys_are_passed_over(recording, qactl):
    damaged(recording, lambda lines: lines.insert(2, b'{"mark":"later","time_ms":1}\n'))
    recording.write_text(recording.read_text().replace('"uid":0', '"uid":0,"later":[1]'))
    assert qactl("replay", recording).code == 0


def replay_of_a_line_without_end(file, start, line_mib, memory_mib):
    """Exit status and stderr."""
    file.write_bytes(b'{"format":"qactl-record","version":1}\n')
    with open(file, "ab") as out:
        out.truncate(line_mib << 20)
    limit = (memory_mib << 20, memory_mib << 20)
    process = start("replay", file, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit))
    code, _, errors = end_of(process)
    return code, errors


@pytest.mark.plain_only
def test_a_line_without_end_takes_no_memory(file, start):
    code, errors = replay_of_a_line_without_end(file, start, line_mib=120, memory_mib=100)
    assert code == 65 and "line 2, at byte 38, is damaged" in errors, errors


@pytest.mark.plain_only
def test_memory_that_is_out_is_not_taken_for_a_damaged_file(file, start):
    code, errors = replay_of_a_line_without_end(file, start, line_mib=50, memory_mib=20)
    assert (code, errors) == (71, "qactl: out of memory\n")
