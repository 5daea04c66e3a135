"""Starts a pack's process, and ends it together with all processes that it started.

The supervisor ends them when the pack's process ends, when they use too much memory, and when the host is
gone for any reason.

`python -I -S -c START FOLDERS LIFELINE KEPT MEMORY COMMAND…` (see `child.py`); standard library only. The
host holds the other end of LIFELINE, a socket, and reads from it how the process ended: "exit 3", "signal 9",
"memory" or "trouble …". KEPT are descriptors for the pack's process alone. MEMORY is in bytes.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING or __name__ != "process_supervisor":
    from benchwright.sandbox.inside import apart, family, processes, system
else:
    from inside import apart, family, processes, system

MEMORY_CHECK_INTERVAL = 0.25
"""Seconds between two checks of the total memory of all processes."""


def main(lifeline: int, kept: list[int], memory_bytes: int, command: list[str]) -> NoReturn:
    """Run the command until it ends. Then write to the lifeline how it ended."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    family.adopt()
    supervisor = os.getpid()
    pid, _ = apart.fork_apart()
    if pid == 0:
        _become(command, supervisor, lifeline)
    for descriptor in (0, 1, 2, *kept):
        os.close(descriptor)
    pack = family.Family(pid)
    reached = _watch(pack, lifeline, memory_bytes)
    processes.end_all(None, pack.reap)
    _say(lifeline, reached or _ending(pack.status))
    os._exit(0)


def _become(command: list[str], supervisor: int, lifeline: int) -> NoReturn:
    try:
        os.set_inheritable(lifeline, False)
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == supervisor:  # otherwise the supervisor died before PR_SET_PDEATHSIG was set
            os.execv(command[0], command)
    except OSError as error:
        _say(lifeline, f"trouble {error.strerror}")
    os._exit(126)


def _say(lifeline: int, what: str) -> None:
    try:
        os.write(lifeline, what.encode() + b"\n")
    except OSError:
        pass


def _watch(pack: family.Family, lifeline: int, memory_bytes: int) -> str | None:
    """Wait until the process ends, the host is gone, or too much memory is used.

    Return "memory" if too much memory is used, and None otherwise.
    """
    ended = os.pidfd_open(pack.pid)
    poll = select.poll()
    for descriptor in (lifeline, ended):
        poll.register(descriptor, select.POLLIN)
    while not poll.poll(MEMORY_CHECK_INTERVAL * 1000):
        pack.reap()
        if processes.memory_of_all() > memory_bytes:
            return "memory"
    return None


def _ending(status: int | None) -> str:
    """Describe how the process ended, in the format of the lifeline: "exit 3", "signal 9" and the like."""
    if status is None:
        return "signal 9"
    if os.WIFEXITED(status):
        return f"exit {os.WEXITSTATUS(status)}"
    return f"signal {os.WTERMSIG(status)}"


def start() -> NoReturn:
    """Parse the command line and run `main`."""
    lifeline, kept, memory, *command = sys.argv[3:]
    main(int(lifeline), [int(number) for number in kept.split(",")], int(memory), command)
