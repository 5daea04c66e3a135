"""The trials of one target as columns of numbers, a few per trial, whatever was said in them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from benchwright.records import FAILED, RequestRecord, Status, TrialRecord, trial_status
from benchwright.runs.final_trials import FinalTrial, FinalTrials
from benchwright.runs.journal import read_lines
from benchwright.runs.paces import in_timings
from benchwright.stats.arrays import Vector

MOST_VALUES = 2_000
"""Values of one label that are told apart."""

NO_ANSWER = (Status.UNPARSED, Status.REFUSED, Status.TRUNCATED, Status.LIMIT)
ERRORS = (*FAILED, Status.GRADER_ERROR)


class Label(NamedTuple):
    """A label of the trials: the code of each trial's value (n,), -1 for none, and the values by code."""

    codes: NDArray[np.int64]
    values: list[str]


class Columns(NamedTuple):
    """Parallel columns of length n, in the order in which the trials were begun.

    `status` holds the trial's status as text; `samples` a number for each sample; `began` and `took` ns; `latency`
    the seconds that the model took for all of a trial, NaN where nothing was timed; `prompt` the tokens of the
    first request, -1 where unknown; `scores` the values, NaN for none.
    """

    status: NDArray[Any]
    samples: NDArray[np.uint64]
    began: NDArray[np.int64]
    took: NDArray[np.int64]
    latency: Vector
    prompt: NDArray[np.int64]
    scores: Mapping[str, Vector]
    labels: Mapping[str, Label]


class _Labels:
    """Codes for the values of labels as they come."""

    def __init__(self) -> None:
        self._codes: dict[str, array[int]] = {}
        self._values: dict[str, dict[str, int]] = {}
        self._count = 0

    def add(self, labels: Mapping[str, str]) -> None:
        for name in labels:
            if name not in self._codes:
                self._codes[name] = array("q", [-1] * self._count)
                self._values[name] = {}
        for name, codes in self._codes.items():
            known, value = self._values[name], labels.get(name)
            if value is None or (value not in known and len(known) >= MOST_VALUES):
                codes.append(-1)
            else:
                codes.append(known.setdefault(value, len(known)))
        self._count += 1

    def all(self) -> dict[str, Label]:
        return {
            name: Label(np.array(codes, np.int64), list(self._values[name]))
            for name, codes in self._codes.items()
        }


def read_columns(directory: Path, slot: str) -> Columns:
    """Goes through the last attempts at all trials of a target once.

    Raises:
        JournalError: the journal cannot be read.
    """
    status: list[str] = []
    samples, began, took, prompt = array("Q"), array("q"), array("q"), array("q")
    latency = array("d")
    scores: dict[str, array[float]] = {}
    labels = _Labels()
    for trial in FinalTrials(directory, slot):
        record = trial.record
        own = [request for request in record.requests if request.role == "model"]
        values = _values(trial)
        for name in values:
            if name not in scores:
                scores[name] = array("d", [np.nan] * len(status))
        for name, column in scores.items():
            column.append(values.get(name, np.nan))
        status.append(str(_status(trial)))
        samples.append(xxhash.xxh3_64_intdigest(record.sample.encode()))
        began.append(record.started_at)
        took.append(record.duration)
        latency.append(_latency(record, own))
        tokens = own[0].usage.prompt_tokens if own else None
        prompt.append(-1 if tokens is None else tokens)
        labels.add(record.labels if record.group is None else {**record.labels, "group": record.group})
    return Columns(
        status=np.array(status, dtype=object),
        samples=np.array(samples, np.uint64),
        began=np.array(began, np.int64),
        took=np.array(took, np.int64),
        latency=np.array(latency, np.float64),
        prompt=np.array(prompt, np.int64),
        scores={name: np.array(column, np.float64) for name, column in scores.items()},
        labels=labels.all(),
    )


def _values(trial: FinalTrial) -> dict[str, float]:
    judged = {
        name: np.nan if score.value is None or not np.isfinite(score.value) else score.value
        for name, score in trial.scores.items()
    }
    return {**trial.record.scores, **judged}


def _status(trial: FinalTrial) -> Status:
    return trial_status(trial.record.status, [score.status for score in trial.scores.values()])


def _latency(record: TrialRecord, own: list[RequestRecord]) -> float:
    """What was taken over from another run was not timed here, and what failed or was unsettled does not count."""
    if record.reused_from is not None or not own or not all(map(in_timings, own)):
        return np.nan
    return sum(request.total for request in own) / 1e9


def counted(columns: Columns) -> dict[str, int]:
    """The trials by status."""
    return dict(sorted(Counter(columns.status.tolist()).items()))


def request_times(directory: Path, slot: str) -> dict[str, Vector]:
    """The seconds of `ttft` and `latency` of all answered requests of a target, also those of earlier attempts."""
    found = {"ttft": array("f"), "latency": array("f")}
    for line in read_lines(directory):
        if not isinstance(line, TrialRecord) or line.target != slot or line.reused_from is not None:
            continue
        for request in line.requests:
            if request.role == "model" and in_timings(request):
                found["latency"].append(request.total / 1e9)
                if request.ttft is not None:
                    found["ttft"].append(request.ttft / 1e9)
    return {name: np.array(values, np.float64) for name, values in found.items()}
