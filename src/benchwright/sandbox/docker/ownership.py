"""Labels that name the run and the process to which a container or image belongs.

A label is read on the machine on which it was written. The reader may be another process, after the writer
was killed. A process that cannot be proven dead counts as alive.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

RUN_LABEL = "benchwright.run"
PROCESS_LABEL = "benchwright.process"
KEPT_LABEL = "benchwright.kept"
"""Label of objects that should outlive their process. Its value is the name under which they are kept."""
SNAPSHOT_LABEL = "benchwright.snapshot"
"""Label of snapshots, which are images of a container's state. Its value is the container's name."""
BUILT_FOR_LABEL = "benchwright.image"
"""Label of built images and of the intermediate images of builds. Its value is the image's name without a tag."""

_START_TIME = 19
"""Index of a process's start time in /proc/PID/stat, counted after the process's name (proc(5), field 22)."""


_ENDED = ("Z", "X")
"""States of a process that has ended, but whose exit status has not been collected."""


def ownership_labels(run_id: str, kept: str | None = None) -> dict[str, str]:
    """Return the labels for objects that this process creates for a run."""
    ours = {RUN_LABEL: run_id, PROCESS_LABEL: unique_process_id()}
    return ours | ({KEPT_LABEL: kept} if kept else {})


def is_own_build(image: str, of: Mapping[str, str]) -> bool:
    """Return True if the labels show that Benchwright built the image itself, rather than only its base image."""
    return of.get(BUILT_FOR_LABEL) == image.rpartition(":")[0]


def unique_process_id() -> str:
    """Return an id of this process that no other process of this machine has or ever had."""
    pid = os.getpid()
    return f"{_place()} {_boot()} {pid} {_started(pid)}"


def is_leftover(of: Mapping[str, str]) -> bool:
    """Return True if the labels are those of an object left by a dead process of this user on this machine."""
    if KEPT_LABEL in of or PROCESS_LABEL not in of:
        return False
    place, _, rest = of[PROCESS_LABEL].partition(" ")
    boot, _, process = rest.partition(" ")
    pid, _, started = process.partition(" ")
    if place != _place() or not pid.isdecimal():
        return False
    return boot != _boot() or started != _started(int(pid))


def _place() -> str:
    """Return the machine, user and process namespace of this process, as one string.

    Process ids are unique, and other processes' ids can be read, within one such combination.
    """
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
    """Return a process's start time in clock ticks since boot. Return "" if the process does not exist or has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "" if Path("/proc/self").exists() else _without_proc(pid)
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in _ENDED else fields[_START_TIME]


def _without_proc(pid: int) -> str:
    """Return "running" for a running process on a system without /proc (macOS). Return "" if it is not running.

    If the pid was reused, the new process counts as the old one.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"
