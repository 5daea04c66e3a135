"""Levels of load: how long each lasts, when its requests are due, and how many connections it needs."""

from __future__ import annotations

import resource
from itertools import islice, takewhile
from pathlib import Path

from benchwright.analysis.load.records import Level
from benchwright.app.load.settings import DEFAULT_SECONDS, LoadSettings
from benchwright.errors import UserError
from benchwright.stats import arrivals
from benchwright.text import Say

OTHER_FILES = 100
"""Files that this process has open besides connections, at most."""


def allow_connections(number: int, say: Say) -> None:
    """Lets this process have so many connections open, as far as the system does; tells where it does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    possible = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
    if possible < wanted:
        say(
            f"Only {possible - OTHER_FILES:,} requests can be in flight (ulimit -n is {hard:,}); more will fail."
        )


def due_times(level: Level, settings: LoadSettings) -> list[float] | None:
    """When each request of a level is due, in seconds from its start; None in a closed loop.

    Raises:
        UserError: there would be none, or the trace cannot be read.
    """
    if level.concurrency is not None:
        return None
    seconds, seed = level_seconds(settings), settings.seed or 0
    if level.rate is None:
        assert settings.trace is not None
        due = list(islice(read_trace(settings.trace), settings.requests))
        return due if settings.duration is None else [one for one in due if one < settings.duration]
    endless = (
        arrivals.constant(level.rate) if level.arrivals == "constant" else arrivals.poisson(level.rate, seed)
    )
    within = endless if seconds is None else takewhile(lambda moment: moment < seconds, endless)
    due = list(islice(within, settings.requests))
    if not due:
        raise UserError(
            f"At {level.rate:g} requests/s no request arrives within {seconds:g} s: use a longer --duration."
        )
    return due


def read_trace(path: Path) -> list[float]:
    """The arrivals in a file: one offset in seconds a line; empty lines and lines that begin with # are passed over.

    Raises:
        UserError: it cannot be read, or is no such file; names the line.
    """
    offsets = []
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            text = line.strip()
            if text and not text.startswith("#"):
                try:
                    offsets.append(float(text))
                except ValueError:
                    raise UserError(
                        f"{path}, line {number}: {text[:40]!r} is not a time in seconds."
                    ) from None
        return arrivals.trace(offsets)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Cannot read the trace {path}: {error}.") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}.") from None


def slug(level: Level) -> str:
    """A level in the name of its run."""
    if level.concurrency is not None:
        return f"c{level.concurrency}"
    return "trace" if level.rate is None else f"r{level.rate:g}"


def level_seconds(settings: LoadSettings) -> float | None:
    """How long requests are issued; no limit where their number is said."""
    if settings.duration is None and settings.requests is None:
        return DEFAULT_SECONDS
    return settings.duration
