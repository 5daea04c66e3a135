"""Stop rule that follows a run and ends it once its question is decided."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from benchwright.analysis.deciding.decision import current_decision
from benchwright.analysis.deciding.question_tracker import QuestionTracker
from benchwright.analysis.deciding.records import RunDecision
from benchwright.analysis.deciding.score_bounds import ScoreOutOfRange
from benchwright.app.prepared_run import RunRequest
from benchwright.app.until.question import check_same_question, question_of_run, question_order
from benchwright.engine.ledger import RetryCondition
from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.records import Status
from benchwright.reports.decision import decision_progress
from benchwright.runs.manifest import read_manifest
from benchwright.runs.question import Question, read_question, write_question
from benchwright.runs.table import RunTable, read_table
from benchwright.text import Say


class UntilRule:
    """Stop rule that ends a run once its question is decided; see `engine.stop_rules.DecisionRule`.

    The rule reads the journal itself, as later readers of the run do. `plan`: the run's plan, with the trials
    in the question's order; the plan's own `reorder_trials` is applied after that. `again`: statuses of
    earlier trials that are retried. If the question is decided without a retry, they are not retried, unless
    the user asked for retries.
    """

    def __init__(
        self, question: Question, directory: Path, request: RunRequest, again: Collection[Status]
    ) -> None:
        before, order = request.plan.reorder_trials, question_order(question)
        self.plan = replace(
            request.plan, reorder_trials=order if before is None else lambda trials: before(order(trials))
        )
        self._table = read_table(directory)
        manifest = read_manifest(directory)
        self._following = QuestionTracker(question, manifest, self._table)
        retried = request.settings.resuming.retry_failed or request.retry_condition is not None
        if retried or not self._following.process_complete_units():
            open_rows = _to_be_asked_again(self._table, request.retry_condition, again)
            self._following = QuestionTracker(question, manifest, self._table, open_rows)
            self._following.process_complete_units()

    @property
    def is_over(self) -> bool:
        """True if no more samples are needed for the question."""
        return self._following.is_over

    @property
    def is_decided(self) -> bool:
        """True if the question is decided; see `engine.stop_rules.DecisionRule`."""
        return self._following.family.is_decided

    @property
    def decision(self) -> RunDecision:
        """The current decision, based on the trials so far."""
        return current_decision(self._following)

    def update(self, result: WorkResult) -> str | None:
        """Process a result. Return a reason to stop if no more samples are needed for the question.

        Return None otherwise.
        """
        if isinstance(result, SolvedWork):
            return None
        self._table.read_journal()
        row = self._table.find_row(result.trial.key)
        if row is not None:
            self._following.add_retry(row)
        try:
            over = self._following.process_complete_units()
        except ScoreOutOfRange as error:
            return str(error)
        left = self._following.samples < self.plan.sample_count
        return decision_progress(self.decision) if over and left else None


def make_until_rule(
    request: RunRequest, directory: Path, again: Collection[Status], say: Say
) -> UntilRule | None:
    """Return the stop rule for the question of this run. Return None if the run is to ask all samples.

    The question of a new run is stored before its first sample.

    Raises:
        UserError: If another question is stored with the run, or if `question_of_run` raises it.
        JournalError: If the question cannot be written, or the journal not read.
    """
    if request.settings.deciding.until is None:
        return None
    question = read_question(directory)
    if question is None:
        question = question_of_run(request, say)
        write_question(directory, question)
    else:
        check_same_question(question, request)
    return UntilRule(question, directory, request, again)


def _to_be_asked_again(table: RunTable, retry: RetryCondition | None, again: Collection[Status]) -> list[int]:
    return [
        row
        for row in range(len(table))
        if table.status_of(row) in again or (retry is not None and retry(table.read_record(row)))
    ]
