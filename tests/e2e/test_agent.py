"""The agent against a qad made of a bare socket: what it says, how it finds qad, and what it bears."""

import os
import socket
import time

import msgpack
import pytest

from agent_server import server, server_at  # noqa: F401, fixtures
from harness import DEADLINE, wait_until
from programs import wait_asleep, wait_watching


def cpu_ticks(program):
    fields = (program.agent_task() / "stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


# What it says


def test_hello_and_answers(server, target):
    program = target(QA_NAME="a label")
    peer = server.accept()
    hello = peer.hello()
    assert hello[3]["name"] == "a label"
    assert hello[3]["pid"] == program.pid
    assert hello[3]["version"]
    peer.answer(hello)
    program.ask("alloc 1 1000 24 8")
    kind, number, error, result = peer.ask("stats", {"classes": True}, number=2**32 - 1)
    assert (kind, number, error) == (1, 2**32 - 1, None)
    assert result["used_bytes"] == 24_000
    assert [row["used_blocks"] for row in result["classes"] if row["block_size"] == 24] == [1000]
    assert "classes" not in peer.ask("stats")[3]
    assert len(peer.ask("stats", {"classes": True, "all_classes": True})[3]["classes"]) > len(result["classes"])
    assert peer.ask("trim")[3]["held_after_bytes"] > 0
    program.quit()
    assert peer.receive() is None


def test_bad_requests_are_answered_and_the_connection_stays(server, target):
    target()
    peer = server.welcome()
    assert peer.ask("no such method")[2]["code"] == "unknown_method"
    assert peer.ask(b"stats")[2]["code"] == "bad_request"
    assert peer.ask("m" * 100)[2]["code"] == "unknown_method"
    assert peer.ask("stats", {"classes": "yes"})[2]["code"] == "bad_request"
    assert peer.ask("stats", 5)[2]["code"] == "bad_request"
    peer.send([2, "news", {}])  # a notification, and an answer that nobody waits for: passed over
    peer.send([1, 99, None, {}])
    assert peer.ask("stats", [])[3]["page_size"] > 0


def test_requests_come_in_pieces_and_in_heaps(server, target):
    target()
    peer = server.welcome()
    for byte in msgpack.packb([0, 1, "stats", {"classes": True}]):
        peer.socket.sendall(bytes([byte]))
    assert peer.receive()[1] == 1
    heap = b"".join(msgpack.packb([0, number, "stats", {}]) for number in range(500))
    peer.socket.sendall(heap)
    assert [peer.receive()[1] for _ in range(500)] == list(range(500))


@pytest.mark.parametrize("data", [
    b"\xc1",
    b"GET / HTTP/1.1\r\n\r\n",
    b"\xdd\xff\xff\xff\xff",
    b"\x94\x00\x01\xa1m\xdd\xff\xff\xff\xff",
    b"\x94\x07\x01\xa1m\x80",
    msgpack.packb([0, 1, "stats", {"a": [[[[[[[[1]]]]]]]]}]),
    msgpack.packb([0, 1, "stats", {str(i): "x" * 4000 for i in range(5)}]),
], ids=["never used", "text", "four billion", "four billion inside", "kind", "depth", "above 16 KiB"])
def test_what_is_no_message_ends_the_connection_only(server, target, data):
    program = target()
    peer = server.welcome()
    peer.socket.sendall(data)
    assert peer.receive() is None, "the agent hangs up"
    assert server.welcome().ask("stats")[3]["page_size"] > 0, "and comes back"
    program.quit()


def test_a_qad_that_does_not_read(server, target):
    """Requests whose answers it never reads: the agent stops reading, sleeps, and can be stopped."""
    program = target()
    peer = server.welcome()
    peer.socket.settimeout(0.2)
    request = msgpack.packb([0, 1, "stats", {"classes": True, "all_classes": True}])
    with pytest.raises(TimeoutError):
        while True:
            peer.socket.sendall(request * 100)
    wait_asleep(program)
    program.ask("alloc 1 1000 24 8")
    program.ask("agent stop")
    assert program.agent_task() is None
    program.quit()


def test_answers_to_a_qad_that_reads_late_are_whole(server, target):
    target()
    peer = server.welcome()
    count = 0
    peer.socket.settimeout(0.2)
    request = msgpack.packb([0, 1, "stats", {"classes": True, "all_classes": True}])
    try:
        while True:
            peer.socket.sendall(request)
            count += 1
    except TimeoutError:
        pass  # the last one may have gone in part
    peer.socket.settimeout(DEADLINE)
    for _ in range(count):
        assert peer.receive()[2] is None


# How it looks for qad


def test_socket_left_over_and_replaced(server_at, socket_path, target):
    server_at(socket_path).listener.close()  # the file stays, nobody listens
    program = target()
    wait_watching(program)
    assert server_at(socket_path, in_place=False).welcome().ask("stats")[3]["page_size"] > 0
    program.quit()


def test_bound_first_and_listening_later(socket_path, target):
    """A server that needs a moment between bind and listen, of which no event tells."""
    program = target()
    wait_watching(program)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(socket_path))
        listener.settimeout(DEADLINE)
        wait_asleep(program)
        listener.listen()
        peer, _ = listener.accept()
        with peer:
            assert peer.recv(1) == b"\x94"


