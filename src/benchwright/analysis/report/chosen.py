"""Which conversations are shown, and the conversations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchwright.analysis.comparison.records import Change
from benchwright.analysis.report.columns import Columns
from benchwright.analysis.report.conversation import conversation_of
from benchwright.analysis.report.records import Conversation
from benchwright.errors import JournalError
from benchwright.runs.journal import read_body
from benchwright.runs.table import RunTable

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
    first = next(iter(columns.scores.values()), np.full(columns.rows.size, np.nan))
    below = np.flatnonzero((first < threshold) & ~columns.no_answer)
    timed = np.flatnonzero(~np.isnan(columns.latency))
    passed = np.flatnonzero(first >= threshold)
    kinds = {
        "failed": np.flatnonzero(columns.failed),
        "no answer": np.flatnonzero(columns.no_answer),
        f"below {threshold:g}": below[np.argsort(first[below], kind="stable")],
        "slowest": timed[np.argsort(-columns.latency[timed], kind="stable")],
        "passed": passed,
    }
    return {name: places[:most].tolist() for name, places in kinds.items()}


def conversation(table: RunTable, row: int, shown_as: str = "") -> Conversation:
    """What was said in the trial of a row, or why that is not shown.

    Raises:
        JournalError: its line cannot be read.
    """
    trial = table.trial(row)
    length = trial.record.body[1]
    if not length:
        return conversation_of(trial, "it was not kept", shown_as)
    if length > LARGEST_BODY:
        return conversation_of(trial, f"{length / 1e6:,.0f} MB, too large to show", shown_as)
    try:
        body = read_body(table.directory, trial.record)
    except JournalError:
        return conversation_of(trial, "the conversation was lost", shown_as)
    return conversation_of(trial, body, shown_as)


def some_changes(changes: Sequence[Change], most: int) -> list[Change]:
    """The largest changes, as many lost as won where there are enough of both; lost ones first."""
    lost = [change for change in changes if change.b < change.a]
    won = [change for change in changes if change.b > change.a]
    of_lost = max(most // 2, most - len(won))
    return lost[:of_lost] + won[: most - min(of_lost, len(lost))]
