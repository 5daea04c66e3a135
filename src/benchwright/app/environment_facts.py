"""Facts that a run records: versions of programs and libraries, the machine, and the client."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchwright import __version__

RECORDED_LIBRARIES = ("httptools", "uvloop", "msgspec", "numpy")


def library_versions() -> dict[str, str]:
    """Return the versions of Benchwright, Python, and the libraries that affect timings and numbers."""
    found = {"benchwright": __version__, "python": platform.python_version()}
    for name in RECORDED_LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def host_facts() -> dict[str, Any]:
    """Return facts about the machine.

    The facts are the system and its release, the architecture, the number of usable processors, the memory in
    bytes, and the working directory.
    """
    facts: dict[str, Any] = {
        "directory": os.getcwd(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
    try:
        facts["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        pass
    return facts


def client_facts(*, stream: bool) -> dict[str, Any]:
    """Return facts about the client: its event loop, streaming and HTTP version."""
    return {"loop": "uvloop" if "uvloop" in sys.modules else "asyncio", "stream": stream, "http": "HTTP/1.1"}