def test_folders_on_the_way_come_and_go(server_at, socket_dir, target):
    path = socket_dir / "a" / "b" / "c" / "qad.sock"
    program = target(QAD_SOCKET=path)
    for _ in range(3):
        wait_watching(program)
        path.parent.mkdir(parents=True, mode=0o700)
        server = server_at(path)
        peer = server.welcome()
        assert peer.ask("stats")[3]["page_size"] > 0
        server.close()
        wait_watching(program)
        for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
            folder.rmdir()
    program.quit()


def default_environment(socket_dir):
    assert not os.path.exists("/run/qad/qad.sock"), "stop the qad of the system first, targets look there before"
    return {"QAD_SOCKET": None, "XDG_RUNTIME_DIR": socket_dir}


def test_default_place_is_made_and_watched(server_at, socket_dir, target):
    program = target(**default_environment(socket_dir))
    folder = socket_dir / "qad"
    wait_until(folder.is_dir, what="the agent to make the folder")
    assert folder.stat().st_mode & 0o777 == 0o700
    wait_watching(program)
    assert server_at(folder / "qad.sock", in_place=False).welcome().ask("stats")[3]["page_size"] > 0
    program.quit()


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o770])
def test_a_folder_open_to_others_is_not_trusted(server_at, socket_dir, target, mode):
    folder = socket_dir / "qad"
    folder.mkdir()
    folder.chmod(mode)
    server = server_at(folder / "qad.sock")
    program = target(**default_environment(socket_dir))
    wait_watching(program)
    assert not server.is_asked()
    program.quit()
    assert not server.is_asked()


def test_a_server_of_another_user_is_not_trusted(server_at, socket_dir, target):
    """The folder is in order, but who listens is somebody else: the agent hangs up before it says a word. (Root only.)"""
    folder = socket_dir / "qad"
    folder.mkdir(mode=0o700)
    is_root = os.geteuid() == 0  # anybody else can only be itself, whom the agent trusts
    server = server_at(folder / "qad.sock")
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        code = 2  # of one that fails: it must not go on with the other tests
        try:
            os.close(read_end)
            if is_root:
                os.setuid(65534)
            server.listener.listen(16)  # its credentials are those of who calls listen
            os.write(write_end, b"x")
            server.accept()
            code = 0 if server.peers[0].socket.recv(1) == (b"" if is_root else b"\x94") else 1
        finally:
            os._exit(code)
    os.close(write_end)
    assert os.read(read_end, 1) == b"x"
    os.close(read_end)
    program = target(**default_environment(socket_dir))
    assert os.waitpid(child, 0)[1] == 0, "nothing was said"
    program.quit()


# When qad does not want it


def test_a_qad_that_hangs_up_at_once_is_not_stormed(server, target):
    program = target()
    begin = time.monotonic()
    for _ in range(6):
        server.accept().close()
    assert time.monotonic() - begin > 0.1, "the tries come further and further apart"
    wait_asleep(program)
    assert cpu_ticks(program) < 20
    program.ask("agent stop")
    program.quit()


def test_a_qad_that_refuses_hello(server, target):
    program = target()
    for _ in range(3):
        peer = server.accept()
        hello = peer.hello()
        peer.send([1, hello[1], {"code": "version", "message": "not spoken"}, None])
        assert peer.receive() is None
    program.quit()


def test_a_full_backlog_is_waited_out(socket_path, target):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(socket_path))
        listener.listen(0)
        listener.settimeout(DEADLINE)
        others = []
        while True:
            other = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            other.setblocking(False)
            others.append(other)
            if other.connect_ex(str(socket_path)) != 0:
                break
        program = target()
        wait_watching(program)
        for other in others:
            other.close()
        for _ in others:
            peer, _ = listener.accept()
            with peer:
                if peer.recv(1) == b"\x94":
                    break
        else:
            pytest.fail("the agent did not come")
        program.quit()
