"""One level: an ordinary run, with the server's metrics watched meanwhile."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.load.records import Level
from benchwright.app.launch import Ended, Launch, launch
from benchwright.app.load.level_task import LevelTask, Rounds
from benchwright.app.load.settings import DEFAULT_SECONDS, LoadSettings
from benchwright.app.load.workload import Workload
from benchwright.endpoint.watching import Look, Watch
from benchwright.engine.run import Listener
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.runs.listing import tag_run
from benchwright.stats import arrivals
from benchwright.text import Say

OTHER_FILES = 100
"""Files that this process has open besides connections, at most."""


class Measured(Record, frozen=True):
    """A level that was run: the run, how it ended, and what the server said meanwhile."""

    level: Level
    ended: Ended
    looks: Sequence[Look]


class NewRun:
    """A shelf of which nobody takes a run twice: every level is measured anew."""

    @asynccontextmanager
    async def run_of(self, make: Callable[[], Path], say: Say) -> AsyncIterator[Path]:
        """See `launch.Shelf.run_of`."""
        yield make()


class LevelRuns:
    """Runs levels of one workload; all of their runs have the tag `identity`."""

    def __init__(self, identity: str, workload: Workload, settings: LoadSettings) -> None:
        self.identity = identity
        self.workload = workload
        self._settings = settings
        self._number = 0

    async def run(
        self, level: Level, listeners: Sequence[Listener], say: Say, metrics_url: str | None
    ) -> Measured:
        """Runs a level to its end, or until it is interrupted.

        Raises:
            UserError, JournalError: see `launch.launch`.
        """
        request = self._request(level)
        self._number += 1
        in_flight = request.settings.concurrency
        assert isinstance(in_flight, int)
        allow_connections(in_flight, say)
        watch = Watch(metrics_url, say) if metrics_url is not None else None
        watching: AbstractAsyncContextManager[Any] = nullcontext() if watch is None else watch
        async with watching:
            ended = await launch(request, listeners, say, NewRun())
        tag_run(str(ended.directory), [self.identity])
        return Measured(level, ended, () if watch is None else watch.looks)

    def _request(self, level: Level) -> Launch:
        """The run of a level: the workload's, with other trials and other limits on what is in flight."""
        settings, base = self._settings, self.workload.request
        due = due_times(level, settings)
        requests = settings.requests if due is None else len(due)
        seconds = None if due is not None else _seconds(settings)
        task = LevelTask(self.workload.task_of(self._number), self.workload.size, requests, seconds)
        in_flight = settings.max_in_flight if level.concurrency is None else level.concurrency
        plan = msgspec.structs.replace(
            base.plan,
            task=task,
            samples=task.size(),
            repeats=1,
            arrange=Rounds(self.workload.size, due),
            open_ended=seconds is not None,
        )
        detail = {
            "id": self.identity,
            "level": level,
            "number": self._number,
            "requests": requests,
            "seconds": seconds,
            "prompts": self.workload.about,
        }
        return msgspec.structs.replace(
            base,
            name=f"{base.name}-{slug(level)}",
            plan=plan,
            settings=base.settings.model_copy(update={"concurrency": in_flight, "retries": settings.retries}),
            about={**base.about, "load": detail},
            selection={**base.selection, "load": detail},
            recipe=None,
        )


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
    seconds, seed = _seconds(settings), settings.seed or 0
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


def _seconds(settings: LoadSettings) -> float | None:
    """How long requests are issued; no limit where their number is said."""
    if settings.duration is None and settings.requests is None:
        return DEFAULT_SECONDS
    return settings.duration
