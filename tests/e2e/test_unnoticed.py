"""The program never notices its agent: signals, descriptors, sleep, narrow places; and it can do without one."""

import os
import resource
import signal
import time

import pytest

from figures import row_of
from harness import stop_process, wait_until
from programs import known_pids, wait_asleep, wait_known, wait_unknown, wait_watching


def agent_switches(program):
    """How often the agent's thread was given a processor and gave it up."""
    text = (program.agent_task() / "status").read_text()
    return [int(line.split()[1]) for line in text.splitlines() if "ctxt_switches" in line]


# Beside the program


def test_the_program_gets_no_signal_and_no_eintr(qad, target, qactl, stats):
    program = target()
    program.ask("signals")
    program.ask("thread 1")
    for _ in range(20):
        stats(program.pid)
        assert qactl("trim", program.pid).code == 0
    stop_process(program.pid)
    qad.kill()  # its end of the socket is gone while an answer may be due: SIGPIPE's case
    os.kill(program.pid, signal.SIGCONT)
    qad.start()
    stats(program.pid)
    assert program.ask("on 1 alloc 1 10 24 8")
    assert program.ask("counts") == {"signals": 0, "eintr": 0}


def test_the_programs_signals_never_run_in_the_agent(qad, target, stats):
    program = target()
    program.ask("signals")
    stats(program.pid)
    status = (program.agent_task() / "status").read_text()
    blocked = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:")), 16)
    for number in set(range(1, 32)) - {signal.SIGKILL, signal.SIGSTOP}:
        assert blocked >> (number - 1) & 1, f"signal {number} is not blocked in the agent"
    os.kill(program.pid, signal.SIGUSR1)
    wait_until(lambda: program.ask("counts")["signals"] == 1, what="the program's own signal to arrive")


def test_descriptors_are_closed_in_programs_that_are_started(qad, target, stats):
    program = target()
    stats(program.pid)
    assert program.ask("spawn") == {"fds": 0}


def test_a_program_that_closes_all_descriptors_keeps_its_files_whole(qad, target, stats, qactl):
    program = target()
    stats(program.pid)
    assert program.ask("close-all")["occupied"] > 0
    qactl("stats", program.pid)
    qactl("trim", program.pid)
    qad.kill()
    qad.start()
    wait_known(qactl, program.pid)
    stats(program.pid)
    assert qactl("trim", program.pid).code == 0
    assert program.ask("occupied") == {"bytes": 0}, "the agent wrote into, or closed, what is not its own"


def test_an_idle_agent_is_not_woken(qad, target, stats):
    """Nobody looks: no context switch. The number over half a minute is bench/numbers'; here 1 s of other work goes by."""
    program = target()
    stats(program.pid)
    other = target()
    stats(other.pid)
    wait_asleep(program)
    before = agent_switches(program)
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        stats(other.pid)  # qad has work, with another target
    assert agent_switches(program) == before


def test_without_qad_the_agent_sleeps_and_the_program_runs(target):
    program = target()
    wait_watching(program)  # it wakes up once for that, half a second old
    before = agent_switches(program)
    program.ask("load 2 200000")
    assert agent_switches(program) == before
    program.quit()


# The agent on and off


def test_agent_off_by_the_environment(qad, target, qactl):
    program = target(QA_AGENT="off")
    other = target()
    wait_known(qactl, other.pid)
    assert program.agent_task() is None
    assert program.pid not in known_pids(qactl)
    result = qactl("stats", program.pid)
    assert result.code == 67 and result.err
    program.ask("fork")
    assert program.ask("child alloc 1 10 24 8")
    assert len(os.listdir(f"/proc/{program.pid}/task")) == 1


def test_agent_stopped_and_started_by_call(qad, target, qactl, stats):
    program = target()
    stats(program.pid)
    fds = program.fds()
    for _ in range(5):
        program.ask("agent stop")
        assert program.agent_task() is None, "the call waits until the thread is gone"
        assert program.fds().keys() == fds.keys(), "the agent's descriptors are not the program's"
        wait_unknown(qactl, program.pid)
        program.ask("agent start")
        stats(program.pid)
    assert program.fds().keys() == {0, 1, 2}
    program.ask("agent start")  # it runs already
    assert len(os.listdir(f"/proc/{program.pid}/task")) == 2
    program.quit()


# Narrow places


@pytest.mark.plain_only  # AddressSanitizer takes terabytes of address space for itself
def test_small_address_space(qad, target, stats):
    limit = 256 << 20
    program = target(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert program.ask_line("malloc 1 1 500000000") == "error Cannot allocate memory"
    assert program.ask_line("malloc 2 1000 1000000") == "error Cannot allocate memory"
    assert program.ask("free 2") == {"bad": 0}
    assert program.ask_line("alloc 3 100000000 24 8").startswith("error")
    assert program.ask("free 3") == {"bad": 0}
    assert program.ask("alloc 4 1000 24 8")
    assert row_of(stats(program.pid), 24)["used_blocks"] == 1000


def test_where_membarrier_is_refused_owners_return_what_they_cache(qad, target, stats, qactl):
    program = target(arguments=["--sandbox"])
    program.ask("thread 1")
    program.ask("on 1 alloc 1 10000 24 8")
    program.ask("on 1 alloc 2 10000 56 8")
    program.ask("on 1 free 1")
    figures = stats(program.pid)
    assert 0 < figures["unreachable_bytes"] <= figures["thread_bytes"]
    assert qactl("trim", program.pid).code == 0
    after = stats(program.pid)
    assert after["used_bytes"] == 10000 * 56 and after["unreachable_bytes"] <= figures["unreachable_bytes"]
    # The owner was asked: at its next miss it gives back what it has, and the next trim takes that.
    program.ask("on 1 free 2")
    program.ask("on 1 alloc 3 10000 104 8")
    assert qactl("trim", program.pid).code == 0
    figures = stats(program.pid)
    assert row_of(figures, 24)["held_bytes"] == 0
    assert row_of(figures, 104)["used_blocks"] == 10000
    assert program.ask("check 3")["bad"] == 0
