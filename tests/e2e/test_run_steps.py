"""The runner of script/test: order, processors, failures, and that what did not run is counted as failed."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from harness import DEADLINE, REPO, wait_until

sys.path.insert(0, str(REPO / "script"))
import count_results
import run_steps
from run_steps import Step

pytestmark = pytest.mark.plain_only  # the build does not matter


def shell(name, text, **more):
    return Step(name, ["sh", "-c", text], **more)


@pytest.fixture(autouse=True)
def usual_signals():
    """The runner takes SIGINT and SIGTERM for itself."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(folder, *steps, processors=2):
    run_steps.run(steps, folder, processors)
    lines = [line.split("\t") for line in (folder / "steps").read_text().splitlines()]
    return {line[0]: line[1] for line in lines}


def last_line(folder, capsys):
    capsys.readouterr()
    code = count_results.main(folder / "steps")
    return code, capsys.readouterr().out.splitlines()[-1]


def test_a_step_waits_for_what_it_needs(tmp_path, capsys):
    made = tmp_path / "made"
    assert run(tmp_path, shell("build", f"sleep 0.1; touch {made}"), shell("test", f"test -e {made}", needs=("build",))) == {
        "build": "0", "test": "0"}
    assert last_line(tmp_path, capsys) == (0, "2 passed, 0 failed")


def test_two_run_at_a_time(tmp_path):
    meet = "echo > {0}/{1}; while ! test -e {0}/{2}; do sleep 0.01; done"
    steps = shell("a", meet.format(tmp_path, "one", "two")), shell("b", meet.format(tmp_path, "two", "one"))
    assert run(tmp_path, *steps) == {"a": "0", "b": "0"}


def test_no_more_run_at_a_time_than_there_are_processors(tmp_path):
    alone = f"mkdir {tmp_path}/busy && sleep 0.05 && rmdir {tmp_path}/busy"
    names = ("a", "b", "c")
    assert run(tmp_path, *[shell(name, alone) for name in names], processors=1) == {name: "0" for name in names}


def test_one_that_takes_half_a_processor_leaves_the_other_half(tmp_path):
    meet = "echo > {0}/{1}; while ! test -e {0}/{2}; do sleep 0.01; done"
    steps = [shell("a", meet.format(tmp_path, "one", "two"), processors=0.5), shell("whole", f"test -e {tmp_path}/two"),
             shell("b", meet.format(tmp_path, "two", "one"), processors=0.5), shell("c", "true", processors=5)]
    assert run(tmp_path, *steps, processors=1) == {"a": "0", "b": "0", "whole": "0", "c": "0"}


def test_what_needs_a_failed_step_has_failed_too(tmp_path, capsys):
    junit = tmp_path / "junit.xml"
    junit.write_text('<testsuites><testcase name="of an earlier run"/></testsuites>')
    codes = run(tmp_path, shell("build", "echo no such file; exit 3"), shell("test", "true", needs=("build",), junit=str(junit)),
                shell("more", "true", needs=("test",)), shell("other", "true"))
    assert codes == {"build": "3", "test": "not run", "more": "not run", "other": "0"}
    shown = capsys.readouterr().out
    assert "no such file" in shown and "build failed (exit 3)" in shown
    assert last_line(tmp_path, capsys) == (1, "1 passed, 3 failed")


def test_results_of_an_earlier_run_do_not_count(tmp_path, capsys):
    junit = tmp_path / "junit.xml"
    junit.write_text('<testsuites><testcase name="of an earlier run"/></testsuites>')
    run(tmp_path, shell("test", "true", junit=str(junit)))
    assert last_line(tmp_path, capsys) == (1, "0 passed, 1 failed")


def test_a_step_that_is_killed_has_failed(tmp_path, capsys):
    assert run(tmp_path, shell("test", "kill -9 $$")) == {"test": "-9"}
    assert last_line(tmp_path, capsys) == (1, "0 passed, 1 failed")


def test_the_end_of_a_long_log_is_shown(tmp_path, capsys):
    run(tmp_path, shell("test", "seq 1000; exit 1"))
    shown = capsys.readouterr().out.splitlines()
    assert "1000" in shown and "941" in shown and "940" not in shown


def is_gone(pid_file):
    return not pathlib.Path("/proc", pid_file.read_text().strip()).exists()


def test_a_step_has_a_limit_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(run_steps, "LIMIT_S", 0.3)
    pid_file = tmp_path / "pid"
    assert run(tmp_path, shell("test", f"sleep 1000 & echo $! > {pid_file}; wait")) == {"test": "124"}
    wait_until(lambda: is_gone(pid_file), what="the child to be gone")


def test_what_a_step_leaves_behind_is_ended(tmp_path):
    pid_file = tmp_path / "pid"
    assert run(tmp_path, shell("test", f"sleep 1000 & echo $! > {pid_file}")) == {"test": "0"}
    wait_until(lambda: is_gone(pid_file), what="the child to be gone")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_when_it_is_interrupted_its_steps_end(tmp_path, number):
    pid_file = tmp_path / "pid"
    program = (f"import sys, pathlib; sys.path.insert(0, {str(REPO / 'script')!r}); import run_steps\n"
               f"run_steps.run([run_steps.Step('test', ['sh', '-c', 'echo $$ > {pid_file}; exec sleep 1000'])],"
               f" pathlib.Path({str(tmp_path)!r}), 1)")
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wait_until(lambda: pid_file.exists() and pid_file.read_text().strip(), what="the step to start")
    os.kill(process.pid, number)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 128 + number
    wait_until(lambda: is_gone(pid_file), what="the step to end")


@pytest.mark.parametrize("steps", [
    [shell("a", "true", needs=("b",)), shell("b", "true")],
    [shell("a", "true"), shell("a", "true")],
], ids=["needs a later one", "twice"])
def test_a_table_that_can_not_be_right_is_refused(tmp_path, steps):
    with pytest.raises(ValueError, match="step a"):
        run(tmp_path, *steps)
