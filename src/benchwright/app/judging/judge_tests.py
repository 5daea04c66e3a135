"""Tests of a judge: it scores answers again, each time with one irrelevant thing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.analysis.judged.judge_experiments import JudgeCheck, JudgeExperiment, compare_verdicts
from benchwright.analysis.judged.records import judge_of
from benchwright.analysis.scores import score_scale_of
from benchwright.app.judging.answer_sampling import draw_judged_answers
from benchwright.app.judging.judge_session import JudgeQuestion, ask_judge
from benchwright.app.judging.run_judge import JudgedAnswer, RunJudge, judge_of_run, samples_by_id
from benchwright.app.prepared_run import PreparedRun
from benchwright.endpoint.access import Access
from benchwright.engine.protocols import JudgingScorer
from benchwright.engine.run import RunListener, RunResult
from benchwright.records import Record, Sample, Target
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import read_table
from benchwright.scorers.judge import Judge
from benchwright.scorers.shared import has_target
from benchwright.text import Say

PADDING_TEXT = (
    "I read the question with care and went through it step by step before I wrote down this answer. " * 6
)
"""Text without content, 576 characters long, that is put before an answer to make it longer."""

AUTHORS_PROMPT_REASON = "the prompt is the benchmark's own, and its order is part of it"
NO_REFERENCE_REASON = "no sample has a reference to swap the answer with"


class JudgeWithAccess(NamedTuple):
    """A judge's target, and the access to it."""

    target: Target
    access: Access


class JudgeTestResult(Record, frozen=True):
    """Result of testing a judge.

    `check`: the findings; None if the judge did not give all verdicts. `session_result`: how the session ended.
    """

    check: JudgeCheck | None
    session_result: RunResult


class _Experiment(NamedTuple):
    """One experiment with a judge. `scorer`: asks the judge. `answer`: changes an answer before the judge sees it."""

    name: str
    scorer: JudgingScorer
    answer: Callable[[str], str] = str


async def check_judge(
    prepared: PreparedRun[Any],
    directory: Path,
    *,
    n: int,
    seed: int,
    repeats: int,
    second: JudgeWithAccess | None,
    progress: Callable[[str], Sequence[RunListener]],
    say: Say,
) -> JudgeTestResult:
    """Test a run's judge: let the judge score n random answers of the run again, under changed conditions.

    A `second` judge, if there is one, scores the same answers. `repeats`: how often each question is asked in the
    same form. `progress`: returns the listeners that display a judge's progress, given a title.

    Raises:
        UserError: If no judge has scored the run.
        RunLocked, JournalError: If `judge_session.ask_judge` raises it.
    """
    judges = judge_of_run(prepared)
    drawn = draw_judged_answers(read_table(directory), n, seed=seed)
    samples = samples_by_id(prepared, frozenset(one.sample for one in drawn))
    ways, left_out = _ways(judges, list(samples.values()), repeats)
    asked = [(judges.target, prepared.request.access["judge"], ways)]
    if second is not None:
        asked.append((second.target, second.access, [_Experiment("second judge", judges.scorer)]))
    else:
        left_out["second judge"] = "none was given (--second-judge)"
    manifest = read_manifest(directory)
    passing = score_scale_of(manifest, judges.scorer.name).pass_threshold
    experiments: list[JudgeExperiment] = []
    for target, access, each in asked:
        questions = [
            JudgeQuestion(way.scorer, samples[one.sample], way.answer(one.answer))
            for way in each
            for one in drawn
        ]
        told = progress(f"Asking {target.model} {len(questions):,} times")
        answered = await ask_judge(prepared.request, directory, target, access, questions, told, say)
        if not answered.session_result.is_finished:
            return JudgeTestResult(None, answered.session_result)
        experiments += _experiments(each, drawn, answered.verdicts, 1.0 if passing is None else passing)
    found = JudgeCheck(
        run=manifest.id,
        judge=judge_of(manifest, judges.scorer.name),
        answers=len(drawn),
        experiments=experiments,
        left_out=left_out,
        second=None if second is None else second.target.model,
    )
    return JudgeTestResult(found, answered.session_result)


def _ways(
    judges: RunJudge, samples: Sequence[Sample], repeats: int
) -> tuple[list[_Experiment], dict[str, str]]:
    """Return the experiments with the run's own judge, and a mapping from impossible experiments to reasons."""
    scorer = judges.scorer
    ways = [
        _Experiment("asked again" if repeats == 1 else f"asked again ({k})", scorer)
        for k in range(1, repeats + 1)
    ]
    left_out: dict[str, str] = {}
    if not isinstance(scorer, Judge):
        left_out["answer first"] = AUTHORS_PROMPT_REASON
    elif not any(map(has_target, samples)):
        left_out["answer first"] = NO_REFERENCE_REASON
    else:
        ways.append(_Experiment("answer first", scorer.with_swapped_order()))
    ways.append(_Experiment("longer answer", scorer, lambda answer: f"{PADDING_TEXT}\n\n{answer}"))
    return ways, left_out


def _experiments(
    ways: Sequence[_Experiment],
    drawn: Sequence[JudgedAnswer],
    verdicts: Sequence[float | None],
    threshold: float,
) -> Iterator[JudgeExperiment]:
    before = [one.verdict for one in drawn]
    for place, way in enumerate(ways):
        after = verdicts[place * len(drawn) : (place + 1) * len(drawn)]
        yield compare_verdicts(way.name, before, after, threshold)
