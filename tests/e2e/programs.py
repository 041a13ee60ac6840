"""The programs under test: a qad of one's own, a run of qactl, a target; and how to wait for what they do."""

import json
import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import time

from harness import BUILD, DEADLINE, PATIENT, assert_no_report, clean_environment, is_connectable, wait_until


class Qad:
    """A qad of one's own on a private socket."""

    def __init__(self, socket_path, log_path):
        self.socket_path = socket_path
        self.log_path = log_path
        self.process = None

    def start(self, *arguments, **environment):
        assert self.process is None or self.process.poll() is not None, "qad runs already"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [BUILD / "qad" / "qad", "--socket", str(self.socket_path), *PATIENT, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean_environment(**environment))
        wait_until(lambda: self.process.poll() is not None or is_connectable(self.socket_path), what="qad to listen")
        assert self.process.poll() is None, f"qad ended with {self.process.returncode}: {self.log()}"
        return self

    @property
    def pid(self):
        return self.process.pid

    @property
    def http(self):
        """Where it listens when it was started with --http, by its log."""
        found = wait_until(lambda: re.search(r"HTTP at http://\[?([0-9a-f.:]+)\]?:(\d+)/", self.log()), what="HTTP in the log")
        return found[1], int(found[2])

    def log(self):
        return self.log_path.read_text(errors="replace")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)

    def stop(self, number=signal.SIGTERM):
        """Ends it as an administrator does: exit code 0, the socket is gone, no sanitizer complained."""
        self.process.send_signal(number)
        code = self.process.wait(DEADLINE)
        assert code == 0, f"qad ended with {code}: {self.log()}"
        assert not os.path.lexists(self.socket_path), "qad left its socket behind"
        assert_no_report(self.log_path, "qad")


class Result:
    """What a run of qactl gave."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"qactl: exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Target:
    """The C program of target.c on libqa, or another one with the same habits."""

    def __init__(self, process, error_path):
        self.process = process
        self.error_path = error_path
        self.pending = b""

    @property
    def pid(self):
        return self.process.pid

    def send(self, command):
        os.write(self.process.stdin.fileno(), command.encode() + b"\n")

    def has_answer(self):
        return b"\n" in self.pending or bool(select.select([self.process.stdout], [], [], 0)[0])

    def answer_line(self, timeout=120.0):
        deadline = time.monotonic() + timeout
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"the target gave no answer in {timeout} s"
            data = os.read(self.process.stdout.fileno(), 4096)
            assert data, f"the target ended with {self.process.wait(DEADLINE)}: {self.errors()}"
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode()

    def answer(self, timeout=120.0):
        """The numbers of an answer "ok key=number ..." as a dict."""
        line = self.answer_line(timeout)
        assert line.split()[:1] == ["ok"], f"the target answered: {line}"
        return {key: int(value) for key, _, value in (word.partition("=") for word in line.split()[1:]) if value}

    def ask(self, command, timeout=120.0):
        self.send(command)
        return self.answer(timeout)

    def ask_line(self, command, timeout=120.0):
        self.send(command)
        return self.answer_line(timeout)

    def errors(self):
        return self.error_path.read_text(errors="replace")

    def fds(self):
        """Its open descriptors as a dict of number to what it is."""
        found = {}
        for entry in pathlib.Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                found[int(entry.name)] = os.readlink(entry)
            except FileNotFoundError:
                pass
        return found

    def rss_bytes(self):
        return int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * resource.getpagesize()

    def agent_task(self):
        """The /proc folder of its agent thread, or None."""
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == "qa-agent":
                return task
        return None

    def quit(self):
        """Ends it in the usual way, by the end of main; asserts exit code 0 and quiet sanitizers."""
        self.send("quit")
        assert self.process.wait(DEADLINE) == 0, self.errors()
        assert_no_report(self.error_path, "the target")


def agent_state(program):
    task = program.agent_task()
    return task and (task / "stat").read_text().rsplit(")", 1)[1].split()[0]


def wait_asleep(program):
    wait_until(lambda: agent_state(program) == "S", what="the agent to sleep")


def wait_watching(program):
    """Until it sleeps on inotify, which it does without when it is young."""
    def is_watching():
        task = program.agent_task()
        try:
            return task and "anon_inode:inotify" in [os.readlink(entry) for entry in (task / "fd").iterdir()]
        except FileNotFoundError:  # closed meanwhile
            return False

    wait_until(is_watching, what="the agent to watch")
    wait_asleep(program)


def targets_of(client, **params):
    """What ps tells of each target, by pid."""
    return {target["pid"]: target for target in client.call("ps", **params)["targets"]}


def wait_for_target(client, pid):
    return wait_until(lambda: targets_of(client, figures=False).get(pid), what=f"target {pid} in ps")


def known_pids(qactl, **environment):
    result = qactl("ps", "--json", **environment)
    assert result.code == 0, result
    data = result.json
    return {one["pid"] for one in (data["targets"] if isinstance(data, dict) else data)}


def wait_known(qactl, *pids):
    wait_until(lambda: set(pids) <= known_pids(qactl), what=f"{pids} to be in qactl ps")


def wait_unknown(qactl, pid):
    wait_until(lambda: pid not in known_pids(qactl), what=f"{pid} to leave qactl ps")
