"""Targets and qad come, go, stop and fork; neither the program nor the others notice."""

import array
import fcntl
import os
import pathlib
import resource
import signal
import socket
import subprocess
import termios
import time

import msgpack
import pytest

from conftest import (BUILD, IS_SANITIZED, SECOND, clean_environment, row_of, stop_process, wait_asleep, wait_until,
                      wait_watching)


def known_pids(qactl, **environment):
    result = qactl("ps", "--json", **environment)
    assert result.code == 0, result
    data = result.json
    return {one["pid"] for one in (data["targets"] if isinstance(data, dict) else data)}


def wait_known(qactl, *pids):
    wait_until(lambda: set(pids) <= known_pids(qactl), what=f"{pids} to be in qactl ps")


def wait_unknown(qactl, pid):
    wait_until(lambda: pid not in known_pids(qactl), what=f"{pid} to leave qactl ps")


def agent_fds(program):
    """How many descriptors the agent's thread has in its own table."""
    return len(os.listdir(program.agent_task() / "fd"))


def agent_switches(program):
    """How often the agent's thread was given a processor and gave it up."""
    text = (program.agent_task() / "status").read_text()
    return [int(line.split()[1]) for line in text.splitlines() if "ctxt_switches" in line]


# qad comes and goes


@pytest.mark.parametrize("order", ["qad first", "target first"])
def test_either_may_start_first(qad_factory, target, qactl, order):
    qad = qad_factory()
    if order == "qad first":
        qad.start()
    program = target()
    if order == "target first":
        qad.start()
    wait_known(qactl, program.pid)
    qad.stop()


def test_qad_may_come_before_its_folder_is_there(qad_factory, socket_dir, target, qactl):
    path = socket_dir / "later" / "qad.sock"
    program = target(QAD_SOCKET=path)
    path.parent.mkdir(mode=0o700)
    qad_factory(path).start()
    wait_until(lambda: program.pid in known_pids(qactl, QAD_SOCKET=path), what="the target to be known")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_target_is_back_within_a_second_when_qad_restarts(qad, target, qactl, number):
    program = target()
    program.ask("signals")
    program.ask("alloc 1 1000 24 8")
    wait_known(qactl, program.pid)
    assert program.fds().keys() == {0, 1, 2}, "the agent's descriptors are not among the program's"
    agents = agent_fds(program)
    for _ in range(5):
        qad.process.send_signal(number)
        qad.process.wait(30)
        qad.start()
        wait_until(lambda: program.pid in known_pids(qactl), timeout=SECOND, what="the target to be back")
    assert program.fds().keys() == {0, 1, 2}
    assert agent_fds(program) == agents, "no descriptor was lost"
    assert program.ask("counts") == {"signals": 0, "eintr": 0}
    assert program.ask("check 1") == {"blocks": 1000, "bad": 0}


def test_qad_killed_in_the_middle_of_a_request(qad, target, qactl):
    program = target()
    bystander = target()
    program.ask("signals")
    wait_known(qactl, program.pid, bystander.pid)
    stop_process(program.pid)  # so that the request stays unanswered
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(30)
        client.connect(str(qad.socket_path))
        for frame in ([0, 0, "hello", {"protocol": 1, "role": "client"}], [0, 1, "trim", {"pid": program.pid}],
                      [0, 2, "ps", {"figures": False}]):
            client.sendall(msgpack.packb(frame))
        answers = msgpack.Unpacker()
        ids = []
        while 2 not in ids:  # once ps is answered, qad has asked the target to trim
            data = client.recv(4096)
            assert data, "qad closed the connection"
            answers.feed(data)
            ids += [answer[1] for answer in answers]
        assert 1 not in ids
        qad.kill()
        assert client.recv(4096) == b""
    os.kill(program.pid, signal.SIGCONT)
    qad.start()
    wait_known(qactl, program.pid, bystander.pid)
    assert qactl("trim", program.pid).code == 0
    assert program.ask("counts") == {"signals": 0, "eintr": 0}


# Targets come and go


def test_a_target_that_is_killed_leaves_and_the_others_stay(qad, target, qactl, stats):
    victim, other = target(), target()
    wait_known(qactl, victim.pid, other.pid)
    victim.process.kill()
    victim.process.wait()
    wait_unknown(qactl, victim.pid)
    assert qactl("stats", victim.pid).code == 67
    assert stats(other.pid)["pid"] == other.pid


