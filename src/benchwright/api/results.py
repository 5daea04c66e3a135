"""What a run from Python came to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.export import LoadedRun, load_run
from benchwright.analysis.shortfalls import failed_trials, too_many
from benchwright.analysis.summary import RunSummary
from benchwright.app.benchmark_results import BenchmarkReport
from benchwright.app.prepared import LaunchedRun, PreparedRun
from benchwright.errors import RunUnfinished
from benchwright.formats import counted, number
from benchwright.reports.as_text import as_text
from benchwright.statistic import Statistic
from benchwright.text import plain


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

    `reports` has for each model its `accuracy` (in `totals`, with breakdowns), further `figures`, and the `path` of its
    result file; `accuracy` and `path` are those of the first. See `Evaluation` for the others.
    """

    directory: Path
    summary: RunSummary
    reports: tuple[BenchmarkReport, ...]
    shortfalls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What other functions and commands know the run by."""
        return self.summary.run

    @property
    def accuracy(self) -> Statistic:
        """The share of the first model's trials that are correct; one that failed is not. A `NoScore` if all failed."""
        return self.reports[0].totals.accuracy

    @property
    def path(self) -> Path:
        """The result file of the first model."""
        path = self.reports[0].path
        assert path is not None  # a finished run has one
        return path

    @property
    def departures(self) -> list[str]:
        """In what it differs from the published protocol; with any, its score is not comparable to published ones."""
        return list(self.reports[0].manifest.about["departures"])

    def load(self) -> LoadedRun:
        """The run's trials and requests as rows."""
        return load_run(self.directory)

    def __str__(self) -> str:
        from benchwright.reports.benchmark import render_benchmark
        from benchwright.reports.summary import render_summary

        parts = [as_text(render_summary(self.summary))]
        for report in self.reports:
            name = f"{plain(report.model)}\n" if len(self.reports) > 1 else ""
            about, totals = report.manifest.about, report.totals
            parts.append(name + as_text(render_benchmark(about, totals, report.figures, report.target)))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.model} {number(one.totals.accuracy, '.4f')}" for one in self.reports)
        return f"<{type(self).__name__} {self.id}: {shown}>"


def checked(prepared: PreparedRun[Any], launched: LaunchedRun, summary: RunSummary) -> Sequence[str]:
    """What a finished run falls short of.

    Raises:
        RunUnfinished: it is not finished.
    """
    result = launched.result
    over = summary.decision is not None and summary.decision.over
    if result is not None and not result.finished and not over:
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
