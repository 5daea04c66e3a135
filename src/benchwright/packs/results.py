"""Results of a pack's run, read from the run's table: all attempts at all cells, and the pack's scores.

A cell is one scenario with one model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from benchwright.errors import ExecutionError, JournalError
from benchwright.packs.bridge import PackProcess
from benchwright.packs.repeats import RawResult, representative_result
from benchwright.packs.solver import failed_result
from benchwright.packs.types import BenchmarkScore
from benchwright.records import Record, Status, TrialRecord
from benchwright.runs.journal import read_body
from benchwright.runs.table import RunTable


class Attempt(Record, frozen=True):
    """One attempt at a cell: the pack's result, and the engine's measurements.

    `slot`: the id of the model in the run. `duration`: in ns.
    """

    slot: str
    scenario: str
    repeat: int
    status: Status
    result: RawResult
    requests: int
    prompt_tokens: int
    completion_tokens: int
    duration: int

    @property
    def result_word(self) -> str:
        """The result in one word: `pass`, `partial` or `fail`. It is `error` if the attempt has no result."""
        return str(self.result.get("status")) if self.status is Status.SCORED else "error"


class CellState(msgspec.Struct):
    """State of one cell during a run.

    `attempts`: the results of finished attempts (`pass`, `partial`, `fail`, `error`). `running_since`: the
    start of the current attempt, None if no attempt is running. `seconds`: the total duration of the finished
    attempts. `message`: the last progress message.
    """

    attempts: list[str] = []
    running_since: float | None = None
    seconds: float = 0.0
    message: str = ""

    def add(self, attempt: Attempt) -> None:
        """Add a finished attempt. After that, no attempt is running."""
        self.running_since = None
        self.seconds += attempt.duration / 1e9
        self.attempts.append(attempt.result_word)


class PackScore(Record, frozen=True):
    """A model's score as the pack returned it, or the `error` that prevented the score.

    `cells`: the number of (scenario, repeat) pairs. `missing_cells`: the number of pairs without a result,
    because they were not run, or because their provider, the pack or a verifier failed. `totals`: the pack's
    total for each repeat; empty if there is only one repeat.
    """

    score: BenchmarkScore | None = None
    error: str | None = None
    missing_cells: int = 0
    cells: int = 0
    totals: Sequence[float] = ()

    @property
    def is_complete(self) -> bool:
        """True if there is a score and every cell has a result."""
        return self.score is not None and not self.missing_cells

    @property
    def total(self) -> str:
        """The total with its unit; "" if there is no score, or if no cell has a result."""
        if self.score is None or (self.cells and self.missing_cells == self.cells):
            return ""
        return f"{self.score.total_score:g} {self.score.total_unit or ''}".rstrip()

    @property
    def remark(self) -> str:
        """The pack's summary of its score. If the score is missing or incomplete, the reason for that."""
        if self.score is None:
            return self.error or ""
        if self.is_complete:
            return self.score.summary or ""
        return f"incomplete: {self.missing_cells:,} of {self.cells:,} cells have no result"


class PackResults(Record, frozen=True):
    """The attempts of a run, grouped by slot (the id of the model in the run) and scenario, and ordered by repeat."""

    attempts: dict[str, dict[str, list[Attempt]]]

    def representative_results(self, slot: str) -> list[RawResult]:
        """Return one result per scenario for a model.

        If a scenario has several attempts, the result is the one that `repeats.representative_result`
        computes from them.
        """
        return [
            representative_result([one.result for one in attempts])
            for attempts in self.attempts.get(slot, {}).values()
        ]

    def results_by_repeat(self, slot: str) -> list[list[RawResult]]:
        """Return a model's results, one list per complete repeat. Return [] if fewer than two repeats are complete."""
        cells = self.attempts.get(slot, {})
        found: dict[int, list[RawResult]] = {}
        for attempt in (one for attempts in cells.values() for one in attempts if one.result_word != "error"):
            found.setdefault(attempt.repeat, []).append(attempt.result)
        whole = [found[repeat] for repeat in sorted(found) if len(found[repeat]) == len(cells)]
        return whole if len(whole) > 1 else []

    def cell_states(self) -> dict[tuple[str, str], CellState]:
        """Return the state of each cell: a mapping from (slot, scenario) to the state."""
        states: dict[tuple[str, str], CellState] = {}
        for slot, cells in self.attempts.items():
            for scenario, attempts in cells.items():
                state = states[slot, scenario] = CellState()
                for attempt in attempts:
                    state.add(attempt)
        return states


