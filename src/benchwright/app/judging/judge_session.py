"""Asks a run's judge about given answers, and journals its verdicts in a directory inside the run's directory.

Earlier verdicts are reused, so that repeating an interrupted command continues it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from benchwright.app.endpoints import make_client
from benchwright.app.launch import RETRIED_STATUSES
from benchwright.app.prepared_run import RunRequest
from benchwright.endpoint.access import Access
from benchwright.engine.executor import LocalExecutor
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import JudgingScorer, Score, Scorer, Session, Solver
from benchwright.engine.run import RunListener, RunResult, run
from benchwright.engine.stop_rules import SystemicErrorRule
from benchwright.records import Outcome, Record, Sample, Target, TaskSpec, Trial
from benchwright.runs import store
from benchwright.runs.journal import Journal
from benchwright.runs.keys import fingerprint
from benchwright.runs.table import RunTable
from benchwright.text import Say

JUDGE_JOURNAL_DIRECTORY = "judge"
"""Directory of the judge's journal within the run's directory."""

VERDICT_SCORE_NAME = "verdict"
MAX_REQUESTS_IN_FLIGHT = 64


class JudgeQuestion(Record, frozen=True):
    """An existing answer to a sample, and the scorer that asks the judge about it."""

    scorer: JudgingScorer
    sample: Sample
    answer: str


class JudgingResult(Record, frozen=True):
    """Verdicts of a judge in the order of the questions, and the result of the session.

    A verdict is None if the session ended before the judge gave it.
    """

    verdicts: list[float | None]
    session_result: RunResult


async def ask_judge(
    request: RunRequest,
    directory: Path,
    judge: Target,
    access: Access,
    questions: Sequence[JudgeQuestion],
    listeners: Sequence[RunListener],
    say: Say,
) -> JudgingResult:
    """Ask the judge every question that has no verdict in the run's judge journal. Return all verdicts, in order.

    Two equal questions get one request each.

    Raises:
        RunLocked: If another process is working on the run.
        JournalError: If the journal cannot be written.
    """
    plan = Plan(_Asking(questions), len(questions), [judge], shares_journal=True)
    settings = request.settings
    in_flight = (
        MAX_REQUESTS_IN_FLIGHT if settings.execution.concurrency == "auto" else settings.execution.concurrency
    )
    client = make_client(judge, access, settings, in_flight)
    place = directory / JUDGE_JOURNAL_DIRECTORY
    async with store.run_lock(directory, say):
        journal = Journal(place, fsync=settings.execution.fsync)
        try:
            result = await run(
                plan,
                LocalExecutor({judge.slot: client}, in_flight),
                journal,
                [SystemicErrorRule()],
                listeners,
                again=RETRIED_STATUSES,
                clients=[client],
            )
        finally:
            client.close()
            journal.close()
    return JudgingResult(_verdicts(place, plan), result)


def _verdicts(place: Path, plan: Plan) -> list[float | None]:
    table = RunTable(place, [VERDICT_SCORE_NAME])
    table.read_journal()
    found: list[float | None] = []
    for trial in plan.trials():
        row = table.find_row(trial.key)
        score = None if row is None else table.read_trial(row).scores.get(VERDICT_SCORE_NAME)
        found.append(None if score is None else score.value)
    return found


class _Asking:
    """Task for the engine: each sample is an existing answer, scored by the scorer of its question."""

    spec = TaskSpec("judge", "1", fingerprint("judge", 1))

    def __init__(self, questions: Sequence[JudgeQuestion]) -> None:
        self._questions = questions
        self.scorers: Sequence[Scorer] = [
            _PerQuestionScorer({one.scorer.fingerprint: one.scorer for one in questions})
        ]

    def samples(self) -> Iterator[Sample]:
        for place, question in enumerate(self._questions):
            content = {
                "way": question.scorer.fingerprint,
                "asked": question.sample.content,
                "answer": question.answer,
            }
            yield Sample(str(place), content)

    def size(self) -> int:
        return len(self._questions)

    def open(self) -> AbstractAsyncContextManager[Solver]:
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Solver]:
        yield _Known()


class _Known:
    """Solver that returns the sample's existing answer, without a request."""

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        return Outcome(answer=trial.sample.content["answer"])


class _PerQuestionScorer:
    """Scorer that delegates to the scorer of each question. The question is identified by its fingerprint."""

    name = VERDICT_SCORE_NAME
    fingerprint = fingerprint(VERDICT_SCORE_NAME, 1)

    def __init__(self, ways: dict[str, JudgingScorer]) -> None:
        self._ways = ways

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        asked = Sample(sample.id, sample.content["asked"])
        return await self._ways[sample.content["way"]].score(asked, outcome, session)
