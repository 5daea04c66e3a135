"""Starts the untrusted program, enforces its limits, ends all its processes, and reports how it ended.

The supervisor is process 1 of its own process namespace. When it ends, the kernel ends all other processes of
the namespace. The program cannot harm it. It exits when the other end of its control socket is closed.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import time
from typing import Any, NoReturn

from . import child, namespaces, processes, system

LOOK_EVERY = 0.05
"""Seconds between two checks of the total memory of all processes."""


def main(control: int) -> NoReturn:
    """Receive the work over the control socket, do the work, and send the results.

    Messages are Python literals, one per line.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    work = _receive(control)
    if work["enter_namespaces"]:
        namespaces.enter(work["view"])
    if os.getpid() != 1:
        system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
    _be_first_to_die_of_memory()
    _write_files(work)
    system.prctl(system.PR_SET_DUMPABLE, 0)
    _say(control, _Supervisor(control, work).run())
    os._exit(0)


def _receive(control: int) -> Any:
    with open(control, "rb", closefd=False) as stream:
        length = int.from_bytes(stream.read(8), "big")
        return marshal.loads(stream.read(length))


def _say(control: int, what: dict[str, Any]) -> None:
    line = ascii(what).encode() + b"\n"
    try:
        while line:
            line = line[os.write(control, line) :]
    except OSError:
        pass  # the other end is closed, which `_watch` will notice


def _be_first_to_die_of_memory() -> None:
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def _write_files(work: dict[str, Any]) -> None:
    directory, user = work["directory"], work["user"]
    os.makedirs(directory, exist_ok=True)
    for name, content in work["files"].items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    if user is not None:
        for folder, _, names in os.walk(directory):
            for path in [folder, *(os.path.join(folder, name) for name in names)]:
                os.chown(path, user, user)


class _Supervisor:
    def __init__(self, control: int, work: dict[str, Any]) -> None:
        self.control = control
        self.work = work
        self.told = b""
        self.status: int | None = None
        self.cpu_seconds = 0.0
        self.token = b""

    def run(self) -> dict[str, Any]:
        """Run the program until it ends for any reason, and return the report on its end."""
        started = time.monotonic()
        try:
            told = self._start()
            limit = self._watch(told, started + self.work["wall_seconds"])
            seconds = time.monotonic() - started
        finally:
            processes.end_all(self.work["user"], self._reap)
            if not self.work["own_files"]:
                os.spawnvp(os.P_WAIT, "rm", ["rm", "-rf", "--", self.work["directory"]])
        return {
            "seconds": seconds,
            "told": self.told.decode("utf-8", "replace"),
            "passed": self.told == self.token + child.PASSED,
            **self._ending(limit),
        }

    def _start(self) -> int:
        """Fork the program, and return the pipe on which the program reports its end.

        The token is created after the fork, so that it is not in the program's memory.
        """
        trouble, to_trouble = os.pipe()
        told, to_told = os.pipe()
        token, to_token = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for descriptor in (self.control, trouble, told, to_token):
                    os.close(descriptor)
                self._be_the_program(token, to_told, to_trouble)
            except BaseException as error:
                os.write(to_trouble, (getattr(error, "strerror", None) or str(error)).encode())
            os._exit(126)
        self.token = os.urandom(child.TOKEN_BYTES)
        os.write(to_token, self.token)
        for descriptor in (to_trouble, to_told, token, to_token):
            os.close(descriptor)
        _say(self.control, {"trouble": os.read(trouble, 8192).decode("utf-8", "replace")})
        os.close(trouble)
        return told

    def _be_the_program(self, token: int, tell: int, trouble: int) -> NoReturn:
        """Become the program, in the forked child.

        If the program cannot start, the reason is written to `trouble`. Closing `trouble` tells the
        supervisor that the program begins.
        """
        work = self.work
        child.confine(work)
        if "program" not in work:
            os.execvpe(work["argv"][0], work["argv"], work["environment"])
        os.environ.clear()
        os.environ.update(work["environment"])
        os.close(trouble)
        child.attempt(work["program"], work["paths"], token, tell)

    def _watch(self, told: int, deadline: float) -> str | None:
        """Wait for the program's end or for a limit. Return the limit that was reached, or None."""
        ended = os.pidfd_open(self.pid)
        poll = select.poll()
        for descriptor in (self.control, ended, *([told] if "program" in self.work else [])):
            poll.register(descriptor, select.POLLIN)
        look_at = time.monotonic() + LOOK_EVERY
        while True:
            until = min(deadline, look_at)
            ready = dict(poll.poll(max(0, (until - time.monotonic()) * 1000)))
            if self.control in ready:
                return "lost"
            if told in ready:
                poll.unregister(told)
                self.told = os.read(told, 8192)
            if self.told or ended in ready:
                return None
            now = time.monotonic()
            if now >= deadline:
                return "timeout"
            if now >= look_at:
                self._reap()
                if processes.memory_of_all() > self.work["memory_bytes"]:
                    return "memory"
                look_at = now + LOOK_EVERY

    def _reap(self) -> bool:
        """Collect all processes that have ended. Return True if any are still running."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.status, self.cpu_seconds = status, usage.ru_utime + usage.ru_stime

    def _ending(self, limit: str | None) -> dict[str, Any]:
        if limit is not None or self.status is None:
            return {"reason": limit or "lost", "exit_code": None, "signal": int(signal.SIGKILL)}
        if os.WIFEXITED(self.status):
            return {"reason": "exited", "exit_code": os.WEXITSTATUS(self.status), "signal": None}
        number = os.WTERMSIG(self.status)
        out_of_time = number == signal.SIGXCPU or self.cpu_seconds >= self.work["cpu_seconds"]
        return {"reason": "cpu" if out_of_time else "killed", "exit_code": None, "signal": number}
