"""Many targets for qad, each a process: many_targets.py SOCKET COUNT prints their pids, and ends them at the end of its input.

The figures of each stand still, and differ from those of the others; SIGUSR1 lets one of them use more.
"""

import os
import signal
import sys

import wire


def be_a_target(path, number):
    parts = {"used": 10_000_000 - 16 * number, "thread": 64 * number, "partial": 100_000 * (number + 1)}

    def use_more(*_):
        parts["used"] += 1 << 24

    signal.signal(signal.SIGUSR1, use_more)
    try:
        wire.serve(wire.connect(path), {"name": f"many-{number}"}, parts)
    except (wire.Closed, OSError):
        os._exit(0)


def main(path, count):
    pids = []
    for number in range(count):
        pid = os.fork()
        if pid == 0:
            os.close(0)
            be_a_target(path, number)
        pids.append(pid)
    print(*pids, flush=True)
    sys.stdin.read()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
