"""The requests of a run as rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.analysis.export.columns import column_types, flatten_row
from benchwright.endpoint.flags import flag_kind
from benchwright.records import Record, RequestRecord, ScoreRecord, TrialRecord
from benchwright.runs.counting_rules import is_counted
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable


class RequestRow(Record, frozen=True):
    """One request with its timings, under the documented names of `RequestMetrics`.

    A timing is None if it was not measured. `sample`, `repeat` and `attempt` are None for a request that
    belongs to no trial. `started_seconds` counts from the start of the trial. `reused`: True if an earlier run
    made the request.
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
    seed: int | None


class _Origin(NamedTuple):
    """The attempt for which a request was made, and whether it was reused from an earlier run."""

    sample: str | None = None
    repeat: int | None = None
    attempt: int | None = None
    reused: bool = False


class RequestRows:
    """All requests of a run, in journal order.

    Requests of judges and of attempts that do not count are included. Each iteration reads the journal once.
    """

    columns = column_types(RequestRow, {})
    """The names of the columns and their types: str, int, float or bool."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._directory = directory
        self._run = manifest.id

    def __iter__(self) -> Iterator[RequestRow]:
        table = RunTable(self._directory)
        later_attempts: dict[int, int] = {}
        for record in table.read_records():
            if isinstance(record, TrialRecord):
                row = table.find_row(record.key)
                if record.attempt and row is not None and is_counted(record.status):
                    later_attempts[row] = record.attempt
                reused = record.reused_from is not None
                origin = _Origin(record.sample, record.repeat, record.attempt, reused)
            elif isinstance(record, ScoreRecord) and record.requests:
                row = table.find_row(record.trial)
                origin = _Origin()
                if row is not None:
                    attempt = later_attempts.get(row, 0)
                    origin = _Origin(table.sample[row], table.repeat[row], attempt, bool(table.reused[row]))
            else:
                continue
            yield from (self._row(request, origin) for request in record.requests)

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """Return the rows as dictionaries whose keys are the names of `columns`, as they are exported."""
        return (flatten_row(row, {}) for row in self)

    def _row(self, request: RequestRecord, origin: _Origin) -> RequestRow:
        usage = request.usage
        return RequestRow(
            run=self._run,
            sample=origin.sample,
            repeat=origin.repeat,
            attempt=origin.attempt,
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
            flags=",".join(map(flag_kind, request.flags)),
            reused=origin.reused,
            seed=request.seed,
        )
