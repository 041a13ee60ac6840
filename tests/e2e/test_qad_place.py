"""
The socket's file or folder is removed or replaced under a qad that runs: it takes the place again, and those who are
connected stay.
"""

import contextlib
import os
import shutil
import socket
import subprocess

import pytest

import wire
from harness import BUILD, PATIENT, SECOND, clean_environment, end_process, is_connectable, wait_until
from programs import targets_of, wait_for_target


@pytest.fixture
def placed(qad_factory, socket_dir):
    """A qad whose folder is one below the test's, so that it can go; with a target and a client."""
    qad = qad_factory(socket_dir / "sub" / "qad.sock").start()
    target = wire.ServingTarget(qad.socket_path)
    client = wire.client(qad.socket_path)
    wait_for_target(client, target.pid)
    yield qad, target, client
    client.close()
    target.end()


def remove_socket(path):
    path.unlink()


def remove_folder(path):
    shutil.rmtree(path.parent)


def move_socket(path):
    path.rename(path.with_name("old"))


def move_folder(path):
    path.parent.rename(path.parent.with_name("old"))


def put_a_stale_socket_there(path):
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{path}.other")
        os.rename(f"{path}.other", path)


def replace_folder(path):
    path.parent.rename(path.parent.with_name("old"))
    path.parent.mkdir(mode=0o700)


WAYS = [remove_socket, remove_folder, move_socket, move_folder, put_a_stale_socket_there, replace_folder]


def file_of(path):
    with contextlib.suppress(FileNotFoundError):
        return os.stat(path).st_ino
    return None


@pytest.mark.parametrize("how", WAYS)
def test_new_ones_find_it_within_a_second_and_others_stay(placed, how):
    qad, target, client = placed
    how(qad.socket_path)
    wait_until(lambda: is_connectable(qad.socket_path), timeout=SECOND, what="qad to listen there again")
    late = wire.client(qad.socket_path)
    assert late.call("health")["pid"] == qad.pid
    assert targets_of(late)[target.pid]["age_ms"] == 0, "the target stayed"
    assert client.call("stats", pid=target.pid)["pid"] == target.pid, "and so did the client"
    new = wire.ServingTarget(qad.socket_path)
    wait_for_target(client, new.pid)
    new.end()
    late.close()
    assert qad.log().count("removed or replaced") == qad.log().count("again\n") == 1
    qad.stop()  # asserts that the file is gone: the new one is known as its own


@pytest.mark.plain_only
def test_again_and_again(placed):
    qad, target, client = placed
    for number in range(4):
        before = file_of(qad.socket_path)
        WAYS[number % 2](qad.socket_path)
        wait_until(lambda: file_of(qad.socket_path) not in (None, before) and is_connectable(qad.socket_path),
                   what="qad to listen there again")
    assert targets_of(client)[target.pid]["age_ms"] == 0
    descriptors = len(os.listdir(f"/proc/{qad.pid}/fd"))
    before = file_of(qad.socket_path)
    remove_socket(qad.socket_path)
    wait_until(lambda: file_of(qad.socket_path) not in (None, before) and is_connectable(qad.socket_path),
               what="qad to listen there again")
    # The count before may have had the connection by which the socket was tried.
    wait_until(lambda: len(os.listdir(f"/proc/{qad.pid}/fd")) <= descriptors, what="no descriptor more")
    qad.stop()


def test_a_file_that_changes_beside_it_does_not_wake_qad(placed):
    qad, _, client = placed
    client.call("health")

    def switches():
        with open(f"/proc/{qad.pid}/status", encoding="ascii") as status:
            text = status.read()
        return "State:\tS" in text and [line for line in text.splitlines() if "ctxt_switches" in line]

    before = wait_until(switches, what="qad to sleep")
    for number in range(100):
        beside = qad.socket_path.with_name(f"file-{number}")
        beside.write_text("x")
        beside.unlink()
    assert switches() == before


