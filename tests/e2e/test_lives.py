"""qad and targets come, go and stop; the others do not notice."""

import os
import pathlib
import resource
import signal
import socket
import subprocess

import msgpack
import pytest

from harness import BUILD, SECOND, clean_environment, stop_process, wait_until
from programs import known_pids, wait_known, wait_unknown


def agent_fds(program):
    """How many descriptors the agent's thread has in its own table."""
    return len(os.listdir(program.agent_task() / "fd"))


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
