"""Several users, pid and user namespaces, forks on a parent's socket, a pid that is used again: the kernel's word counts."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

import wire
from harness import BUILD, REPO, clean_environment, wait_until

TARGET = BUILD / "tests" / "e2e" / "target"
USER, OTHER = 4_711, 4_712


@pytest.fixture
def public_dir():
    """A folder outside /tmp that every user may enter, as /run/qad is; with the programs in it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="qa-", dir="/dev/shm"))
    folder.chmod(0o755)
    for program in (TARGET, BUILD / "qactl" / "qactl"):
        shutil.copy(program, folder)
    for library in (BUILD / "libqa").glob("libqa.so*"):
        if not library.is_dir():
            shutil.copy(library, folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def qad(qad_factory, public_dir):
    qad = qad_factory(public_dir / "qad.sock").start()
    yield qad
    qad.stop()


@pytest.fixture
def run(target, public_dir):
    """A target as another user, or in namespaces of its own: the words come before the program."""

    def start(*words, **environment):
        environment.setdefault("LD_LIBRARY_PATH", public_dir)
        made = target(program=words[0], arguments=(*words[1:], public_dir / "target"),
                      QAD_SOCKET=public_dir / "qad.sock", **environment)
        assert made.answer_line() == "ok ready"
        return made

    return start


def as_user(uid):
    return "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"


def rows_of(client):
    return {row["name"]: row for row in client.call("ps")["targets"]}


def wait_for(client, *names):
    return wait_until(lambda: set(names) <= set(rows_of(client)) and rows_of(client), what=f"{names} in ps")


def ask_as(public_dir, words, *arguments):
    done = subprocess.run([*words, public_dir / "qactl", *arguments], capture_output=True, text=True, timeout=60,
                          env=clean_environment(QAD_SOCKET=public_dir / "qad.sock"))
    return done


def test_each_user_sees_and_trims_their_own(qad, run, public_dir):
    client = wire.client(qad.socket_path)
    mine = run(*as_user(USER), QA_NAME="mine")
    others = run(*as_user(OTHER), QA_NAME="others")
    roots = run("env", QA_NAME="roots")
    rows = wait_for(client, "mine", "others", "roots")
    assert (rows["mine"]["uid"], rows["others"]["uid"], rows["roots"]["uid"]) == (USER, OTHER, 0)
    seen = json.loads(ask_as(public_dir, as_user(USER), "ps", "--json").stdout)
    assert [row["pid"] for row in seen] == [mine.pid]
    assert ask_as(public_dir, as_user(USER), "trim", str(mine.pid)).returncode == 0
    for pid in (others.pid, roots.pid):
        assert ask_as(public_dir, as_user(USER), "trim", str(pid)).returncode == 67
        assert ask_as(public_dir, as_user(USER), "stats", str(pid)).returncode == 67
    for made in (mine, others, roots):
        made.quit()


def test_in_a_pid_namespace_both_pids_are_told(qad, run):
    client = wire.client(qad.socket_path)
    made = run("unshare", "--pid", "--fork", "--kill-child", QA_NAME="inner")
    row = wait_for(client, "inner")["inner"]
    assert row["inner_pid"] == 1 and row["pid"] > 1 and row["command"] == "target"
    assert pathlib.Path(f"/proc/{row['pid']}/comm").read_text() == "target\n"
    made.ask("malloc 1 1000 64")
    assert client.call("stats", pid=row["pid"])["used_bytes"] >= 64_000
    assert client.call("trim", pid=row["pid"])["pid"] == row["pid"]
    made.quit()


def test_root_of_a_user_namespace_is_the_user_that_made_it(qad, run, public_dir):
    client = wire.client(qad.socket_path)
    inside = (*as_user(USER), "unshare", "--user", "--map-root-user")
    made = run(*inside, QA_NAME="contained")
    others = run(*as_user(OTHER), QA_NAME="others")
    assert wait_for(client, "contained", "others")["contained"]["uid"] == USER
    seen = json.loads(ask_as(public_dir, inside, "ps", "--json").stdout)
    assert [row["name"] for row in seen] == ["contained"]  # "root" in there sees no more than its user
    assert ask_as(public_dir, inside, "trim", str(others.pid)).returncode == 67
    for one in (made, others):
        one.quit()


def test_a_target_that_claims_another_pid_and_name_disturbs_nobody(qad, run):
    client = wire.client(qad.socket_path)
    good = run("env", QA_NAME="good")
    wait_for(client, "good")
    liar = wire.FakeTarget(qad.socket_path, pid=good.pid, name="good")
    try:
        rows = wait_until(lambda: (rows := {row["pid"]: row for row in client.call("ps", figures=False)["targets"]})
                          and len(rows) == 2 and rows)
        assert rows[liar.pid]["inner_pid"] == good.pid and rows[liar.pid]["name"] == "good"
        good.ask("malloc 1 1000 64")
        assert client.call("stats", pid=good.pid)["used_bytes"] >= 64_000
        assert not liar.connection.has_bytes()
    finally:
        liar.end()
    good.quit()


def test_a_child_on_its_parents_socket_speaks_for_the_parent_only(qad):
    """Who connected is who it is, whoever writes: the child can not become a target of its own there."""
    client = wire.client(qad.socket_path)
    parent = wire.FakeTarget(qad.socket_path, name="parent")
    pid = os.fork()
    if pid == 0:
        try:
            parent.connection.send([0, 77, "hello", {"protocol": 1, "role": "target", "name": "child", "pid": os.getpid()}])
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    try:
        kind, number, error, _ = parent.connection.receive()
        assert (kind, number) == (1, 77) and error["code"] in ("bad_request", "unknown_method")
        rows = client.call("ps", figures=False)["targets"]
        assert [(row["pid"], row["name"]) for row in rows] == [(parent.pid, "parent")]
    finally:
        parent.end()


REUSE = r"""
import os, signal, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
import wire
path, qad = sys.argv[2], sys.argv[3]
def ticks():
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
def spawn(pid):
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(pid - 1))
process = subprocess.Popen([qad, "--socket", path])
while not os.path.exists(path):
    time.sleep(0.005)
client = wire.client(path)
def rows():
    return {row["pid"]: row["name"] for row in client.call("ps", figures=False)["targets"]}
def wait(predicate):
    deadline = time.monotonic() + 20
    while not predicate():
        assert time.monotonic() < deadline, rows()
        time.sleep(0.005)
spawn(300)
first = wire.FakeTarget(path, name="first")
assert first.pid == 300, first.pid
started = ticks()
wait(lambda: rows() == {300: "first"})
watcher = wire.client(path)
watch = watcher.call("watch", pid=300, interval_ms=86_400_000)["watch"]
os.kill(300, signal.SIGKILL)
os.waitpid(300, 0)
first.pid = 0
# a process is known by its pid and the clock tick in which it started: the next one must not start in the same
while ticks() <= started:
    time.sleep(0.001)
# its connection is still open here, in this process, which received it: only the pid is free again
spawn(300)
second = wire.FakeTarget(path, name="second")
assert second.pid == 300, second.pid
wait(lambda: rows() == {300: "second"})
while True:
    frame = watcher.receive()
    if frame[0] == 2 and frame[1] == "unwatched":
        assert frame[2]["watch"] == watch and frame[2]["code"] == "gone"
        break
number = client.ask("stats", pid=300)
second.answer_stats(used=42)
assert client.answer_to(number)["used_bytes"] == 42
first.connection.close()
second.end()
process.terminate()
assert process.wait(20) == 0
print("done")
"""


def test_a_pid_that_is_used_again_is_another_target(socket_dir):
    done = subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", REUSE,
                           REPO / "tests" / "e2e", socket_dir / "q", BUILD / "qad" / "qad"], capture_output=True,
                          text=True, timeout=60, env=clean_environment())
    assert done.returncode == 0 and done.stdout == "done\n", done.stdout + done.stderr


