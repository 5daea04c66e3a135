"""How many connections this process may have open at once: each takes one of its open files (`ulimit -n`)."""

from __future__ import annotations

import os
import resource

from benchwright.text import Say

SPARE = 32
"""Files that are opened besides connections and those that are open already: journals, bodies that are read, pipes."""


def allow_connections(wanted: int) -> int:
    """Raise the limit of open files as far as connections need it and the system lets us; return how many there can be.

    That is `wanted`, or less, but at least 1.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = _open_files() + SPARE
    needed = wanted + others
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - others))


def say_if_fewer(wanted: int, possible: int, say: Say) -> None:
    """Say that fewer requests than wanted can be in flight, if that is so."""
    if possible < wanted:
        say(
            f"Only {possible:,} of {wanted:,} requests can be in flight at once, as this process may have "
            f"{open_file_limit():,} files open (ulimit -n): the others wait."
        )


def open_file_limit() -> int:
    """Return how many files this process may have open at most."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def _open_files() -> int:
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return 0
