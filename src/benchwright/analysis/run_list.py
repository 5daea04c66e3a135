"""The list of runs. It has one row per run, with the same figures as `show`, and can be filtered and sorted.

The terminal, the viewer and `--json` show these rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from benchwright.analysis.run_figures import ListedTarget, RunFigures, cached_figures, read_run_figures
from benchwright.errors import BenchwrightError
from benchwright.records import Record
from benchwright.runs.journal import TRIALS_FILE
from benchwright.runs.journal_progress import JournalProgress
from benchwright.runs.journal_tail import file_size
from benchwright.runs.locks import lock_holders, locking_process
from benchwright.runs.manifest import Manifest, planned_trials
from benchwright.runs.manifest_facts import (
    agent_of,
    given_name,
    kind_of,
    load_level_of,
    load_measurement_of,
    subject_of,
    suite_of,
    title_of,
)
from benchwright.runs.run_selection import runs_newest_first
from benchwright.runs.store import now_ns, read_last_event
from benchwright.runs.tags_and_notes import models_of, read_note, read_tags
from benchwright.statistic import numeric_statistics
from benchwright.text import Say

SLOW_LISTING_SECONDS = 3.0
"""Number of seconds after which a message explains why listing runs takes long."""

RUN_STATES = ("running", "finished", "decided", "stopped", "unfinished")


class RunRow(Record, frozen=True):
    """One run in a list. `name`: the run's name. `dataset`: its dataset, benchmark or pack.

    `done`: number of finished trials, of `planned` trials (None for a load run that ends by time). `failed`:
    number of finished trials that failed. `seconds`: working time. `size`: bytes of the journal. `targets`: the
    scores of each model. Figures are None if they were not computed, or if the run cannot be read. In the
    latter case, `problem` says why. A run in progress has no scores, but `rate` (trials per second) and `eta`
    (seconds).
    """

    id: str
    kind: str
    name: str
    dataset: str
    models: list[str]
    state: str
    created_at: int
    manifest: Manifest
    agent: str = ""
    level: str = ""
    tags: list[str] = []
    note: str = ""
    done: int | None = None
    planned: int | None = None
    failed: int | None = None
    seconds: float | None = None
    targets: list[ListedTarget] = []
    prompt_tokens: int = 0
    completion_tokens: int = 0
    simulated: bool = False
    rate: float | None = None
    eta: float | None = None
    problem: str = ""
    size: int = 0

    @property
    def is_named(self) -> bool:
        """True if the user named the run."""
        return bool(given_name(self.manifest))

    @property
    def suite(self) -> str:
        """The suite that contains the run. Empty if there is none."""
        return suite_of(self.manifest)

    @property
    def measurement_tag(self) -> str:
        """The tag of the load measurement to which this level belongs. Empty for other runs."""
        return load_measurement_of(self.manifest)

    @property
    def label(self) -> str:
        """Text that identifies the run: its given name and its load level.

        Without a given name, its dataset, benchmark or pack.
        """
        return " ".join(filter(None, (self.name if self.is_named else self.dataset, self.level)))

    @property
    def finished_share(self) -> float:
        """Share of the run's trials that are finished, from 0 to 1."""
        return min(1.0, self.done / self.planned) if self.done and self.planned else 0.0

    @property
    def best_mean_score(self) -> float | None:
        """The highest mean score among the run's targets. Each target counts with its first score.

        None if no target has a score.
        """
        return max(
            numeric_statistics(one.scores[0].mean_scored for one in self.targets if one.scores), default=None
        )

    def with_figures(self, figures: RunFigures) -> Self:
        """Return the row with the run's figures."""
        planned = figures.planned
        return replace(
            self,
            state=self.state if self.state == "running" else figures.state,
            done=figures.done,
            planned=figures.done if planned is None and figures.state == "finished" else planned,
            failed=figures.failed,
            seconds=figures.seconds,
            targets=figures.targets,
            prompt_tokens=figures.prompt_tokens,
            completion_tokens=figures.completion_tokens,
            simulated=figures.simulated,
        )

    def with_progress(self, progress: JournalProgress, now: int) -> Self:
        """Return the row with the progress of a run at work. `now`: ns since the epoch."""
        return replace(
            self,
            done=progress.counted_trials,
            planned=progress.planned_trials if progress.sessions.started_at else self.planned,
            rate=progress.trials_per_second(now),
            eta=progress.seconds_left(now),
        )