LATE_HELLO = r"""
import os, signal, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
import wire
path, qad = sys.argv[2], sys.argv[3]
def spawn(pid):
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(pid - 1))
preload = {"LD_PRELOAD": sys.argv[4]} if len(sys.argv) > 4 else {}
process = subprocess.Popen([qad, "--socket", path, "--limit", "hello_ms=60000"], env={**os.environ, **preload})
while not os.path.exists(path):
    time.sleep(0.005)
os.chmod(os.path.dirname(path), 0o755)
client = wire.client(path)
spawn(300)
liar = wire.Child(path, uid=12345)
assert liar.pid == 300, liar.pid
os.kill(300, signal.SIGKILL)
os.waitpid(300, 0)
liar.pid = 0
spawn(300)
honest = wire.FakeTarget(path, name="honest")
assert honest.pid == 300, honest.pid
# the connection of who had that pid before is still open here, and speaks up only now
print(liar.connection.error_of("hello", protocol=1, role="target", name="liar"))
print([(row["pid"], row["name"], row["uid"]) for row in client.call("ps", figures=False)["targets"]])
honest.end()
process.terminate()
assert process.wait(20) == 0
"""


@pytest.mark.plain_only
@pytest.mark.parametrize("kernel", ["this", "before 6.5"])
def test_who_had_a_pid_before_can_not_speak_for_who_has_it_now(socket_dir, kernel):
    preload = [BUILD / "tests" / "e2e" / "libold_kernel.so"] if kernel != "this" else []
    done = subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", LATE_HELLO,
                           REPO / "tests" / "e2e", socket_dir / "q", BUILD / "qad" / "qad", *preload],
                          capture_output=True, text=True, timeout=60, env=clean_environment())
    assert (done.returncode, done.stdout) == (0, "failed\n[(300, 'honest', 0)]\n"), done.stdout + done.stderr


