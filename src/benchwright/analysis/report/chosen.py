"""Which conversations are shown, and the conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchwright.analysis.comparison.records import Change
from benchwright.analysis.report.columns import ERRORS, NO_ANSWER, Columns
from benchwright.analysis.report.conversation import conversation_of, without_body
from benchwright.analysis.report.records import Conversation
from benchwright.runs.final_trials import FinalTrial
from benchwright.runs.journal import Body, read_body
from benchwright.runs.transcripts import Transcript

LARGEST_BODY = 32_000_000
"""Bytes of a conversation that is still read."""


def choose(columns: Columns, threshold: float, most: int) -> dict[int, str]:
    """Places of trials and why they are shown: failed, without an answer, below the threshold, slow, passed.

    Each kind gets an equal share as long as it has trials.
    """
    queues = {name: list(places) for name, places in _kinds(columns, threshold, most).items()}
    chosen: dict[int, str] = {}
    while len(chosen) < most and any(queues.values()):
        for name, queue in queues.items():
            while queue and queue[0] in chosen:
                queue.pop(0)
            if queue and len(chosen) < most:
                chosen[queue.pop(0)] = name
    ranks = list(queues)
    return dict(sorted(chosen.items(), key=lambda item: ranks.index(item[1])))


def _kinds(columns: Columns, threshold: float, most: int) -> dict[str, list[int]]:
    status = columns.status
    first = next(iter(columns.scores.values()), np.full(status.size, np.nan))
    below = np.flatnonzero(first < threshold)
    timed = np.flatnonzero(~np.isnan(columns.latency))
    passed = np.flatnonzero(first >= threshold)
    kinds = {
        "failed": np.flatnonzero(np.isin(status, [str(one) for one in ERRORS])),
        "no answer": np.flatnonzero(np.isin(status, [str(one) for one in NO_ANSWER])),
        f"below {threshold:g}": below[np.argsort(first[below], kind="stable")],
        "slowest": timed[np.argsort(-columns.latency[timed], kind="stable")],
        "passed": passed,
    }
    return {name: places[:most].tolist() for name, places in kinds.items()}


def conversation(directory: Path, trial: FinalTrial, shown_as: str = "") -> Conversation:
    """What was said in a trial.

    Raises:
        JournalError: its body cannot be read.
    """
    length = trial.record.body[1]
    scores = list(trial.scores.values())
    if not length or length > LARGEST_BODY:
        why = "it was not kept" if not length else f"{length / 1e6:,.0f} MB, too large to show"
        return without_body(Transcript(trial.record, Body(trial.record.key), scores), why)
    return conversation_of(Transcript(trial.record, read_body(directory, trial.record), scores), shown_as)


def some_changes(changes: Sequence[Change], most: int) -> list[Change]:
    """The largest changes, as many lost as won where there are enough of both; lost ones first."""
    lost = [change for change in changes if change.b < change.a]
    won = [change for change in changes if change.b > change.a]
    of_lost = max(most // 2, most - len(won))
    return lost[:of_lost] + won[: most - min(of_lost, len(lost))]


def at(
    trials: Iterator[FinalTrial], places: Mapping[int, object], named: set[tuple[str, int]]
) -> Iterator[tuple[int, FinalTrial]]:
    """The trials at these places, and those of these samples and repeats, with their places."""
    left = len(named)
    last = max(places, default=-1)
    for place, trial in enumerate(trials):
        wanted = (trial.record.sample, trial.record.repeat) in named
        left -= wanted
        if wanted or place in places:
            yield place, trial
        if place >= last and left <= 0:
            return
