"""qactl and the real qad, with targets made by hand: what only the two together can show."""

import os
import signal
import subprocess

import pytest

import wire
from harness import BUILD, clean_environment, stop_process, wait_until
from test_qactl import NOBODY, run_as
from test_qactl_output import table_of
from wire import PARTS

READERS = 64999
ROW = wire.row_of()


@pytest.fixture
def serving(fake):
    """Makes targets that answer by themselves; all end with the test."""

    def make(kind=wire.ServingTarget, **options):
        return fake(kind, **options)

    return make


def pids(result):
    assert result.code == 0, result
    return [one["pid"] for one in result.json]


def wait_known(qactl, *targets):
    wait_until(lambda: {one.pid for one in targets} <= set(pids(qactl("ps", "--json"))), what="the targets in qactl ps")


def test_ps_stats_and_trim(serving, qactl):
    one, other = serving(name="editor"), serving(name="viewer", pid=1)
    wait_known(qactl, one, other)
    rows = {row["PID"]: row for row in table_of(qactl("ps").out, "PID")}
    assert rows[str(one.pid)]["HELD"] == "90.9 KiB" and rows[str(one.pid)]["COMMAND"].endswith(" (editor)")
    assert rows[str(one.pid)]["STATE"] == "ok" and rows[str(one.pid)]["USER"] == "root"
    figures = qactl("stats", "viewer", "--json").json
    assert (figures["pid"], figures["inner_pid"], figures["name"]) == (other.pid, 1, "viewer")
    assert (figures["uid"], figures["silent"], figures["age_ms"]) == (os.geteuid(), False, 0)
    assert figures["classes"] == [ROW] and figures["rss_bytes"] > 0
    for row in [figures, *figures["classes"]]:
        assert row["held_bytes"] == row["used_bytes"] + sum(row[part] for part in PARTS)
    outcome = qactl("trim", one.pid, "--json").json
    assert {key: outcome[key] for key in wire.trim_of()} == wire.trim_of() and outcome["pid"] == one.pid
    assert outcome["rss_before_bytes"] > 0 and outcome["rss_after_bytes"] > 0
    assert set(pids(qactl("trim", "--all", "--json"))) == {one.pid, other.pid}


def test_several_targets_of_one_command(serving, qactl):
    one, other = serving(), serving()
    wait_known(qactl, one, other)
    command = qactl("ps", "--json").json[0]["command"]
    result = qactl("trim", command)
    assert result.code == 64 and {row["PID"] for row in table_of(result.err, "PID")} == {str(one.pid), str(other.pid)}
    assert pids(qactl("trim", command, "--all", "--json")) == sorted([one.pid, other.pid])


def test_a_stopped_target_is_shown_as_it_was(serving, qactl):
    one, other = serving(name="stopped"), serving(name="running")
    wait_known(qactl, one, other)
    assert qactl("stats", "stopped").code == 0
    stop_process(one.pid)
    result = qactl("stats", "stopped", "--json")
    assert result.code == 75 and "did not answer in time" in result.err
    assert result.json["age_ms"] > 0 and result.json["classes"] == [ROW]
    result = qactl("stats", one.pid)
    assert result.code == 75 and "last known figures" in result.out
    assert table_of(result.out, "BLOCK")[0]["BLOCK"] == "24"
    rows = {row["PID"]: row for row in table_of(qactl("ps").out, "PID")}
    assert rows[str(one.pid)]["STATE"].startswith("silent ") and rows[str(other.pid)]["STATE"] == "ok"
    one.kill(signal.SIGCONT)
    wait_until(lambda: qactl("stats", "stopped").code == 0, what="the target to answer again")


def test_a_stopped_target_whose_classes_nobody_asked_for(serving, qactl):
    one = serving(name="seen-by-ps")
    wait_until(lambda: any(each["held_bytes"] for each in qactl("ps", "--json").json), what="figures")
    stop_process(one.pid)
    result = qactl("stats", "seen-by-ps")
    assert result.code == 75 and "held       90.9 KiB" in result.out and "not all size classes are known" in result.out


def test_a_stopped_target_that_never_answered(serving, qactl):
    one = serving(wire.FakeTarget, name="mute")
    result = qactl("stats", "mute")
    assert result.code == 75 and result.out == "" and "no earlier figures" in result.err
    row = table_of(qactl("ps").out, "PID")[0]
    assert (row["PID"], row["HELD"], row["STATE"]) == (str(one.pid), "-", "silent")


