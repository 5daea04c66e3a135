"""The requests of a run as rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.analysis.export.columns import flat_columns, flattened
from benchwright.records import FAILED, Record, RequestRecord, ScoreRecord, TrialRecord
from benchwright.runs.journal import read_line, read_lines, read_placed_lines
from benchwright.runs.key_index import KeyIndex
from benchwright.runs.manifest import Manifest


class RequestRow(Record, frozen=True):
    """One request with its timings, under the documented names of `RequestMetrics`; None where nothing was measured.

    `sample`, `repeat` and `attempt` are None for a request of no trial; `started_seconds` counts from the start
    of the trial. `reused` requests were made by an earlier run.
    """

    run: str
    sample: str | None
    repeat: int | None
    attempt: int | None
    slot: str
    role: str
    turn: int
    request_id: str
    started_seconds: float
    ttft_seconds: float | None
    ttfa_seconds: float | None
    total_latency_seconds: float
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    prefill_time_seconds: float | None
    decode_time_seconds: float | None
    tokens_per_second_generation: float | None
    tokens_per_second_prompt: float | None
    connect_seconds: float
    waited_seconds: float
    dispatch_lag_seconds: float
    detect_lag_seconds: float
    chunks: int
    attempts: int
    finish_reason: str | None
    http_status: int | None
    error: str | None
    flags: str
    reused: bool


class RequestRows:
    """All requests of a run, also those of attempts that failed and of judges, in the order of the journal.

    They are read from the journal each time.
    """

    columns = flat_columns(RequestRow, {})
    """The names of the columns and what they hold: str, int, float or bool."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._directory = directory
        self._run = manifest.id

    def __iter__(self) -> Iterator[RequestRow]:
        trials = KeyIndex()
        for offset, line in read_placed_lines(self._directory):
            if isinstance(line, TrialRecord):
                trials.add(line.key, offset)
        for line in read_lines(self._directory):
            if isinstance(line, TrialRecord):
                yield from (self._row(request, line) for request in line.requests)
            elif isinstance(line, ScoreRecord) and line.requests:
                trial = self._trial(trials, line.trial)
                yield from (self._row(request, trial) for request in line.requests)

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries, with the names of `columns`: what an export holds."""
        return (flattened(row, {}) for row in self)

    def _trial(self, trials: KeyIndex, key: str) -> TrialRecord | None:
        for offset in reversed(trials.find(key)):
            record = read_line(self._directory, offset)
            if isinstance(record, TrialRecord) and record.key == key and record.status not in FAILED:
                return record
        return None

    def _row(self, request: RequestRecord, trial: TrialRecord | None) -> RequestRow:
        usage = request.usage
        return RequestRow(
            run=self._run,
            sample=None if trial is None else trial.sample,
            repeat=None if trial is None else trial.repeat,
            attempt=None if trial is None else trial.attempt,
            slot=request.slot,
            role=request.role,
            turn=request.turn,
            request_id=request.id,
            started_seconds=request.started / 1e9,
            ttft_seconds=request.ttft_seconds,
            ttfa_seconds=request.ttfa_seconds,
            total_latency_seconds=request.total_latency_seconds,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            prefill_time_seconds=request.prefill_time_seconds,
            decode_time_seconds=request.decode_time_seconds,
            tokens_per_second_generation=request.tokens_per_second_generation,
            tokens_per_second_prompt=request.tokens_per_second_prompt,
            connect_seconds=request.connect / 1e9,
            waited_seconds=request.waited / 1e9,
            dispatch_lag_seconds=request.dispatch_lag / 1e9,
            detect_lag_seconds=request.detect_lag / 1e9,
            chunks=request.chunks,
            attempts=request.attempts,
            finish_reason=request.finish_reason,
            http_status=request.http_status,
            error=request.error,
            flags=",".join(request.flags),
            reused=trial is not None and trial.reused_from is not None,
        )
