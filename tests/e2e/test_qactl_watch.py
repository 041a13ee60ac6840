"""qactl health, doctor, watch and trims of parts, with the real qad and real targets."""

import json
import subprocess

import pytest

import wire
from harness import BUILD, clean_environment, wait_until


@pytest.fixture
def doc(qad, target, qactl):
    """A target that caches some MiB, known to qad."""
    process = target(QA_NAME="doc")
    process.ask("malloc 1 40000 64")
    process.ask("malloc 2 4000 1024")
    process.ask("free 1")
    process.ask("free 2 100")  # every hundredth stays
    wait_until(lambda: qactl("stats", "doc").code == 0, what="the target in qad")
    return process


def test_health_for_people_and_as_json(qad, doc, qactl):
    text = qactl("health")
    assert text.code == 0 and text.err == ""
    for words in (f"pid {qad.pid}", "targets  1, 0 of them silent", "connections_of_user    1024", "dropped  0 peers"):
        assert words in text.out, text
    health = qactl("health", "--json").json
    assert health["pid"] == qad.pid and health["targets"] == 1 and health["limits"]["trim_ms"] == 30_000


def test_health_tells_who_may_and_what_http_does(qad_factory, qactl):
    qad = qad_factory().start()
    assert "  access   root sees and trims all\n" in qactl("health").out and "http  " not in qactl("health").out
    assert qactl("health", "--json").json["read_group"] == ""
    qad.stop()
    qad.start("--read-group", "root", "--admin-group", "4002", "--http", "127.0.0.1:0")
    text = qactl("health").out
    assert "  access   root and group 4002 see and trim all; group root sees all\n" in text
    assert "  http     0 connections, 0 requests, 0 refused; trims are off\n" in text
    health = qactl("health", "--json").json
    assert (health["read_group"], health["admin_group"]) == ("root", "4002")


def test_doctor_of_a_target_that_holds_nothing(target, qad, qactl):
    idle = target()
    wait_until(lambda: qactl("trim", idle.pid).code == 0, what="the target in qad")
    wait_until(lambda: "holds nothing" in qactl("doctor", idle.pid).out, what="nothing to be held")


@pytest.mark.parametrize("words", [["watch", "--interval", "0.01"], ["stats", "doc", "0.01"],
                                   ["record", "-o", "-", "--interval", "0.01", "doc"]])
def test_an_interval_that_is_too_short_is_wrong_usage(doc, qactl, words):
    result = qactl(*words)
    assert result.code == 64 and 'qad takes no interval of 0.01 s: "interval_ms" is from 100 to' in result.err, result


def test_doctor_says_what_and_why(doc, qactl):
    result = qactl("doctor", "doc")
    assert result.code == 0, result
    for words in (f"pid {doc.pid}", "is cached", "A trim would return at least", "blocks of 1024 bytes",
                  f"qactl trim {doc.pid}"):
        assert words in result.out, result
    assert "The last trim" not in result.out
    pins = [line for line in result.out.splitlines() if line.startswith("  up to ")]
    assert pins and [line[-1] for line in pins] == [";"] * (len(pins) - 1) + ["."], result
    stats = qactl("stats", "doc", "--json").json
    least, most = doctor_bounds(stats)
    returned = qactl("trim", "doc", "--json").json["returned_bytes"]
    assert least <= returned <= most, (least, returned, most)
    again = qactl("doctor", "doc")
    assert "The last trim was" in again.out and "Nothing needs to be done." in again.out, again
    assert qactl("doctor").code == 64 and qactl("doctor", "nobody").code == 67


def doctor_bounds(stats, page=4_096):
    """The bounds as diagnosis.c has them, worked out again."""
    least = most = 0
    for row in stats["classes"]:
        if row["block_size"]:
            kept_most = min(row["used_blocks"] * ((row["block_size"] - 2) // page + 2) * page,
                            row["held_bytes"] - row["empty_bytes"])
            kept_least = min(-(-row["used_bytes"] // page) * page, kept_most)
            least, most = least + row["held_bytes"] - kept_most, most + row["held_bytes"] - kept_least
        else:
            least, most = least + row["empty_bytes"], most + row["empty_bytes"]
    return least, most


def test_trim_of_one_class_with_a_floor(doc, qactl):
    def held(size):
        rows = qactl("stats", "doc", "--json", "--all-classes").json["classes"]
        return [row["held_bytes"] for row in rows if row["block_size"] == size][0]

    other = held(1_024)
    assert qactl("trim", "doc", "--class", "64", "--json").json["held_after_bytes"] == 0
    assert held(64) == 0 and held(1_024) == other
    assert qactl("trim", "doc", "--keep", "1M", "--json").json["cached_after_bytes"] >= 1 << 20
    assert qactl("trim", "doc", "--class", "65").code == 67
    assert qactl("trim", "doc", "--pool", "none").code == 67
    assert qactl("trim", "doc", "--pool", "x", "--class", "64").code == 64


@pytest.mark.parametrize("words", [["watch", "-i", "x"], ["watch", "-i", "0"], ["watch", "-n", "0"], ["watch", "-n", "-1"],
                                   ["trim", "doc", "--keep", "1X"], ["trim", "doc", "--class", "0"]])
def test_values_that_make_no_sense(qactl, words):
    result = qactl(*words)
    assert result.code == 64 and "Try 'qactl" in result.err, result
    assert "--keep" not in words or "(with K, M or G)" in result.err, result


def test_watch_prints_lines_and_ends_by_count(doc, qactl):
    result = qactl("watch", "-i", "0.1", "-n", "3")
    assert result.code == 0, result
    title, *lines = result.out.splitlines()
    assert title.split() == ["TIME", "PID", "HELD", "USED", "CACHED", "RSS", "COMMAND"]
    assert len(lines) == 3 and all(str(doc.pid) in line and line.endswith("target (doc)") for line in lines)
    objects = [json.loads(line) for line in qactl("watch", "doc", "--json", "-i", "0.1", "-n", "2").out.splitlines()]
    assert [one["pid"] for one in objects] == [doc.pid] * 2 and all(one["time_s"] > 0 for one in objects)
    assert all(one["exe"] is None and one["cgroup"] is None for one in objects)  # a watch does not tell them


def test_watch_ends_with_its_target_or_with_qad(qad, doc, target, socket_path):
    def follow(*words):
        return subprocess.Popen([BUILD / "qactl" / "qactl", "watch", "-i", "0.1", *words], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=clean_environment(QAD_SOCKET=socket_path))

    one, every = follow("doc"), follow()
    for process in (one, every):
        process.stdout.readline()
        assert str(doc.pid) in process.stdout.readline()
    doc.quit()
    _, errors = one.communicate(timeout=wire.DEADLINE)
    assert one.returncode == 67 and "ended" in errors
    assert every.poll() is None
    qad.stop()
    _, errors = every.communicate(timeout=wire.DEADLINE)
    assert every.returncode == 69 and "qad" in errors