@pytest.mark.plain_only  # half a minute, of qactl's time and qad's
def test_trim_of_a_stopped_target_does_not_hold_up_the_others(serving, qactl):
    """Waits out qad's deadline of 30 s, which must come before qactl's own."""
    one, others = serving(), [serving() for _ in range(20)]
    wait_known(qactl, one, *others)
    stop_process(one.pid)
    result = qactl("trim", "--all", "--json")
    assert result.code == 75 and f"pid {one.pid}: did not answer in time" in result.err
    assert {outcome["pid"] for outcome in result.json} == {other.pid for other in others}


@pytest.mark.parametrize("command", ["stats", "trim"])
def test_a_target_that_ends_while_it_is_asked(serving, qactl, socket_path, command):
    one = serving(wire.FakeTarget, name="mortal")
    client = subprocess.Popen([BUILD / "qactl" / "qactl", command, str(one.pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=clean_environment(QAD_SOCKET=socket_path))
    assert one.question()[1] == command
    pid = one.pid
    one.end()
    out, err = client.communicate(timeout=30)
    assert (client.returncode, out) == (67, "") and f"pid {pid}: ended while it was asked" in err
    assert qactl(command, "mortal").code == 67


def test_another_users_target_is_not_there(serving, qactl, qad, socket_dir):
    os.chmod(socket_dir, 0o755)
    roots, nobodys = serving(name="of-root"), serving(name="of-nobody", uid=NOBODY)
    wait_known(qactl, roots, nobodys)
    for command in ("stats", "trim"):
        for operand in (roots.pid, "of-root"):
            result = run_as(NOBODY, command, operand, QAD_SOCKET=qad.socket_path)
            assert result.returncode == 67 and "belongs to another user" in result.stderr, result
        assert run_as(NOBODY, command, "of-nobody", QAD_SOCKET=qad.socket_path).returncode == 0
        assert qactl(command, "of-nobody").code == 0
    assert "of-root" not in run_as(NOBODY, "ps", QAD_SOCKET=qad.socket_path).stdout
    assert "of-root" in qactl("ps").out and "of-nobody" in qactl("ps").out


def test_a_reader_sees_and_may_not_trim(qad_factory, socket_dir, qactl):
    qad = qad_factory().start("--read-group", str(READERS))
    os.chmod(socket_dir, 0o755)
    one = wire.ServingTarget(qad.socket_path, name="of-root")
    try:
        wait_known(qactl, one)
        for *words, status in (("ps", 0), ("stats", "of-root", 0), ("trim", "of-root", 77), ("trim", "--all", 77)):
            result = run_as(NOBODY, *words, groups=READERS, QAD_SOCKET=qad.socket_path)
            assert result.returncode == status, result
            assert status == 0 or "not trimmed by you" in result.stderr
    finally:
        one.end()
        qad.stop()


@pytest.mark.parametrize("name", ["\x1b[2J\x07\n", "日本語 e\u0301", "x" * 64, "\u202egnp"])
def test_names_reach_the_client_whole(serving, qactl, name):
    one = serving(name=name)
    wait_known(qactl, one)
    assert qactl("stats", name, "--json").json["name"] == name
    assert len(table_of(qactl("ps", LC_ALL="C.UTF-8").out, "PID")) == 1


@pytest.mark.plain_only  # half a minute; test_qactl_output.py has as many without qad
def test_a_thousand_targets(serving, qactl):
    made = [serving() for _ in range(1000)]
    wait_known(qactl, *made)
    rows = table_of(qactl("ps").out, "PID")
    assert [row["PID"] for row in rows] == [str(pid) for pid in sorted(one.pid for one in made)]
    assert {row["STATE"] for row in rows} == {"ok"} and {row["HELD"] for row in rows} == {"90.9 KiB"}


def test_the_table_of_a_program_on_libqa(qad, target, qactl):
    program = target(QA_NAME="real")
    wait_until(lambda: qactl("stats", "real").code == 0, what="the target to be known")
    few, all_rows = qactl("stats", "real").out, qactl("stats", program.pid, "--all-classes").out
    assert len(table_of(few, "BLOCK")) < len(table_of(all_rows, "BLOCK"))
    assert [row["BLOCK"] for row in table_of(all_rows, "BLOCK")][-2:] == ["large", "TOTAL"]
    assert all(row["PAGES"] != "0" for row in table_of(few, "BLOCK")[:-1])
    assert "returned" in qactl("trim", "real").out