def group_attempts(
    attempts: Iterable[Attempt], slots: Sequence[str], scenarios: Sequence[str]
) -> PackResults:
    """Group attempts by slot and scenario. `slots`, `scenarios`: the order of the groups."""
    found: dict[str, dict[str, list[Attempt]]] = {slot: {} for slot in slots}
    for attempt in attempts:
        if attempt.slot not in found:  # a target that is not part of this run
            continue
        found[attempt.slot].setdefault(attempt.scenario, []).append(attempt)
    ordered = {
        slot: {name: sorted(cells[name], key=_repeat) for name in scenarios if name in cells}
        for slot, cells in found.items()
    }
    return PackResults(ordered)


def _repeat(attempt: Attempt) -> int:
    return attempt.repeat


def read_attempts(table: RunTable) -> Iterator[tuple[TrialRecord, Attempt]]:
    """Yield the attempts that count in a run, each with its journal record, in the order of their start.

    Of several attempts at the same trial, only one counts. The table must have been made with `effort=True`.
    An attempt whose body is lost is an error, because its result is unknown.

    Raises:
        JournalError: If the journal cannot be read.
    """
    for trial in table.read_trials(table.rows_in_start_order(table.counted_rows())):
        record = trial.record
        try:
            native = read_body(table.directory, record).native
        except JournalError as error:
            lost = msgspec.structs.replace(record, status=Status.EXECUTION_ERROR, reason=str(error))
            yield record, make_attempt(lost, None)
        else:
            yield record, make_attempt(record, native)


def make_attempt(record: TrialRecord, native: Any) -> Attempt:
    """Combine a trial's record with the pack's own result.

    If the pack returned no result, the attempt gets the result "fail" with score 0 (see
    `solver.failed_result`).
    """
    requests = [request for request in record.requests if request.role == "model"]
    result = native if isinstance(native, dict) else _failed(record)
    return Attempt(
        slot=record.target,
        scenario=record.sample,
        repeat=record.repeat,
        status=record.status,
        result=result,
        requests=len(requests),
        prompt_tokens=sum(request.prompt_tokens for request in requests),
        completion_tokens=sum(request.completion_tokens for request in requests),
        duration=record.duration,
    )


def _failed(record: TrialRecord) -> RawResult:
    last = next((request for request in reversed(record.requests) if request.error is not None), None)
    status = None if last is None else last.http_status
    timings = {"durationMs": round(record.duration / 1e6, 3)}
    return {**failed_result(record.sample, record.status, record.reason, status), "timings": timings}


async def score_results(pack: PackProcess, results: PackResults) -> Mapping[str, PackScore]:
    """Return the pack's score of each model: a mapping from the slot to the score.

    If the pack failed to compute a score, the `error` of the score is set.
    """
    scores = {}
    for slot in results.attempts:
        try:
            whole = await pack.score(results.representative_results(slot))
            scores[slot] = PackScore(whole, totals=await _totals(pack, results.results_by_repeat(slot)))
        except ExecutionError as error:
            scores[slot] = PackScore(error=str(error))
    return scores


async def _totals(pack: PackProcess, repeats: Sequence[Sequence[RawResult]]) -> list[float]:
    """Return the pack's total score for each repeat. Return [] if the pack fails to score a repeat."""
    try:
        return [(await pack.score(results)).total_score for results in repeats]
    except ExecutionError:
        return []
