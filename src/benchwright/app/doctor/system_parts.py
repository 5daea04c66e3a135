"""Checks for parts of Linux that other systems, such as macOS, lack. A finding says what is lost without a part."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchwright.allocator import can_release_memory
from benchwright.app.doctor.findings import Finding
from benchwright.endpoint.waiting_bytes import can_see_waiting_bytes
from benchwright.engine.kernel_timer import has_kernel_timer
from benchwright.engine.thread_priority import can_raise_thread_priority
from benchwright.runs.locks import can_find_workers
from benchwright.sandbox.supervision import supervision_failure


class SystemPart(NamedTuple):
    """A part of the operating system, and what Benchwright cannot do without the part (`needed_for`)."""

    name: str
    is_available: Callable[[], bool]
    needed_for: str
    advice: str | None = None


SYSTEM_PARTS = (
    SystemPart(
        "kernel timer",
        has_kernel_timer,
        "sending requests of a given rate (load --rate) within 0.1 ms of their due time",
    ),
    SystemPart(
        "real-time priority",
        can_raise_thread_priority,
        "sending requests when they are due while other programs keep the processors busy",
        "Allow real-time priority: `ulimit -r 1` (limits.conf: rtprio), or run as root.",
    ),
    SystemPart(
        "time of arrival",
        can_see_waiting_bytes,
        "noticing that answers waited in the kernel before they were read (detect lag)",
    ),
    SystemPart(
        "suspension clock",
        lambda: hasattr(time, "CLOCK_BOOTTIME"),
        "telling exactly how long the machine slept during a run",
    ),
    SystemPart(
        "processes of agents",
        lambda: supervision_failure() is None,
        "ending all processes that agents leave behind, and not only those of the program's process group",
    ),
    SystemPart(
        "processes of runs",
        can_find_workers,
        "showing which runs are being worked on (runs, view), and stopping them from the viewer",
    ),
    SystemPart(
        "allowed processors",
        lambda: hasattr(os, "sched_getaffinity"),
        "counting the processors that Benchwright may use, and not all",
    ),
    SystemPart(
        "freed memory",
        can_release_memory,
        "returning freed memory to the system during large runs",
    ),
)


def check_system_parts() -> Iterator[Finding]:
    """Yield a finding for each part that this system lacks, or a single one if it lacks none."""
    system = f"{platform.system()} {platform.release()}"
    missing = [part for part in SYSTEM_PARTS if not part.is_available()]
    for part in missing:
        advice = part.advice if sys.platform == "linux" else None
        yield Finding(part.name, f"not available here ({system})", "missing", part.needed_for, advice)
    if not missing:
        yield Finding("system", f"{system}: {', '.join(part.name for part in SYSTEM_PARTS)}")
