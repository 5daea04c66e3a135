"""Levels of load: their durations, and the due times of their requests."""

from __future__ import annotations

from itertools import islice, takewhile

from benchwright.analysis.load.records import LoadLevel
from benchwright.app.load.sections import LevelSettings
from benchwright.app.load.settings import DEFAULT_LEVEL_SECONDS, LoadSettings
from benchwright.data.traces.records import Trace
from benchwright.errors import UserError
from benchwright.stats import arrivals


def due_times(level: LoadLevel, settings: LoadSettings, trace: Trace | None = None) -> list[float] | None:
    """Return when each request (or conversation of a trace) is due, in seconds from the level's start.

    None for a closed loop, where each request starts when an earlier one ends.

    Raises:
        UserError: If no request would be due within the duration.
    """
    if level.concurrency is not None:
        return None
    replays, seed = settings.replays_requests, settings.sampling.seed or 0
    most = max_requests(settings.load, trace, replays=replays)
    seconds = level_duration_seconds(settings.load, replays=replays)
    if level.rate is None:
        assert trace is not None
        due = [(one.start_seconds or 0.0) / (settings.replay.speed or 1.0) for one in trace.conversations]
        return due if settings.load.duration is None else [one for one in due if one < settings.load.duration]
    endless = (
        arrivals.constant_arrivals(level.rate)
        if level.arrivals == "constant"
        else arrivals.poisson_arrivals(level.rate, seed)
    )
    within = endless if seconds is None else takewhile(lambda moment: moment < seconds, endless)
    due = list(islice(within, most))
    if not due:
        raise UserError(
            f"At {level.rate:g} requests/s no request arrives within {seconds:g} s: use a longer --duration."
        )
    return due


def max_requests(load: LevelSettings, trace: Trace | None, *, replays: bool) -> int | None:
    """Return the maximum number of requests at a level.

    If a trace is replayed, return the maximum number of conversations.

    None if the number is not limited. `replays`: see `LoadSettings.replays_requests`.
    """
    return load.requests if trace is None or not replays else len(trace.conversations)


def level_slug(level: LoadLevel) -> str:
    """Return the text for a level in the name of its run, such as `c16` (concurrency) or `r2.5` (rate)."""
    if level.concurrency is not None:
        return f"c{level.concurrency}"
    return "trace" if level.rate is None else f"r{level.rate:g}"


def level_duration_seconds(load: LevelSettings, *, replays: bool) -> float | None:
    """Return for how many seconds requests are sent at a level.

    None (no time limit) if the number of requests, or the trace, is the limit.
    """
    if load.duration is None and load.requests is None and not replays:
        return DEFAULT_LEVEL_SECONDS
    return load.duration
