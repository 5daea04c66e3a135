"""Supervises an agent's program: starts it, and ends all processes that it started.

The supervisor ends them when the program ends, when the host asks for it, and when the host process is gone.

`python -I -S -c START FOLDERS LIFELINE COMMAND…` (see `programs.py`); standard library only, for Linux. The
host holds the other end of LIFELINE, a socket. When no process is left, the host reads a line of JSON from
it: `status`, in the format of `subprocess` (negative: the signal); `left`, the number of processes that the
program left running; `names`, some of these processes' names; and `trouble`, why the program did not start.
When the host closes its end, all processes are ended: the program's process group gets SIGTERM, and after
`KILL_DELAY` all processes are killed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING or __name__ != "process_supervisor":
    from benchwright.sandbox.inside import family, processes, system
else:
    from inside import family, processes, system

EXIT_GRACE_SECONDS = 0.25
"""Seconds that a program's processes have to end after the program itself. After that, they count as left running."""
KILL_DELAY = 2.0
"""Seconds from SIGTERM to SIGKILL."""
MAX_REPORTED_NAMES = 10
"""Maximum number of process names that are reported."""
POLL_INTERVAL = 0.01


def main(lifeline: int, command: list[str]) -> NoReturn:
    """Run the command, and kill the processes that it left running. Write to the lifeline how the command ended."""
    woken = _wake_at_ends()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the host decides when to end
    family.adopt()
    supervisor, started = os.getpid(), os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(command, supervisor, lifeline, started[1])
    os.close(started[1])
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    trouble = os.read(started[0], 1000)
    program = family.Family(pid)
    if _wait(program, lifeline, woken):
        _end_group(pid)
        _give_time(program, woken, KILL_DELAY)
    else:
        _give_time(program, woken, EXIT_GRACE_SECONDS, all_of_it=True)
    left = [name for one in processes.below() if one != pid and (name := _name(one))]
    processes.end_all(None, program.reap)
    _report(lifeline, program.status, left, trouble)
    os._exit(0)


def _end_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGTERM)
    except OSError:
        pass  # it has ended, or belongs to another user


def _wake_at_ends() -> int:
    """Return a descriptor that becomes readable when a child process ends."""
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    return woken


def _become(command: list[str], supervisor: int, lifeline: int, trouble: int) -> NoReturn:
    try:
        os.set_inheritable(lifeline, False)
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == supervisor:  # otherwise the supervisor died before PR_SET_PDEATHSIG was set
            os.execvp(command[0], command)
    except OSError as error:
        os.write(trouble, (error.strerror or str(error)).encode())
    os._exit(126)


def _wait(program: family.Family, lifeline: int, woken: int) -> bool:
    """Wait until the program has ended, or until the host asks for the end of all processes or is gone.

    Return False if the program has ended. Return True otherwise.
    """
    poll = select.poll()
    for descriptor in (lifeline, woken):
        poll.register(descriptor, select.POLLIN)
    while True:
        program.reap()
        if program.status is not None:
            return False
        for descriptor, _ in poll.poll():
            if descriptor == lifeline:
                return True
            os.read(woken, 1000)


def _give_time(program: family.Family, woken: int, seconds: float, *, all_of_it: bool = False) -> None:
    """Wait at most `seconds` for the end of the program.

    If `all_of_it` is True, the wait is for the end of all processes that the program started.
    """
    for _ in range(round(seconds / POLL_INTERVAL)):
        if not program.reap() or (program.status is not None and not all_of_it):
            return
        select.select([woken], [], [], POLL_INTERVAL)
        try:
            os.read(woken, 1000)
        except BlockingIOError:
            pass


def _name(pid: int) -> str:
    """Return the name of a process. Return "" if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            words = file.read()
    except OSError:
        return ""
    name, _, rest = words.partition("(")[2].rpartition(")")
    return "" if rest.split()[:1] == ["Z"] else name


def _report(lifeline: int, status: int | None, left: list[str], trouble: bytes) -> None:
    ended = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    told = {
        "status": ended,
        "left": len(left),
        "names": sorted(set(left))[:MAX_REPORTED_NAMES],
        "trouble": trouble.decode(),
    }
    try:
        os.write(lifeline, json.dumps(told).encode())
    except OSError:
        pass  # the host is gone


def start() -> NoReturn:
    """Parse the command line and run `main`."""
    lifeline, *command = sys.argv[3:]
    main(int(lifeline), command)
