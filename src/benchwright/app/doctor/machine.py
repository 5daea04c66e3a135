"""Findings on this machine: home directory, memory, open files, clock."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchwright.app.doctor.findings import Finding
from benchwright.app.environment_facts import host_facts
from benchwright.formats import count_with_noun
from benchwright.home import home_directory, runs_directory
from benchwright.runs.manifest import MANIFEST_FILE

BYTES_PER_GIB = 2**30
LOW_DISK_BYTES = 1 * BYTES_PER_GIB
LOW_MEMORY_BYTES = BYTES_PER_GIB // 2
RESERVED_OPEN_FILES = 64
"""Number of open files that are needed besides the connections of requests."""
SUFFICIENT_OPEN_FILES = 4096
COARSE_CLOCK, CLOCK_SECONDS = 1e-4, 0.01

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_home_directory() -> Iterator[Finding]:
    """Yield findings on the home directory: whether runs can be stored in it, their number, and the free space."""
    subject, folder = "home directory", home_directory()
    elsewhere = "Make it writable, or set BENCHWRIGHT_HOME to a directory you own."
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if trouble := _cannot_write(there):
        yield Finding(subject, f"{folder} cannot be written to: {trouble}", "problem", what_to_do=elsewhere)
        return
    free = shutil.disk_usage(there).free
    runs = sum(1 for _ in runs_directory().glob(f"*/{MANIFEST_FILE}"))
    said = f"{folder}: {count_with_noun(runs, 'run')}, {free / BYTES_PER_GIB:.1f} GiB free"
    if free < LOW_DISK_BYTES:
        advice = "Make room, or set BENCHWRIGHT_HOME to another disk; `benchwright runs delete` deletes runs."
        yield Finding(subject, said, "problem", what_to_do=advice)
        return
    yield Finding(subject, said)


def _cannot_write(folder: Path) -> str | None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or str(error)


def check_memory() -> Iterator[Finding]:
    """Yield a finding on the processors, the total memory and the free memory.

    Limits of the control group are applied.
    """
    facts = host_facts()
    total = min([facts.get("memory_bytes", 0), *_limits_of_the_group()])
    free = _available()
    said = f"{total / BYTES_PER_GIB:.1f} GiB, {facts['processors']} processors"
    if free is None:
        yield Finding("memory", f"{said}; this system does not tell how much is free")
        return
    said = f"{min(free, total) / BYTES_PER_GIB:.1f} of {said}"
    if free < LOW_MEMORY_BYTES:
        yield Finding("memory", said, "problem", what_to_do="End other programs, or lower --concurrency.")
        return
    yield Finding("memory", said)


def _available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = (line.split() for line in lines if line.startswith("MemAvailable:"))
    return next((int(parts[1]) * 1024 for parts in found), None)


def _limits_of_the_group() -> Iterator[int]:
    for path in _CGROUP_LIMITS:
        try:
            said = Path(path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if said.isdecimal():
            yield int(said)


def check_open_files() -> Iterator[Finding]:
    """Yield a finding on how many requests can be in flight at once: each needs an open file."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        yield Finding("open files", "no limit")
        return
    said = f"{soft:,} at once, enough for about {max(0, soft - RESERVED_OPEN_FILES):,} requests in flight"
    more = f"For more, `ulimit -n {SUFFICIENT_OPEN_FILES}`." if soft < SUFFICIENT_OPEN_FILES else None
    if more and hard != resource.RLIM_INFINITY and hard < SUFFICIENT_OPEN_FILES:
        more = f"For more, raise the hard limit of {hard:,} (limits.conf), then `ulimit -n`."
    yield Finding("open files", said, "ok" if soft > 2 * RESERVED_OPEN_FILES else "problem", what_to_do=more)


def check_clock() -> Iterator[Finding]:
    """Yield a finding on the resolution of the clock that measures latencies."""
    began = before = time.perf_counter()
    step = CLOCK_SECONDS
    while before - began < CLOCK_SECONDS:
        now = time.perf_counter()
        step = min(step, now - before or step)
        before = now
    said = f"resolution {step * 1e6:.2g} µs"
    yield Finding("clock", said) if step < COARSE_CLOCK else Finding("clock", said, "problem")
