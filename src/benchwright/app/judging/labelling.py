"""Human labels of judged answers: matched with a run's answers or with new verdicts, and stored with the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.analysis.judged.answers import judged_rows
from benchwright.app.judging.judge_session import JudgeQuestion, ask_judge
from benchwright.app.judging.labels_file import HumanLabel, read_label_form
from benchwright.app.judging.run_judge import JudgedAnswer, judge_of_run, judged_answers, samples_by_id
from benchwright.app.prepared_run import PreparedRun
from benchwright.engine.run import RunListener, RunResult
from benchwright.errors import UserError
from benchwright.records import Sample
from benchwright.runs.human_labels import HumanLabels, OutsideAnswerLabel, RunAnswerLabel, write_labels
from benchwright.runs.table import read_table
from benchwright.text import Say


def read_labels_for_run(prepared: PreparedRun[Any], path: Path | None) -> Sequence[HumanLabel]:
    """Return the human labels in the file of `--judge-labels`. Empty if `path` is None.

    Raises:
        DatasetError: If the file cannot be read.
        UserError: If a label is invalid, or no judge scores the run.
    """
    if path is None:
        return ()
    judge_of_run(prepared)
    return read_label_form(path)


async def label_run(
    prepared: PreparedRun[Any],
    directory: Path,
    labels: Sequence[HumanLabel],
    source: str,
    listeners: Sequence[RunListener],
    say: Say,
) -> RunResult | None:
    """Store human labels with a run, replacing earlier labels. `source`: the name of the labels' file.

    If some labels belong to answers that are not from the run, ask the judge for verdicts on these answers, and
    return the result of that session. Otherwise return None. The labels are stored only when the judge was asked
    about all these answers.

    Raises:
        UserError: If no judge scored the run, or a label refers to an unknown trial or sample.
        RunLocked, JournalError: If `judge_session.ask_judge` raises it.
    """
    judges = judge_of_run(prepared)
    table = read_table(directory)
    answers = list(judged_answers(table, judges.scorer.name, judged_rows(table, judges.scorer.name)))
    own, others = _sorted(labels, answers)
    kept = HumanLabels(source, judges.scorer.name, own)
    result = None
    if others:
        samples = samples_by_id(prepared, frozenset(one.sample for one in others))
        questions = [
            JudgeQuestion(judges.scorer, _sample_of(one, samples, directory.name), one.answer)
            for one in others
        ]
        request = prepared.request
        asked = await ask_judge(
            request, directory, judges.target, request.access["judge"], questions, listeners, say
        )
        result = asked.session_result
        if not result.is_finished:
            return result
        judged = [
            OutsideAnswerLabel(one.label, verdict, len(one.answer))
            for one, verdict in zip(others, asked.verdicts, strict=True)
            if verdict is not None
        ]
        kept = HumanLabels(source, judges.scorer.name, own, judged, len(others) - len(judged))
    write_labels(directory, kept)
    return result


def _sorted(
    labels: Sequence[HumanLabel], answers: Sequence[JudgedAnswer]
) -> tuple[list[RunAnswerLabel], list[HumanLabel]]:
    """Split labels into two lists: labels of the run's own answers, and labels of other answers.

    A label that names a trial belongs to that trial's answer. A label without a trial belongs to the run's answer
    to the same sample, if both answers have the same text.
    """
    by_trial = {one.trial: one for one in answers}
    by_text: dict[tuple[str, str], JudgedAnswer] = {}
    for answer in answers:
        by_text.setdefault((answer.sample, answer.answer), answer)
    own: list[RunAnswerLabel] = []
    others: list[HumanLabel] = []
    for label in labels:
        if label.trial in by_trial:
            own.append(_own(by_trial[label.trial], label.attempt, label.label))
        elif not label.sample or not label.answer:
            raise UserError(f"The run has no trial {label.trial[:40]} with a verdict.")
        elif (same := by_text.get((label.sample, label.answer))) is not None:
            own.append(_own(same, same.attempt, label.label))
        else:
            others.append(label)
    return own, others


def _own(answer: JudgedAnswer, attempt: int, label: float) -> RunAnswerLabel:
    return RunAnswerLabel(answer.trial, answer.sample, attempt, label, len(answer.answer))


def _sample_of(label: HumanLabel, samples: Mapping[str, Sample], run: str) -> Sample:
    try:
        return samples[label.sample]
    except KeyError:
        raise UserError(
            f"{run} has no sample {label.sample[:60]!r}, of which an answer is labelled."
        ) from None
