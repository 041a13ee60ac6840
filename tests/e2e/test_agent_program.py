"""The agent and its program, which never notices: descriptors, stopping it in every state, forks, memory."""

import os
import signal

import msgpack
import pytest

from agent_server import server, server_at  # noqa: F401, fixtures
from harness import wait_until
from programs import wait_watching


def test_the_program_has_no_descriptor_more(server, target):
    without = target(QA_AGENT="off")
    program = target()
    peer = server.welcome()
    assert program.fds().keys() == without.fds().keys() == {0, 1, 2}
    peer.close()
    server.welcome()
    assert program.fds().keys() == {0, 1, 2}


def test_closed_descriptors_do_not_touch_the_connection(server, target):
    program = target()
    peer = server.welcome()
    program.ask("close-all")
    for _ in range(100):
        assert peer.ask("stats", {"classes": True})[3]["page_size"] > 0
    assert program.ask("occupied") == {"bytes": 0}
    program.ask("agent stop")
    assert peer.receive() is None
    program.ask("agent start")
    server.welcome()
    program.quit()


@pytest.mark.parametrize("moment", ["waiting", "connected", "turned away"])
def test_stop_in_every_state(server_at, socket_path, target, moment):
    program = target()
    if moment != "waiting":
        server = server_at(socket_path)
        peer = server.accept()
        if moment == "turned away":
            peer.close()
    else:
        wait_watching(program)
    for _ in range(20):
        program.ask("agent stop")
        assert program.agent_task() is None
        program.ask("agent start")
        if moment == "connected":
            server.accept().hello()
    program.quit()


def test_stop_again_and_again_at_once(server, target):
    """The agent ends by itself in the moment in which it is told to: no SIGPIPE, which would end the program."""
    program = target()
    for turn in range(400):
        commands = ["agent start", *["trim"] * (turn % 20), "agent stop"] * 10  # the agent gets further and further
        program.send("\n".join(commands))
        for _ in commands:
            assert program.answer_line() == "ok"
    assert program.agent_task() is None
    program.quit()


@pytest.mark.plain_only
def test_stop_without_proc(server, target):
    """In a root folder without /proc the agent is reached by a descriptor for its thread, or ends with its connection."""
    program = target()
    peer = server.welcome()
    assert program.ask_line("chroot " + os.path.dirname(server.path)) == ("ok" if os.geteuid() == 0 else "error Operation not permitted")
    program.ask("agent stop")
    peer.close()
    wait_until(lambda: program.agent_task() is None, what="the agent to end")
    program.quit()


@pytest.mark.plain_only
def test_stop_after_the_program_became_another_user(server, target):
    """As daemons do; on kernels before 6.9 only the name in /proc leads to the agent, and the pipe was made by root."""
    program = target()
    server.welcome()
    became = program.ask_line("become 65534")
    assert became == ("ok" if os.geteuid() == 0 else "error Operation not permitted")
    program.ask("agent stop")
    assert program.agent_task() is None
    program.quit()


def test_stop_in_a_thread_that_is_cancelled(server, target):
    """It is not cancelled half-way, with the lock that fork takes."""
    program = target()
    peer = server.welcome()
    program.ask("agent stop cancelled")
    assert peer.receive() is None
    program.ask("agent start")
    server.welcome()
    program.ask("fork")
    assert server.accept().hello()[3]["pid"] != program.pid
    program.quit()


def test_fork_has_a_connection_of_its_own(server, target):
    program = target()
    parent = server.welcome()
    child_pid = program.ask("fork")["pid"]
    child = server.accept()
    hello = child.hello()
    assert hello[3]["pid"] == child_pid
    child.answer(hello)
    assert child.ask("stats")[3]["page_size"] > 0
    assert parent.ask("stats")[3]["page_size"] > 0
    os.kill(child_pid, signal.SIGKILL)
    assert child.receive() is None
    assert parent.ask("trim")[2] is None


def test_fork_while_the_agent_answers(server, target):
    """The child is whole whatever the agent was doing."""
    program = target()
    parent = server.welcome()
    request = msgpack.packb([0, 1, "stats", {"classes": True}])
    for _ in range(10):
        parent.socket.sendall(request * 20)
        child_pid = program.ask("fork")["pid"]
        child = server.accept()
        assert child.hello()[3]["pid"] == child_pid
        assert child.ask("trim")[2] is None
        assert [parent.receive()[2] for _ in range(20)] == [None] * 20
        os.kill(child_pid, signal.SIGKILL)
        assert child.receive() is None


def test_agent_stopped_stays_off_in_the_child(server, target):
    program = target()
    peer = server.welcome()
    program.ask("agent stop")
    assert peer.receive() is None
    program.ask("fork")
    program.ask("alloc 1 10 24 8")
    assert not server.is_asked(0.3)


@pytest.mark.plain_only
def test_little_memory_and_a_small_stack(server, target):
    """Extra resident memory of a target that was asked: at most 200 KiB, thread and buffers together."""

    def anonymous_kib(program):
        with open(f"/proc/{program.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Private_Dirty:"))

    without = target(QA_AGENT="off")
    program = target()
    peer = server.welcome()
    for _ in range(3):
        assert peer.ask("stats", {"classes": True, "all_classes": True})[2] is None
    extra_kib = anonymous_kib(program) - anonymous_kib(without)
    assert extra_kib <= 200
