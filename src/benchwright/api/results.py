"""What a run from Python came to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.benchmark_file import Totals
from benchwright.analysis.export import LoadedRun, load_run
from benchwright.analysis.shortfalls import failed_trials, too_many
from benchwright.analysis.summary import RunSummary
from benchwright.app.prepared import LaunchedRun, PreparedRun
from benchwright.catalog.benchmark import Figure
from benchwright.errors import RunUnfinished
from benchwright.formats import counted
from benchwright.reports.as_text import as_text


class Evaluation(msgspec.Struct, frozen=True):
    """A finished run of `evaluate`; `print` shows it as `benchwright show` does.

    `directory` is where the run lies, `summary` what it came to: scores with their intervals, statuses, speed.
    `shortfalls` say which figures are missing and why, and that more failed than `max_failures` allows: a command
    would end with exit code 4. `notes` are the lines that a command prints on stderr. `files` were written besides.
    """

    directory: Path
    summary: RunSummary
    shortfalls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def id(self) -> str:
        """What other functions and commands know the run by."""
        return self.summary.run

    def load(self) -> LoadedRun:
        """The run's trials and requests as rows."""
        return load_run(self.directory)

    def __str__(self) -> str:
        from benchwright.reports.summary import render_summary

        return as_text(render_summary(self.summary))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}: {counted(self.summary.done, 'trial')}>"


class BenchmarkRun(msgspec.Struct, frozen=True):
    """A finished run of `run_benchmark`; `print` shows it as `benchwright run` does.

    `accuracy` is the share of trials that are correct, where failed ones are not; `totals` has its parts and
    breakdowns, `figures` are the benchmark's further ones, `departures` what differs from its published protocol.
    `path` is the result file. See `Evaluation` for the others.
    """

    directory: Path
    summary: RunSummary
    about: dict[str, Any]
    totals: Totals
    figures: tuple[Figure, ...]
    path: Path
    shortfalls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What other functions and commands know the run by."""
        return self.summary.run

    @property
    def accuracy(self) -> float:
        """The share of trials that are correct."""
        return self.totals.accuracy

    @property
    def departures(self) -> list[str]:
        """In what it differs from the published protocol; with any, its score is not comparable to published ones."""
        return list(self.about["departures"])

    def load(self) -> LoadedRun:
        """The run's trials and requests as rows."""
        return load_run(self.directory)

    def __str__(self) -> str:
        from benchwright.reports.benchmark import render_benchmark
        from benchwright.reports.summary import render_summary

        whole = as_text(render_summary(self.summary))
        return f"{whole}\n\n{as_text(render_benchmark(self.about, self.totals, self.figures, self.summary))}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}: accuracy {self.accuracy:.4f}>"


def checked(prepared: PreparedRun[Any], launched: LaunchedRun, summary: RunSummary) -> Sequence[str]:
    """What a finished run falls short of.

    Raises:
        RunUnfinished: it is not finished.
    """
    result = launched.result
    if result is not None and not result.finished:
        reason = result.stop_reason or "the run stopped"
        done = f"{summary.done:,} of {summary.planned or 0:,} trials are done"
        ended = (
            reason
            if prepared.changed() is not None
            else f"{reason} ({done}; the same call goes on from there)"
        )
        raise RunUnfinished(ended, launched.directory)
    failed = sum(failed_trials(target.statuses) for target in summary.targets)
    most = prepared.request.settings.max_failures
    return [*summary.shortfalls, *too_many(failed, summary.done, most, "trials", "max_failures")]
