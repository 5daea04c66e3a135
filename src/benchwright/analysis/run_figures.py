"""The figures of a run that lists of runs show.

They are cached beside the run's journal until the journal changes, because a list of a thousand runs must not
read a thousand journals. A cached record is valid as long as its source files have the same sizes and
modification times, and only for the same version of this program. If it is not valid, the journal is read
again.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchwright import __version__
from benchwright.analysis.shortfalls import count_failed_trials
from benchwright.errors import UserError
from benchwright.files import FileStamp, file_stamps, write_atomically
from benchwright.records import DECODE_ERRORS, Record
from benchwright.runs.journal import BODIES_FILE, BODY_LOSS_POINTS_FILE, TRIALS_FILE, encode_json
from benchwright.statistic import Statistic

if TYPE_CHECKING:
    from benchwright.analysis.summary_records import RunSummary, TargetSummary
    from benchwright.runs.manifest import Manifest
    from benchwright.runs.table import RunTable

FIGURES_FILE = "figures.json"

CACHE_VERSION = f"3 {__version__}"
"""Version of the cached figures. It consists of the version of the record types and the version of the program."""


class ListedScore(Record, frozen=True):
    """The fields of a target's `ScoreSummary` that a list of runs shows: counts, mean and confidence interval."""

    scorer: str
    n: int
    n_scored: int
    mean_scored: Statistic = None
    low: Statistic = None
    high: Statistic = None


class ListedTarget(Record, frozen=True):
    """The figures of one target (model) that a list of runs shows."""

    slot: str
    model: str
    trials: int
    failed: int
    scores: list[ListedScore] = []


class RunFigures(Record, frozen=True):
    """The figures of a run that a list of runs shows. They are taken from its `RunSummary`.

    `done`: number of trials done, of `planned` trials. `failed`: number of failed trials. `seconds`: working
    time; None if unknown. `targets`: the scores of each model. Tokens and `requests` include side requests of
    agents.
    """

    state: str
    done: int
    failed: int
    seconds: float | None
    planned: int | None = None
    targets: list[ListedTarget] = []
    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    simulated: bool = False


class _Kept(Record, frozen=True):
    made_by: str
    stamp: FileStamp
    figures: RunFigures


def run_figures_of(summary: RunSummary) -> RunFigures:
    """Return the figures in a run's summary that lists show."""
    targets = [_target(target) for target in summary.targets]
    requests = [target.requests for target in summary.targets]
    return RunFigures(
        state=summary.state,
        done=summary.done,
        failed=sum(target.failed for target in targets),
        seconds=max((one.wall_time_seconds for one in requests), default=0.0) or None,
        planned=summary.planned,
        targets=targets,
        prompt_tokens=sum(one.all_prompt_tokens for one in requests),
        completion_tokens=sum(one.all_completion_tokens for one in requests),
        requests=sum(one.all_requests for one in requests),
        simulated=summary.simulated,
    )


def _target(target: TargetSummary) -> ListedTarget:
    scores = [
        ListedScore(one.scorer, one.n, one.n_scored, one.mean_scored, one.low, one.high)
        for one in target.scores
    ]
    return ListedTarget(
        target.slot, target.model, target.trials, count_failed_trials(target.statuses), scores
    )


def files_stamp(directory: Path) -> FileStamp:
    """Return the current stamp (sizes and times) of the files on which a run's figures depend."""
    return file_stamps(*(directory / name for name in (TRIALS_FILE, BODIES_FILE, BODY_LOSS_POINTS_FILE)))


def cached_figures(directory: Path) -> RunFigures | None:
    """Return the cached figures of a run. None if there are none, or if the run has changed since they were cached."""
    try:
        kept = msgspec.json.decode((directory / FIGURES_FILE).read_bytes(), type=_Kept)
    except (OSError, *DECODE_ERRORS):
        return None
    return kept.figures if kept.made_by == CACHE_VERSION and kept.stamp == files_stamp(directory) else None


def cache_figures(table: RunTable, summary: RunSummary) -> RunFigures:
    """Return the figures of a run, and cache them.

    They are not cached if the table was not read to the end of the journal, or if the file cannot be written.
    """
    figures, stamp = run_figures_of(summary), files_stamp(table.directory)
    if stamp[0][0] == table.bytes_read > 0:
        with suppress(UserError):
            write_atomically(
                table.directory / FIGURES_FILE, encode_json(_Kept(CACHE_VERSION, stamp, figures))
            )
    return figures


def read_run_figures(directory: Path, manifest: Manifest) -> RunFigures:
    """Return the figures of a run: the cached figures.

    If there are none, compute the figures from its journal.

    Raises:
        JournalError: If the journal cannot be read.
    """
    kept = cached_figures(directory)
    if kept is not None:
        return kept
    from benchwright.analysis.summary import summarise
    from benchwright.runs.table import read_table

    table = read_table(directory)
    return cache_figures(table, summarise(manifest, table))
