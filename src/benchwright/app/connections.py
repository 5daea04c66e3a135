"""Number of connections that this process may open: each uses one open file (`ulimit -n`)."""

from __future__ import annotations

import os
import resource

from benchwright.text import Say

RESERVED_OPEN_FILES = 32
"""Open files reserved for journals, bodies and pipes, besides connections and files that are already open."""


def raise_connection_limit(wanted: int) -> int:
    """Raise the limit of open files as far as needed and allowed. Return how many connections are then possible.

    The result is at most `wanted` and at least 1.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = _open_files() + RESERVED_OPEN_FILES
    needed = wanted + others
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - others))


def warn_of_too_few_connections(wanted: int, possible: int, say: Say) -> None:
    """Warn if fewer requests than wanted can be in flight."""
    if possible < wanted:
        say(
            f"Only {possible:,} of {wanted:,} requests can be in flight at once, as this process may have "
            f"{open_file_limit():,} files open (ulimit -n): the others wait."
        )


def open_file_limit() -> int:
    """Return the maximum number of files that this process may open (hard limit)."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def _open_files() -> int:
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return 0
