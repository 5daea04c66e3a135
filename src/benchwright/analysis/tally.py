"""The tally: a journal read line by line into columns of numbers, a few per trial, whatever its length."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from itertools import repeat
from typing import Any, NamedTuple

import msgspec
import xxhash

from benchwright.records import (
    ASKED_AGAIN,
    FAILED,
    SIMULATED,
    JournalLine,
    LoopLag,
    RequestRecord,
    RunEvent,
    ScoreRecord,
    Status,
    TrialRecord,
    trial_status,
)
from benchwright.runs.paces import SETTLING, Paces, in_timings
from benchwright.stats.histogram import bucket

TIMINGS = ("ttft", "ttfa", "latency", "generation_tps")


class ScoreColumn:
    """The values of one scorer: parallel columns of value, and where they are needed of sample and group."""

    def __init__(self, by_sample: bool) -> None:
        self.values = array("d")
        self._by_sample = by_sample
        self.samples = array("Q")
        self.unparsed = 0
        self.grader_errors = 0
        self.samples_without_value: dict[int, str | None] = {}
        self._groups = array("q")
        self._group_codes: dict[str, int] = {}

    def add(self, value: float, sample: int, group: str | None) -> None:
        """Takes one value in."""
        if group is not None and not self._groups:
            self._groups.extend(repeat(-1, len(self.values)))
        self.values.append(value)
        if self._by_sample:
            self.samples.append(sample)
        if group is not None or self._groups:
            self._groups.append(self._code(group))

    def _code(self, group: str | None) -> int:
        return -1 if group is None else self._group_codes.setdefault(group, len(self._group_codes))

    def group_of_value(self) -> list[int | None] | None:
        """The group of each value, None where samples are in no groups at all."""
        if not self._groups:
            return None
        return [None if code < 0 else code for code in self._groups]

    def groups_of(self, samples: list[int]) -> list[int | None] | None:
        """The group of each of these samples, None where samples are in no groups at all."""
        unscored = {sample: self._code(group) for sample, group in self.samples_without_value.items()}
        if not self._group_codes:
            return None
        codes = self._groups or array("q", repeat(-1, len(self.samples)))
        code_of = unscored | dict(zip(self.samples, codes, strict=True))
        return [None if code_of[sample] < 0 else code_of[sample] for sample in samples]


MOST_REASONS = 100
OTHER_REASONS = "other reasons"


class TargetTally:
    """What one target did."""

    def __init__(self, scorers: list[str], by_sample: bool) -> None:
        self._by_sample = by_sample
        self.trials = 0
        self.reused = 0
        self.statuses: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.scores: dict[str, ScoreColumn] = {name: ScoreColumn(by_sample) for name in scorers}
        self.requests = 0
        self.failed_requests = 0
        self.retried_requests = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.waited = 0
        self.timed_requests = 0
        self.settling_requests = 0
        self.timings: dict[str, array[float]] = {name: array("f") for name in TIMINGS}
        self.prompt_tps = 0.0
        self.prompt_tps_count = 0
        self.gaps: dict[int, int] = {}
        self.dispatch_lags: dict[int, int] = {}
        self.detect_lags: dict[int, int] = {}
        self.other_roles: dict[str, int] = {}

    def column(self, scorer: str) -> ScoreColumn:
        """The column of a scorer, a new one where it is the first of its values."""
        if scorer not in self.scores:
            self.scores[scorer] = ScoreColumn(self._by_sample)
        return self.scores[scorer]

    def add_failure(self, reason: str) -> None:
        """Counts why a trial failed; of very many reasons those that came first have their own count."""
        known = reason in self.failures or len(self.failures) < MOST_REASONS
        self.failures[reason if known else OTHER_REASONS] += 1

    def add_request(self, request: RequestRecord) -> None:
        """Counts one request of this run."""
        if request.role != "model":
            self.other_roles[request.role] = self.other_roles.get(request.role, 0) + 1
            return
        self.requests += 1
        self.retried_requests += request.attempts > 1
        self.waited += request.waited
        self.prompt_tokens += request.prompt_tokens
        self.completion_tokens += request.completion_tokens
        self.failed_requests += request.error is not None
        self.settling_requests += SETTLING in request.flags
        if in_timings(request):
            self._time(request)

    def _time(self, request: RequestRecord) -> None:
        self.timed_requests += 1
        timings = self.timings
        timings["latency"].append(request.total / 1e9)
        for lags, lag in (
            (self.dispatch_lags, request.dispatch_lag),
            (self.detect_lags, request.detect_lag),
        ):
            slot = bucket(max(0, lag))
            lags[slot] = lags.get(slot, 0) + 1
        for name, value in (
            ("ttft", request.ttft_seconds),
            ("ttfa", request.ttfa_seconds),
            ("generation_tps", request.tokens_per_second_generation),
        ):
            if value is not None:
                timings[name].append(value)
        if (speed := request.tokens_per_second_prompt) is not None:
            self.prompt_tps += speed
            self.prompt_tps_count += 1
        for slot, count in request.gaps.items():
            self.gaps[slot] = self.gaps.get(slot, 0) + count


class _Open(NamedTuple):
    """A trial whose scores have not all been seen yet."""

    slot: str
    sample: int
    group: str | None
    status: Status
    reason: str | None
    scores: list[Status]


class Tally:
    """Sums up the lines of a journal. After the last line, call `close`.

    `last_attempts` are those of `journal.last_attempts`: of earlier attempts only the requests count. `by_sample`
    keeps of which sample each value is, for repeats and for pairs of targets.
    """

    def __init__(
        self,
        scorers: list[str],
        slots: set[str],
        last_attempts: Mapping[str, int] = {},
        *,
        by_sample: bool = True,
    ) -> None:
        self.targets = {slot: TargetTally(scorers, by_sample) for slot in slots}
        self.state = "unfinished"
        self.stop_reason: str | None = None
        self.planned: int | None = None
        self.wall_seconds = 0.0
        self.cpu_seconds = 0.0
        self.lag = LoopLag()
        self.simulated = False
        self.paces = Paces()
        self._scorers = scorers
        self._last_attempts = last_attempts
        self._open: dict[str, _Open] = {}
        self._session_start = 0
        self._session_end = 0

    def add(self, line: JournalLine) -> None:
        """Takes one line in."""
        if isinstance(line, TrialRecord):
            self._add_trial(line)
        elif isinstance(line, ScoreRecord):
            self._add_score(line)
        elif isinstance(line, RunEvent):
            self._add_event(line)

    def close(self) -> None:
        """Counts the trials that were never scored, and the time of a session that was killed."""
        for key in list(self._open):
            self._settle(key)
        self._end_session()

    def _add_trial(self, record: TrialRecord) -> None:
        tally = self.targets.get(record.target)
        if tally is None:
            return
        self._session_end = max(self._session_end, record.started_at + record.duration)
        tally.reused += record.reused_from is not None
        for request in record.requests:
            self.simulated = self.simulated or SIMULATED in request.flags
            if record.reused_from is None:
                tally.add_request(request)
        if self._last_attempts.get(record.key, record.attempt) != record.attempt:
            return
        sample = xxhash.xxh3_64_intdigest(record.sample.encode())
        self._open[record.key] = _Open(record.target, sample, record.group, record.status, record.reason, [])
        for name, value in record.scores.items():
            tally.column(name).add(value, sample, record.group)
        if (record.status in FAILED and record.status not in ASKED_AGAIN) or (
            record.status is Status.ANSWERED and not self._scorers
        ):
            self._settle(record.key)

    def _add_score(self, record: ScoreRecord) -> None:
        trial = self._open.get(record.trial)
        if trial is None:
            return
        tally = self.targets[trial.slot]
        for request in record.requests:
            tally.add_request(request)
        column = tally.column(record.scorer)
        if record.value is not None:
            column.add(record.value, trial.sample, trial.group)
        else:
            column.unparsed += record.status is Status.UNPARSED
            column.grader_errors += record.status is Status.GRADER_ERROR
            column.samples_without_value[trial.sample] = trial.group
        trial.scores.append(record.status)
        if len(trial.scores) == len(self._scorers):
            self._settle(record.trial)

    def _settle(self, key: str) -> None:
        trial = self._open.pop(key)
        tally = self.targets[trial.slot]
        tally.trials += 1
        tally.statuses[trial_status(trial.status, trial.scores)] += 1
        if trial.status in FAILED and trial.reason is not None:
            tally.add_failure(trial.reason)
        if not trial.scores:
            for column in tally.scores.values():
                column.samples_without_value[trial.sample] = trial.group

    def _add_event(self, event: RunEvent) -> None:
        detail = event.detail
        if event.name == "started":
            self._end_session()
            self.state, self.stop_reason = "unfinished", None
            self._session_start = self._session_end = event.at
            self.planned = detail.get("total")
            return
        if event.name == "concurrency":
            self.paces.add(event, self._session_start)
            self._session_end = max(self._session_end, event.at)
            return
        self.state = event.name
        self.stop_reason = detail.get("reason")
        self.cpu_seconds += detail.get("cpu_seconds", 0.0)
        self._session_end = max(self._session_end, event.at)
        self._take_lag(detail.get("lag"))
        self._end_session()

    def _take_lag(self, lag: Any) -> None:
        if lag is not None:
            sampled = msgspec.convert(lag, LoopLag)
            self.lag = max(self.lag, sampled, key=lambda one: one.p99)

    def _end_session(self) -> None:
        if self._session_start:
            self.paces.end_session(self._session_end)
        self.wall_seconds += max(0, self._session_end - self._session_start) / 1e9
        self._session_start = self._session_end = 0
