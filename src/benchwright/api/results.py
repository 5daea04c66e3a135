"""Results of runs started from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.export import LoadedRun, load_run
from benchwright.analysis.shortfalls import count_failed_trials, too_many_failures_sentence
from benchwright.analysis.summary_records import RunSummary
from benchwright.app.benchmark_results import BenchmarkReport
from benchwright.app.prepared_run import LaunchedRun, PreparedRun
from benchwright.errors import RunUnfinished
from benchwright.formats import count_with_noun, number_text
from benchwright.reports.as_text import as_text
from benchwright.statistic import Statistic
from benchwright.text import make_safe


class Evaluation(msgspec.Struct, frozen=True):
    """The result of `evaluate`: a finished run. Printing it shows what `benchwright show` prints.

    `directory`: the run's directory. `summary`: the scores with intervals, statuses and speed. `shortfalls`:
    missing figures with reasons, and a message if more trials failed than `max_failures` allows. A command with
    shortfalls would exit with code 4. `notes`: the lines that a command would print on stderr. `files`: the files
    that were written besides the run.
    """

    directory: Path
    summary: RunSummary
    shortfalls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def id(self) -> str:
        """The run's id, as commands and other functions of the API accept it."""
        return self.summary.run

    def load(self) -> LoadedRun:
        """Return the run's trials and requests as rows."""
        return load_run(self.directory)

    def __str__(self) -> str:
        from benchwright.reports.summary import render_summary

        return as_text(render_summary(self.summary))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}: {count_with_noun(self.summary.done, 'trial')}>"


class BenchmarkRun(msgspec.Struct, frozen=True):
    """The result of `run_benchmark`: a finished run. Printing it shows what `benchwright run` prints.

    `reports`: for each model its `totals` (accuracy, with breakdowns), other `figures`, and the `path` of its
    result file. The properties `accuracy` and `path` are those of the first model. `directory`, `summary`,
    `shortfalls` and `notes` have the same meaning as in `Evaluation`.
    """

    directory: Path
    summary: RunSummary
    reports: tuple[BenchmarkReport, ...]
    shortfalls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The run's id, as commands and other functions of the API accept it."""
        return self.summary.run

    @property
    def accuracy(self) -> Statistic:
        """Share of the first model's trials that are correct. Failed trials count as wrong.

        The value is a `NoScore` if all trials failed.
        """
        return self.reports[0].totals.accuracy

    @property
    def path(self) -> Path:
        """Result file of the first model."""
        path = self.reports[0].path
        assert path is not None  # a finished run has a result file
        return path

    @property
    def departures(self) -> list[str]:
        """Differences of the run from the benchmark's published protocol.

        If there are any, the score is not comparable to published ones.
        """
        return list(self.reports[0].manifest.about["departures"])

    def load(self) -> LoadedRun:
        """Return the run's trials and requests as rows."""
        return load_run(self.directory)

    def __str__(self) -> str:
        from benchwright.reports.benchmark import render_benchmark
        from benchwright.reports.summary import render_summary

        parts = [as_text(render_summary(self.summary))]
        for report in self.reports:
            name = f"{make_safe(report.model)}\n" if len(self.reports) > 1 else ""
            about, totals = report.manifest.about, report.totals
            parts.append(name + as_text(render_benchmark(about, totals, report.figures, report.target)))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.model} {number_text(one.totals.accuracy, '.4f')}" for one in self.reports)
        return f"<{type(self).__name__} {self.id}: {shown}>"


def shortfalls_of(prepared: PreparedRun[Any], launched: LaunchedRun, summary: RunSummary) -> Sequence[str]:
    """Return the shortfalls of a finished run, each with its reason.

    A shortfall is a missing figure, or too many failed trials.

    Raises:
        RunUnfinished: If the run is not finished.
    """
    result = launched.session_result
    over = summary.decision is not None and summary.decision.over
    if result is not None and not result.is_finished and not over:
        reason = result.stop_reason or "the run stopped"
        done = f"{summary.done:,} of {summary.planned or 0:,} trials are done"
        ended = (
            reason
            if prepared.find_change_reason() is not None
            else f"{reason} ({done}; the same call goes on from there)"
        )
        raise RunUnfinished(ended, launched.directory)
    failed = sum(count_failed_trials(target.statuses) for target in summary.targets)
    most = prepared.request.settings.limits.max_failures
    return [
        *summary.shortfalls,
        *too_many_failures_sentence(failed, summary.done, most, "trials", "max_failures"),
    ]
