"""Whose a container or image is: labels that name the run and the process that made it.

A label is read on the machine that it was written on, possibly by another process after that one was killed. What
cannot be proven dead counts as alive.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

RUN = "benchwright.run"
PROCESS = "benchwright.process"
KEPT = "benchwright.kept"
"""On what shall outlive the process that made it; the value says what it is kept as."""
SNAPSHOT = "benchwright.snapshot"
"""On images of containers as they were at one moment; the value is the container's name."""
BUILT_FOR = "benchwright.image"
"""On images and on the intermediate ones of their builds: the name without its tag."""

_START_TIME = 19
"""The place of a process's start time after its name in /proc/PID/stat (proc(5), field 22)."""


_ENDED = ("Z", "X")
"""States of a process that has ended, though its parent has not asked how."""


def labels(run_id: str, kept: str | None = None) -> dict[str, str]:
    """The labels of what this process makes for a run."""
    ours = {RUN: run_id, PROCESS: this_process()}
    return ours | ({KEPT: kept} if kept else {})


def is_built(image: str, of: Mapping[str, str]) -> bool:
    """Whether labels say that we built the image of this name, and not only what it was built on."""
    return of.get(BUILT_FOR) == image.rpartition(":")[0]


def this_process() -> str:
    """This process, told apart from all others of its machine, earlier ones included."""
    pid = os.getpid()
    return f"{_place()} {_boot()} {pid} {_started(pid)}"


def left_behind(of: Mapping[str, str]) -> bool:
    """Whether labels are those of something that a process of this user and machine, now dead, left behind."""
    if KEPT in of or PROCESS not in of:
        return False
    place, _, rest = of[PROCESS].partition(" ")
    boot, _, process = rest.partition(" ")
    pid, _, started = process.partition(" ")
    if place != _place() or not pid.isdecimal():
        return False
    return boot != _boot() or started != _started(int(pid))


def _place() -> str:
    """Machine, user and process namespace: where process ids mean the same and can be looked up."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = platform.system()
    return f"{platform.node() or 'unnamed'}/{os.getuid()}/{namespace}"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"


def _started(pid: int) -> str:
    """When a process started, in clock ticks since the machine did; "" where there is none, or it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "" if Path("/proc/self").exists() else _without_proc(pid)
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in _ENDED else fields[_START_TIME]


def _without_proc(pid: int) -> str:
    """ "running" for a process of a system without /proc (macOS), where a reused pid counts as the old one."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"
