"""Runs steps that depend on each other, several at a time, and notes how each ended, for count_results.py.

A step starts when all that it needs have passed and the processors that it takes are free; who stands first in the list goes
first. Its output goes into RESULTS/NAME.log, of which the end is shown when it failed. A step that needs a failed one can not
run, and is noted as such: what did not run has not passed. Each step is a process group of its own, so that nothing of it
outlives its end, its time limit or a Ctrl-C.
"""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import time

LIMIT_S = 900
SHOWN_LINES = 60
TIMED_OUT = 124  # as timeout(1) has it
NOT_RUN = "not run"


@dataclasses.dataclass
class Step:
    name: str
    command: list
    needs: tuple = ()  # names of steps before it
    junit: str = ""  # the file of results that the command writes; without one the step itself is the test
    processors: float = 1  # how many it keeps busy
    environment: dict = dataclasses.field(default_factory=dict)


class Running:
    def __init__(self, step, results):
        self.step = step
        self.log = results / f"{step.name}.log"
        self.start_s = time.monotonic()
        self.is_late = False
        if step.junit:
            pathlib.Path(step.junit).unlink(missing_ok=True)  # those of an earlier run say nothing of this one
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(step.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **step.environment}, start_new_session=True)

    def wall_s(self):
        return time.monotonic() - self.start_s

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def poll(self):
        """None, or (exit code, processor seconds) of it and the children that it waited for."""
        if not self.is_late and self.wall_s() > LIMIT_S:
            self.is_late = True
            self.kill()
        if os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        self.kill()  # what it left behind; before its own number is free
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return TIMED_OUT if self.is_late else self.process.returncode, usage.ru_utime + usage.ru_stime


def show_end(name, code, log):
    print(f"--- {name} failed (exit {code}); the end of {log}:")
    print("\n".join(log.read_text(errors="replace").splitlines()[-SHOWN_LINES:]))
    print("---", flush=True)


def check(steps):
    known = set()
    for step in steps:
        unknown = set(step.needs) - known
        if unknown or step.name in known:
            raise ValueError(f"step {step.name}: named twice, or before what it needs: {sorted(unknown)}")
        known.add(step.name)


class Runner:
    def __init__(self, steps, results, processors):
        check(steps)
        self.waiting = list(steps)
        self.results = results
        self.processors = processors
        self.running = []
        self.passed = set()
        self.failed = set()
        self.stopped_by = 0  # the number of a signal

    def note(self, step, code, wall_s=0.0, cpu_s=0.0):
        (self.passed if code == 0 else self.failed).add(step.name)
        with open(self.results / "steps", "a") as file:
            file.write(f"{step.name}\t{code}\t{step.junit}\t{wall_s:.1f}\t{cpu_s:.1f}\n")
        how = NOT_RUN if code == NOT_RUN else f"exit {code}, {wall_s:.0f} s, {cpu_s:.0f} s of a processor"
        print(f"{step.name:24} {how}", flush=True)

    def is_room_for(self, step):
        return not self.running or sum(one.step.processors for one in self.running) + step.processors <= self.processors

    def start_what_can(self):
        for step in list(self.waiting):
            if self.failed.intersection(step.needs):
                self.waiting.remove(step)
                self.note(step, NOT_RUN)
            elif self.passed.issuperset(step.needs) and self.is_room_for(step):
                self.waiting.remove(step)
                self.running.append(Running(step, self.results))

    def take_what_ended(self):
        for one in list(self.running):
            ended = one.poll()
            if ended is None:
                continue
            self.running.remove(one)
            if ended[0] != 0:
                show_end(one.step.name, ended[0], one.log)
            self.note(one.step, ended[0], one.wall_s(), ended[1])

    def stop(self, number, _):
        self.stopped_by = number

    def run(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)
        self.start_what_can()
        while self.running and not self.stopped_by:
            time.sleep(0.05)
            self.take_what_ended()
            self.start_what_can()
        for one in self.running:
            one.kill()
            one.process.wait()
        if self.stopped_by:
            raise SystemExit(128 + self.stopped_by)


def run(steps, results, processors):
    """Runs all of them; RESULTS/steps then has a line for each."""
    results.mkdir(parents=True, exist_ok=True)
    (results / "steps").write_text("")
    Runner(steps, results, processors).run()
