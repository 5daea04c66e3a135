"""The judge of a run, and the answers that it has scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.app.prepared_run import PreparedRun
from benchwright.app.run_lookup.existing_runs import ExistingRun, resume_settings
from benchwright.engine.protocols import JudgingScorer
from benchwright.errors import UserError
from benchwright.records import Record, Sample, Target
from benchwright.runs.journal import open_bodies, read_body_from
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.runs.trial_prompt import read_input
from benchwright.text import Say

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows

JUDGE_SLOT = "judge"
"""Slot (key) of the judge among the run's targets."""


class JudgedAnswer(Record, frozen=True):
    """An answer with the judge's verdict, a score from 0 to 1.

    `question` and `expected`: the sample's input and reference answer, as text for people.
    """

    trial: str
    attempt: int
    sample: str
    answer: str
    verdict: float
    question: str = ""
    expected: str = ""


class RunJudge(Record, frozen=True):
    """The judge of a run: its scorer, and its target."""

    scorer: JudgingScorer
    target: Target


def prepare_run_again(run: ExistingRun, given: Mapping[str, Any], say: Say) -> PreparedRun[Any]:
    """Prepare a run again, to get its samples, its judge and the judge's API key. Return the prepared run.

    No trial is run again.

    Raises:
        UserError: If the run cannot be prepared, or its data or configuration has changed.
    """
    settings: Any = resume_settings(run, given)
    if run.manifest.kind == "eval":
        from benchwright.app.evaluate import prepare_eval

        prepared: PreparedRun[Any] = prepare_eval(settings, say)
    elif run.manifest.kind == "benchmark":
        from benchwright.app.benchmarks import prepare_benchmark

        prepared = prepare_benchmark(run.subject, settings, say)
    else:
        raise UserError(f"{run.manifest.id} is a {run.manifest.kind}; judges score evals and benchmarks.")
    if prepared.request.fingerprint != run.manifest.fingerprint:
        raise UserError(
            f"{run.manifest.id} cannot be judged again: its data or its configuration has changed."
        )
    return prepared


def judge_of_run(prepared: PreparedRun[Any]) -> RunJudge:
    """Return the judge of a run.

    Raises:
        UserError: If no judge scores the run.
    """
    plan = prepared.request.plan
    target = next((helper for helper in plan.helper_targets if helper.slot == JUDGE_SLOT), None)
    scorer = next((scorer for scorer in plan.task.scorers if isinstance(scorer, JudgingScorer)), None)
    if scorer is None or target is None:
        raise UserError(
            f"No judge scores {prepared.request.name}: use an eval with --scorer judge, or a benchmark with "
            "--judge-model MODEL."
        )
    return RunJudge(scorer, target)


def judged_score_name(manifest: Manifest) -> str:
    """Return the name of the score that the run's judge gave.

    Raises:
        UserError: If no judge scored the run.
    """
    for scorer in manifest.scorers:
        if scorer.judging is not None:
            return scorer.name
    raise UserError(f"{manifest.id} has no score of a judge, or is of a version that did not note its judge.")


def judged_answers(table: RunTable, scorer: str, rows: Sequence[int] | Rows) -> Iterator[JudgedAnswer]:
    """Yield the judged answers in these rows of the table. `scorer`: name of the judge's score.

    Raises:
        JournalError: If a body is missing.
    """
    with open_bodies(table.directory) as bodies:
        for trial in table.read_trials(rows):
            record = trial.record
            body = read_body_from(bodies, record)
            yield JudgedAnswer(
                trial=record.key,
                attempt=record.attempt,
                sample=record.sample,
                answer=body.answer,
                verdict=trial.scores[scorer].value or 0.0,
                question=read_input(body.input, body.messages) or "",
                expected=body.target or "",
            )


def samples_by_id(prepared: PreparedRun[Any], names: frozenset[str]) -> dict[str, Sample]:
    """Return the samples of a run by id, for the ids in `names`. Unknown ids are ignored."""
    samples = prepared.request.plan.task.samples()
    found: dict[str, Sample] = {}
    for sample in samples:
        if sample.id in names:
            found.setdefault(sample.id, sample)
    return found