def run_row_of(manifest: Manifest, state: str, tags: list[str], note: str, size: int) -> RunRow:
    """Return the row of a run before its figures are known."""
    return RunRow(
        id=manifest.id,
        kind=kind_of(manifest),
        name=title_of(manifest),
        dataset=subject_of(manifest),
        models=models_of(manifest),
        state=state,
        created_at=manifest.created_at,
        manifest=manifest,
        agent=agent_of(manifest),
        level=load_level_of(manifest),
        tags=tags,
        note=note,
        planned=None if "load" in manifest.about else planned_trials(manifest) or None,
        size=size,
    )


class RunFilter(Record, frozen=True):
    """A filter of runs. Empty fields match every run, and case does not matter.

    `model`: part of a model's name. `name`: part of the run's name, or of its dataset, benchmark or pack.
    `tags`: the run must have all of them. `words`: each must occur in id, name, models, agent, suite, tags or
    note. `suite`: the whole name of the suite.
    """

    kind: str = ""
    state: str = ""
    model: str = ""
    name: str = ""
    tags: Sequence[str] = ()
    words: str = ""
    suite: str = ""

    def matches(self, row: RunRow) -> bool:
        """Return True if a run matches the filter."""
        return (
            self.kind in ("", row.kind)
            and self.state in ("", row.state)
            and _within(self.model, row.models)
            and _within(self.name, (row.name, row.dataset))
            and self.suite in ("", row.suite)
            and set(self.tags) <= set(row.tags)
            and all(_within(word, _texts(row)) for word in self.words.split())
        )


def _within(part: str, texts: Sequence[str]) -> bool:
    return not part or any(part.lower() in text.lower() for text in texts)


def _texts(row: RunRow) -> Sequence[str]:
    return (row.id, row.name, row.dataset, *row.models, row.agent, row.suite, *row.tags, row.note)


SORT_KEYS: dict[str, Callable[[RunRow], Any]] = {
    "newest": lambda row: -row.created_at,
    "oldest": lambda row: row.created_at,
    "name": lambda row: (row.label.lower(), -row.created_at),
    "model": lambda row: ([model.lower() for model in row.models], -row.created_at),
    "score": lambda row: (math.inf if row.best_mean_score is None else -row.best_mean_score, -row.created_at),
    "failed": lambda row: (-(row.failed or 0), -row.created_at),
    "time": lambda row: (-(row.seconds or 0.0), -row.created_at),
    "state": lambda row: (RUN_STATES.index(row.state), -row.created_at),
    "size": lambda row: (-(row.planned or 0), -row.created_at),
}
"""Mapping from the name of an order to the sort key of rows.

In orders by a number (score, failed, time, size), the row with the largest number comes first.
"""


def sort_rows(rows: Sequence[RunRow], order: str) -> list[RunRow]:
    """Return the rows in an order of `SORT_KEYS`. If there is no order of this name, the newest come first."""
    return sorted(rows, key=SORT_KEYS.get(order, SORT_KEYS["newest"]))


def list_runs(wanted: RunFilter = RunFilter(), say: Say | None = None) -> list[RunRow]:  # noqa: B008  # frozen
    """Return the matching runs on this machine, the newest first. Runs that cannot be read are reported by `say`."""
    return list(_rows(wanted, say))


def _rows(wanted: RunFilter, say: Say | None) -> Iterator[RunRow]:
    held, now, told_at = lock_holders(), now_ns(), time.monotonic() + SLOW_LISTING_SECONDS
    for directory, manifest in runs_newest_first(say):
        figures = cached_figures(directory)
        running = locking_process(directory, held) is not None
        state = "running" if running else figures.state if figures is not None else run_state_of(directory)
        size = file_size(directory / TRIALS_FILE)
        row = run_row_of(manifest, state, read_tags(directory), read_note(directory), size)
        if not wanted.matches(row):
            continue
        if figures is None and say is not None and time.monotonic() > told_at:
            say("Reading journals that no list has read yet; the next list is quick.")
            told_at = math.inf
        try:
            if running:
                progress = JournalProgress(directory)
                progress.read_journal()
                yield row.with_progress(progress, now)
            else:
                yield row.with_figures(figures or read_run_figures(directory, manifest))
        except BenchwrightError as error:
            yield replace(row, problem=str(error))


def run_state_of(directory: Path) -> str:
    """Return the state of a run that no process is working on, from the end of its journal."""
    event = read_last_event(directory)
    return (
        event.name if event is not None and event.name in ("finished", "decided", "stopped") else "unfinished"
    )