def test_setuid_after_start_stays_who_connected(qad, run):
    """The kernel remembers who connected; the program that became another user is still its first user's target."""
    client = wire.client(qad.socket_path)
    made = run("env", QA_NAME="changing")
    wait_for(client, "changing")
    made.ask(f"setuid {USER}")
    assert f"Uid:\t{USER}\t" in pathlib.Path(f"/proc/{made.pid}/status").read_text()
    made.ask("malloc 1 1000 64")
    row = rows_of(client)["changing"]
    assert row["uid"] == 0 and row["used_bytes"] >= 64_000
    assert client.call("trim", pid=made.pid)["pid"] == made.pid
    made.quit()


def test_a_daemon_that_forks_twice_and_an_exec(qad, run):
    client = wire.client(qad.socket_path)
    made = run("env", QA_NAME="daemon")
    wait_for(client, "daemon")
    before = made.fds().keys()
    pid = made.ask("fork")["pid"]
    wait_until(lambda: {row["pid"] for row in client.call("ps")["targets"]} == {made.pid, pid}, what="parent and child")
    made.ask("child fork")
    wait_until(lambda: len(client.call("ps")["targets"]) == 3, what="three of them")
    os.kill(pid, signal.SIGKILL)  # the grandchild ends with its input
    wait_until(lambda: {row["pid"] for row in client.call("ps")["targets"]} == {made.pid}, what="the parent alone")
    made.send("exec")
    assert made.answer_line() == "ok ready"
    wait_until(lambda: [row["pid"] for row in client.call("ps")["targets"]] == [made.pid], what="the new image")
    wait_until(lambda: made.fds().keys() >= {0, 1, 2})
    assert client.call("stats", pid=made.pid)["allocs"] < 1_000
    assert before >= {0, 1, 2}
    made.quit()
