"""What trials took: time, tokens and requests, from the journal of a run or from a result file."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.analysis.comparison.sides import Effort, Lost
from benchwright.records import RequestRecord, TrialRecord
from benchwright.runs.journal import read_lines
from benchwright.runs.key_index import KeyIndex
from benchwright.runs.paces import SETTLING
from benchwright.stats.arrays import Vector
from benchwright.stats.ratios import shared_time


class EffortBuilder:
    """Collects the last attempts of trials in their order; then `effort` adds what the journal has of the others."""

    def __init__(self) -> None:
        self._latency, self._ttft = array("d"), array("d")
        self._reused, self._unsettled = bytearray(), bytearray()
        self._places = KeyIndex()

    def add(self, record: TrialRecord) -> None:
        """Takes the last attempt at a trial in."""
        reused = record.reused_from is not None
        unsettled = not reused and any(SETTLING in request.flags for request in record.requests)
        answered = [] if reused or unsettled else list(_answered(record))
        ttfts = [request.ttft for request in answered if request.ttft is not None]
        self._latency.append(sum(one.total for one in answered) / 1e9 if answered else math.nan)
        self._ttft.append(sum(ttfts) / len(ttfts) / 1e9 if ttfts else math.nan)
        if not reused:
            self._places.add(record.key, len(self._reused))
        self._reused.append(reused)
        self._unsettled.append(unsettled)

    def effort(self, directory: Path, slot: str, targets: int) -> Effort:
        """Everything that was done for the trials of a slot, one of so many targets of the run.

        Raises:
            JournalError: the journal cannot be read.
        """
        attempts = _Attempts(directory, slot, self._places, len(self._reused))
        n, m = len(self._reused), len(attempts.lost_samples)
        seconds, prompt, completion = attempts.sums(n + m)
        lost_seconds = np.zeros(m) if seconds is None else seconds[n:]
        return Effort(
            seconds=None if seconds is None else seconds[:n],
            prompt_tokens=prompt[:n],
            completion_tokens=completion[:n],
            latency=np.array(self._latency, np.float64),
            ttft=np.array(self._ttft, np.float64),
            reused=np.frombuffer(bytes(self._reused), np.bool_),
            unsettled=np.frombuffer(bytes(self._unsettled), np.bool_),
            lost=Lost(attempts.lost_samples, attempts.lost_groups, lost_seconds, prompt[n:], completion[n:]),
            requests=attempts.requests,
            timed_requests=attempts.timed_requests,
            uncounted=attempts.uncounted,
            targets=targets,
        )


class _Attempts:
    """All attempts that a run made itself for one slot, with the place of the trial that each belongs to."""

    def __init__(self, directory: Path, slot: str, places: KeyIndex, n: int) -> None:
        self.lost_samples: list[str] = []
        self.lost_groups: list[str | None] = []
        self.requests = self.timed_requests = self.uncounted = 0
        self._places, self._starts, self._ends = array("q"), array("q"), array("q")
        self._prompt, self._completion = array("d"), array("d")
        for line in read_lines(directory):
            if isinstance(line, TrialRecord) and line.target == slot and line.reused_from is None:
                found = places.find(line.key)
                self._add(line, found[-1] if found else n + len(self.lost_samples))
                if not found:
                    self.lost_samples.append(line.sample)
                    self.lost_groups.append(line.group)

    def _add(self, record: TrialRecord, place: int) -> None:
        self._places.append(place)
        self._starts.append(record.started_at)
        self._ends.append(record.started_at + record.duration)
        own = [request for request in record.requests if request.role == "model"]
        self._prompt.append(sum(request.prompt_tokens for request in own))
        self._completion.append(sum(request.completion_tokens for request in own))
        unsettled = any(SETTLING in request.flags for request in record.requests)
        for request in _answered(record):
            self.requests += 1
            self.timed_requests += not unsettled
            usage = request.usage
            self.uncounted += usage.completion_tokens is None or usage.prompt_tokens is None

    def sums(self, size: int) -> tuple[Vector | None, Vector, Vector]:
        """Seconds (None where the journal does not say when), prompt and completion tokens of each place (size,)."""
        places = np.array(self._places, np.intp)

        def summed(values: Any) -> Vector:
            return np.bincount(places, weights=values, minlength=size).astype(np.float64, copy=False)

        starts, ends = np.array(self._starts, np.int64), np.array(self._ends, np.int64)
        known = not starts.size or int(starts.min()) > 0
        seconds = summed(shared_time(starts, ends)) / 1e9 if known else None
        return seconds, summed(self._prompt), summed(self._completion)


def _answered(record: TrialRecord) -> Iterator[RequestRecord]:
    return (request for request in record.requests if request.role == "model" and request.error is None)


def effort_of_metrics(requests_of_trials: Iterable[list[dict[str, Any]]]) -> Effort:
    """The same from the documented metrics of each trial's requests; when trials were under way is not known."""
    columns: dict[str, list[float]] = {name: [] for name in ("prompt", "completion", "latency", "ttft")}
    answered_requests = uncounted = 0
    for requests in requests_of_trials:
        answered = [request for request in requests if not request.get("error")]
        counts = [(_positive(one, "prompt_tokens"), _positive(one, "completion_tokens")) for one in answered]
        answered_requests += len(answered)
        uncounted += sum(math.isnan(prompt + completion) for prompt, completion in counts)
        columns["prompt"].append(sum(prompt for prompt, _ in counts if prompt > 0))
        columns["completion"].append(sum(completion for _, completion in counts if completion > 0))
        latencies = [_positive(one, "total_latency_seconds") for one in answered]
        columns["latency"].append(sum(latencies) if latencies else math.nan)
        ttfts = [ttft for one in answered if (ttft := _positive(one, "ttft_seconds")) > 0]
        columns["ttft"].append(sum(ttfts) / len(ttfts) if ttfts else math.nan)
    arrays = {name: np.array(values, np.float64) for name, values in columns.items()}
    empty = np.zeros(0)
    return Effort(
        seconds=None,
        prompt_tokens=arrays["prompt"],
        completion_tokens=arrays["completion"],
        latency=arrays["latency"],
        ttft=arrays["ttft"],
        reused=np.zeros(arrays["latency"].size, np.bool_),
        unsettled=np.zeros(arrays["latency"].size, np.bool_),
        lost=Lost([], [], empty, empty, empty),
        requests=answered_requests,
        timed_requests=answered_requests,
        uncounted=uncounted,
    )


def _positive(metrics: dict[str, Any], name: str) -> float:
    """A number above 0 of a request's metrics; else NaN, since 0 is written for what is not known."""
    value = metrics.get(name)
    return float(value) if isinstance(value, int | float) and 0 < value < math.inf else math.nan