@pytest.mark.plain_only
def test_another_program_in_its_place_is_told_once_and_left_alone(placed):
    qad, target, client = placed
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{qad.socket_path}.other")
        other.listen(64)
        os.rename(f"{qad.socket_path}.other", qad.socket_path)
        theirs = file_of(qad.socket_path)
        wait_until(lambda: "already listening" in qad.log(), what="the other program to be told")
        assert targets_of(client)[target.pid]["age_ms"] == 0
        other.settimeout(wire.DEADLINE)
        for _ in range(2):  # it looks whether the other one is still there
            other.accept()[0].close()
        assert file_of(qad.socket_path) == theirs
        assert targets_of(client)[target.pid]["age_ms"] == 0
        assert qad.log().count("already listening") == 1
        assert f"or this one, pid {qad.pid}, whose targets then go there" in qad.log()
    wait_until(lambda: file_of(qad.socket_path) != theirs, what="qad to take its place again")
    assert wire.client(qad.socket_path).call("health")["pid"] == qad.pid
    qad.stop()


def test_a_folder_that_it_can_not_make_is_told_once_and_waited_for(qad_factory, socket_dir):
    qad = qad_factory(socket_dir / "a" / "b" / "qad.sock")
    qad.socket_path.parent.mkdir(mode=0o700, parents=True)
    qad.start()
    client = wire.client(qad.socket_path)
    shutil.rmtree(socket_dir / "a")
    wait_until(lambda: "can not make the directory" in qad.log(), what="what is wrong to be told")
    assert client.call("ps") == {"targets": []}
    (socket_dir / "a").mkdir(mode=0o700)
    wait_until(lambda: is_connectable(qad.socket_path), what="qad to listen there again")
    assert qad.log().count("can not make the directory") == 1
    qad.stop()


def test_it_ends_well_while_the_place_is_lost(qad_factory, socket_dir):
    qad = qad_factory(socket_dir / "a" / "b" / "qad.sock")
    qad.socket_path.parent.mkdir(mode=0o700, parents=True)
    qad.start()
    shutil.rmtree(socket_dir / "a")
    wait_until(lambda: "can not make the directory" in qad.log(), what="what is wrong to be told")
    qad.stop()


def has_inotify(pid):
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the connection that looked whether qad listens
            if "inotify" in os.readlink(f"/proc/{pid}/fd/{number}"):
                return True
    return False


def test_without_inotify_it_looks_by_itself(socket_path, socket_dir):
    log = socket_dir / "log"
    none = 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$0" "$@"'
    with open(log, "wb") as file:
        process = subprocess.Popen(["unshare", "--user", "--map-root-user", "/bin/sh", "-c", none, BUILD / "qad" / "qad",
                                    "--socket", socket_path], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                   env=clean_environment())
    try:
        wait_until(lambda: process.poll() is not None or is_connectable(socket_path), what="qad to listen")
        assert not has_inotify(process.pid), log.read_text()
        socket_path.unlink()
        wait_until(lambda: is_connectable(socket_path), timeout=2 * SECOND, what="qad to listen there again")
        process.terminate()
        assert process.wait(wire.DEADLINE) == 0
    finally:
        end_process(process)


def test_a_socket_that_was_handed_over_is_told_and_not_made_again(socket_path, socket_dir):
    log = socket_dir / "log"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_path))
        listening.listen(16)
        start = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"'
        with open(log, "wb") as file:
            process = subprocess.Popen(["/bin/sh", "-c", start, BUILD / "qad" / "qad", *PATIENT],
                                       stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=clean_environment(), pass_fds=(3,),
                                       preexec_fn=lambda: os.dup2(listening.fileno(), 3))
        try:
            client = wire.client(socket_path)
            socket_path.unlink()
            wait_until(lambda: "systemctl restart qad.socket" in log.read_text(), what="the loss to be told")
            assert client.call("ps") == {"targets": []}
            assert not os.path.lexists(socket_path)
            process.terminate()
            assert process.wait(wire.DEADLINE) == 0
        finally:
            end_process(process)
