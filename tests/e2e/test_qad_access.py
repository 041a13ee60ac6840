"""Who may see and trim what, and how many may come: with users and groups of their own."""

import re
import resource
import signal
import time

import pytest

import wire
from harness import wait_until

OTHER_UID = 12_345


class Users:
    """Targets of root and of another user, and clients of whomever."""

    def __init__(self, qad):
        self.path = qad.socket_path
        self.log = qad.log
        self.children = []
        self.root = self.add(wire.ServingTarget)
        self.other = self.add(wire.ServingTarget, uid=OTHER_UID)
        root = wire.client(self.path)
        wait_until(lambda: len(self.seen_by(root)) == 2, what="both targets")

    def add(self, kind, **options):
        self.children.append(kind(self.path, **options))
        return self.children[-1]

    def client(self, uid, groups=(), gid=None):
        return self.add(wire.ClientOf, uid=uid, gid=gid, groups=list(groups)).connection

    @staticmethod
    def seen_by(client):
        return {one["pid"] for one in client.call("ps")["targets"]}

    def rights_of(self, client):
        """For root's target and the other user's: whether it is seen, and what stats, map and trim say."""
        seen = self.seen_by(client)
        rights = []
        for target in (self.root, self.other):
            answers = []
            for method in ("stats", "map", "trim"):
                try:
                    client.call(method, pid=target.pid)
                    answers.append("ok")
                except wire.RemoteError as error:
                    answers.append(error.code)
            rights.append((target.pid in seen, *answers))
        return rights


@pytest.fixture
def users(qad_factory, open_dir):
    made = []

    def make(*arguments):
        qad = qad_factory(open_dir / "qad.sock").start(*arguments)
        made.append((qad, Users(qad)))
        return made[-1][1]

    yield make
    for qad, users in made:
        for child in users.children:
            child.end()
        qad.stop()


HIDDEN = (False, "no_target", "no_target", "no_target")


SEEN = (True, "ok", "ok", "not_allowed")


ALL = (True, "ok", "ok", "ok")


def test_without_groups_each_user_has_their_own_and_root_has_all(users):
    all_users = users()
    assert all_users.rights_of(wire.client(all_users.path)) == [ALL, ALL]
    assert all_users.rights_of(all_users.client(OTHER_UID)) == [HIDDEN, ALL]
    assert all_users.rights_of(all_users.client(OTHER_UID + 1)) == [HIDDEN, HIDDEN]
    # Group 0 is not root.
    assert all_users.rights_of(all_users.client(OTHER_UID + 1, groups=[0])) == [HIDDEN, HIDDEN]
    assert all_users.rights_of(all_users.client(OTHER_UID + 1, gid=0)) == [HIDDEN, HIDDEN]


def test_the_groups_widen_what_a_client_may(users):
    all_users = users("--read-group", "4001", "--admin-group", "4002")
    stranger = OTHER_UID + 1
    assert all_users.rights_of(all_users.client(stranger, groups=[4003])) == [HIDDEN, HIDDEN]
    assert all_users.rights_of(all_users.client(stranger, groups=[4003, 4001])) == [SEEN, SEEN]
    assert all_users.rights_of(all_users.client(stranger, groups=[4002])) == [ALL, ALL]
    assert all_users.rights_of(all_users.client(OTHER_UID, groups=[4001])) == [SEEN, ALL]
    assert all_users.rights_of(all_users.client(4002)) == [ALL, ALL]  # as its primary group


def test_a_group_may_be_given_by_name(users):
    all_users = users("--read-group", "root")
    assert all_users.rights_of(all_users.client(OTHER_UID + 1, groups=[0])) == [SEEN, SEEN]


def test_who_trims_their_own_can_not_flood_the_log(users):
    all_users = users("--admin-group", "4002")
    log = all_users.log
    own, admin = all_users.client(OTHER_UID), all_users.client(OTHER_UID + 1, groups=[4002])
    line = f"trimmed {all_users.other.pid} of uid {OTHER_UID} .* for uid "

    def count(uid):
        return len(re.findall(f"{line}{uid},", log()))

    for _ in range(30):
        own.call("trim", pid=all_users.other.pid)
    assert count(OTHER_UID) == 20
    for _ in range(30):
        admin.call("trim", pid=all_users.other.pid)
    assert count(OTHER_UID + 1) == 30
    assert own.call("health")["trims"] == 60


def connect_1024_times(path, first):
    """In a child: as often as one user may; then waits to be killed."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    first.call("hello", protocol=1, role="client")
    kept = []
    while len(kept) < 1023:
        try:
            kept.append(wire.client(path))
        except wire.RemoteError:  # full: the test has the 8,192nd itself, or had it just now
            time.sleep(0.02)
    while kept:
        signal.pause()


def why_refused(path):
    """The message of the error busy to hello, or None."""
    connection = wire.connect(path)
    try:
        connection.call("hello", protocol=1, role="client")
    except wire.RemoteError as error:
        assert error.code == "busy"
        return error.map["message"]
    finally:
        connection.close()
    return None


def test_8192_connections_in_all_and_no_more(qad_factory, open_dir):
    qad = qad_factory(open_dir / "qad.sock").start()
    path = qad.socket_path
    root = wire.client(path)
    children = []
    try:
        for index in range(8):
            children.append(wire.Child(path, uid=OTHER_UID + index,
                                       run=lambda first: connect_1024_times(path, first)))
        assert "qad has 8192 connections" in wait_until(lambda: why_refused(path), what="qad to be full")
        assert root.call("ps") == {"targets": []}
        children.pop().end()
        wait_until(lambda: why_refused(path) is None, what="room again")
    finally:
        for child in children:
            child.end()
    qad.stop()


def test_a_target_is_shown_with_the_uid_of_its_process(users):
    all_users = users()
    shown = wire.client(all_users.path).call("ps")["targets"]
    assert {one["pid"]: one["uid"] for one in shown} == {all_users.root.pid: 0, all_users.other.pid: OTHER_UID}