def test_a_stopped_target_is_told_as_such_and_the_others_are_served(qad, target, qactl, stats):
    stopped, other = target(QA_NAME="stopped"), target(QA_NAME="other")
    stopped.ask("alloc 1 1000 24 8")
    stats(stopped.pid)
    stats(other.pid)
    stop_process(stopped.pid)
    try:
        with subprocess.Popen([BUILD / "qactl" / "qactl", "stats", "stopped"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=clean_environment(QAD_SOCKET=qad.socket_path)) as waiting:
            assert stats(other.pid)["pid"] == other.pid, "the other is answered meanwhile"
            assert qactl("trim", other.pid).code == 0
            out, error = waiting.communicate(timeout=30)
        assert waiting.returncode == 75, error
        assert "24" in out, "the last known figures are shown"
    finally:
        os.kill(stopped.pid, signal.SIGCONT)
    wait_until(lambda: qactl("stats", stopped.pid).code == 0, what="the target to answer again")


def test_bad_clients_do_not_keep_qad_from_the_others(qad, target, qactl, stats):
    program = target()
    stats(program.pid)
    peers = []
    try:
        for data in (b"", b"\x94\x00", b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n", b"\xdd\xff\xff\xff\xff",
                     msgpack.packb([0, 1, "hello", {"protocol": 1, "role": "client"}])[:-3]):
            peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            peers.append(peer)
            peer.connect(str(qad.socket_path))
            peer.sendall(data)
            assert stats(program.pid)["pid"] == program.pid
            assert qactl("trim", program.pid).code == 0
    finally:
        for peer in peers:
            peer.close()
    rss = int(pathlib.Path(f"/proc/{qad.pid}/statm").read_text().split()[1]) * resource.getpagesize()
    assert rss < 200 << 20, "nobody made qad reserve memory"


def test_many_targets_at_once(qad, target, qactl):
    programs = [target() for _ in range(20)]
    wait_known(qactl, *(program.pid for program in programs))
    for program in programs[:10]:
        program.quit()
    for program in programs[:10]:
        wait_unknown(qactl, program.pid)
    wait_known(qactl, *(program.pid for program in programs[10:]))


# The program never notices


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
    """Nobody looks: no context switch. The numbers over 30 s are bench/idle's; here 1 s of other work goes by."""
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


# fork


def test_fork_parent_and_child_both_show_up_and_both_trim(qad, target, qactl, stats):
    program = target()
    program.ask("signals")
    program.ask("alloc 1 10000 24 8")
    program.ask("alloc 2 10000 56 8")
    stats(program.pid)
    child = program.ask("fork")["pid"]
    wait_known(qactl, program.pid, child)

    assert program.ask("child check 1") == {"blocks": 10000, "bad": 0}
    program.ask("child free 2")  # in the child only
    figures = stats(child)
    assert row_of(figures, 24)["used_blocks"] == 10000 and row_of(figures, 56)["used_blocks"] == 0
    figures = stats(program.pid)
    assert row_of(figures, 24)["used_blocks"] == row_of(figures, 56)["used_blocks"] == 10000
    assert qactl("trim", child).code == 0
    assert row_of(stats(child), 56)["held_bytes"] == 0
    assert program.ask("check 2") == {"blocks": 10000, "bad": 0}

    program.ask("free 1")
    assert qactl("trim", program.pid).code == 0
    assert row_of(stats(program.pid), 24)["held_bytes"] == 0
    assert program.ask("child check 1") == {"blocks": 10000, "bad": 0}
    assert program.ask("counts")["eintr"] == 0


def test_fork_of_a_program_with_threads(qad, target, qactl, stats):
    program = target()
    for number in range(3):
        program.ask(f"thread {number}")
        program.ask(f"on {number} alloc {number} 1000 24 8")
        program.ask(f"on {number} free {number} 2")
    child = program.ask("fork")["pid"]
    wait_known(qactl, program.pid, child)
    for number in range(3):
        assert program.ask(f"child check {number}") == {"blocks": 500, "bad": 0}
        assert program.ask(f"child free {number}") == {"bad": 0}
    assert stats(child)["threads"] <= 1, "the threads that are not in the child have no cache there"
    assert qactl("trim", child).code == 0
    assert stats(child)["held_bytes"] == 0, "also what the threads that are not in the child had cached"
    assert row_of(stats(program.pid), 24)["used_blocks"] == 1500


def wait_for_runtime(qactl, pid):
    """gcc 12's AddressSanitizer does not release its locks over fork: no thread of the process may be just starting."""
    if IS_SANITIZED:
        wait_known(qactl, pid)


def test_fork_from_another_thread_and_again_in_the_child(qad, target, qactl, stats):
    program = target()
    program.ask("thread 1")
    program.ask("on 1 alloc 1 1000 24 8")
    wait_for_runtime(qactl, program.pid)
    child = program.ask("on 1 fork")["pid"]
    wait_for_runtime(qactl, child)
    grandchild = program.ask("child fork")["pid"]
    wait_known(qactl, program.pid, child, grandchild)
    assert program.ask("child child check 1") == {"blocks": 1000, "bad": 0}
    assert program.ask("child child free 1") == {"bad": 0}
    assert qactl("trim", grandchild).code == 0
    assert row_of(stats(child), 24)["used_blocks"] == 1000


def test_forks_while_threads_run_at_full_speed(qad, target, stats, qactl):
    program = target()
    stats(program.pid)
    program.send("load 4 500000 50")
    while not program.has_answer():
        assert qactl("trim", program.pid).code == 0
    answer = program.answer()
    assert answer == {"checked": 2000000, "bad": 0, "failed": 0, "children_bad": 0}
    assert stats(program.pid)["used_bytes"] == 0


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


def test_figures_of_a_busy_target_come_at_once(qad, target, stats, qactl):
    program = target()
    stats(program.pid)
    program.send("load 4 500000")
    while not program.has_answer():
        assert qactl("stats", program.pid, "--json").code == 0
    assert program.answer()["bad"] == 0


def test_nothing_is_left_when_all_has_ended(qad, target, qactl, socket_dir):
    program = target()
    wait_known(qactl, program.pid)
    qad.stop()
    program.quit()
    assert not list(socket_dir.glob("*.sock*"))
