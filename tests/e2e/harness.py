"""What every end-to-end test rests on: the build, the environment of its programs, waiting, and how a process ends."""

import os
import pathlib
import re
import signal
import socket
import time

REPO = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("QA_BUILD") or REPO / "build").resolve()
SANITIZER_REPORT = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:")
# Sanitizers make everything slower; a deadline only bounds a failure, so a long one costs nothing.
DEADLINE = 30.0
IS_SANITIZED = bool(os.environ.get("QA_SANITIZED"))
# Of what has to be there within a second. A sanitizer's build is several times slower.
SECOND = 10.0 if IS_SANITIZED else 1.0
# Who connects by hand may be kept from its hello by a busy machine for longer than the two seconds that qad waits. Tests
# of that time ask for one of their own.
PATIENT = ("--limit", "hello_ms=60000")


def wait_until(predicate, timeout=DEADLINE, what="the condition"):
    """Polls until predicate() is true, and returns its value. AssertionError names what after timeout seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {timeout} s for {what}"
        time.sleep(0.005)


def clean_environment(**more):
    """The environment without what would lead libqa, qad or qactl elsewhere; values of None are left out."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("QA_", "QAD_"))}
    kept.update(more)
    return {key: str(value) for key, value in kept.items() if value is not None}


def assert_no_report(path, who):
    text = path.read_text(errors="replace") if path.exists() else ""
    assert not SANITIZER_REPORT.search(text), f"{who} has a sanitizer's report:\n{text}"


def end_process(process):
    """Kills and reaps; whatever state it is in."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE)


def stop_process(pid):
    """SIGSTOP, and waits until every thread has stopped: until then one may still answer."""
    os.kill(pid, signal.SIGSTOP)

    def has_stopped():
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        return all((task / "stat").read_text().rsplit(")", 1)[1].split()[0] == "T" for task in tasks)

    wait_until(has_stopped, what=f"{pid} to stop")


def is_connectable(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
