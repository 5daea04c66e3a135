"""Starts `python -m benchwright` as forks of one process that has its imports done: a quarter of the time of a start.

Run as a script with the number of a socket (see `programs`). Each message on it is a start: arguments, environment
and working directory, with the file descriptors of stdin, stdout, stderr and of a pipe. On the pipe come two lines:
the number of the process, and its exit code once it has ended.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
from typing import Any

ROOMS = ("cli", "app", "reports", "scorers", "engine", "endpoint", "data", "stats", "agents")
LIBRARIES = ("aiohttp", "jinja2", "numpy", "pydantic", "rich.console", "rich.live", "rich.table", "uvloop")
LARGEST_MESSAGE = 1 << 20


def import_everything() -> None:
    """The libraries, and our modules but for those that need what may not be installed."""
    for name in LIBRARIES:
        importlib.import_module(name)
    for room in ROOMS:
        package = importlib.import_module(f"benchwright.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".templates" not in module.name:
                try:
                    importlib.import_module(module.name)
                except ImportError:
                    continue
    gc.collect()
    gc.freeze()


def serve(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Forks for each message, until the other side closes the socket; returns in the forks only."""
    ended, end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(end)
    reports: dict[int, int] = {}
    watched: list[Any] = [control, ended]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if ended in ready:
            os.read(ended, 4096)
            report(reports)
        if control in ready:
            message, descriptors, _, _ = socket.recv_fds(control, LARGEST_MESSAGE, 4)
            if not message:
                sys.exit()
            number = os.fork()
            if number == 0:
                signal.set_wakeup_fd(-1)
                control.detach()
                return json.loads(message), descriptors
            *given, pipe = descriptors
            for descriptor in given:
                os.close(descriptor)
            os.write(pipe, b"%d\n" % number)
            reports[number] = pipe


def report(reports: dict[int, int]) -> None:
    """Tells of every process that has ended."""
    for number, pipe in list(reports.items()):
        ended, status = os.waitpid(number, os.WNOHANG)
        if ended:
            try:
                os.write(pipe, b"%d\n" % os.waitstatus_to_exitcode(status))
            except BrokenPipeError:
                pass  # nobody waits for it any more
            os.close(reports.pop(number))


def become(start: dict[str, Any], descriptors: list[int]) -> None:
    """Makes this fork what a freshly started Python would be."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    streams = {
        "stdin": open(0, closefd=False),  # noqa: SIM115
        "stdout": standard_stream(1, "strict", start["environment"]),
        "stderr": standard_stream(2, "backslashreplace", start["environment"]),
    }
    for name, stream in streams.items():
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)  # keeps it open, whatever takes its place
    os.chdir(start["directory"])
    os.environ.clear()
    os.environ.update(start["environment"])
    time.tzset()
    sys.path[0] = os.getcwd()
    sys.argv = ["-m", *start["arguments"]]
    sys.orig_argv = [sys.executable, "-m", "benchwright", *start["arguments"]]
    importlib.invalidate_caches()


def standard_stream(number: int, errors: str, environment: dict[str, str]) -> io.TextIOWrapper:
    """stdout or stderr as Python opens them; with PYTHONUNBUFFERED nothing is held back."""
    unbuffered = bool(environment.get("PYTHONUNBUFFERED"))
    binary = open(number, "wb", buffering=0 if unbuffered else -1, closefd=False)  # noqa: SIM115
    lines = number == 2 or os.isatty(number)
    return io.TextIOWrapper(binary, errors=errors, line_buffering=lines, write_through=unbuffered)


def run_and_end() -> None:
    """Runs the program, and ends as Python does, without the 60 ms that taking apart all modules would take."""
    code = 0
    try:
        runpy.run_module("benchwright", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    threading._shutdown()  # type: ignore[attr-defined]  # as Python does, which has no public name for it
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_everything()
    become(*serve(socket.socket(fileno=int(sys.argv[1]))))
    run_and_end()
