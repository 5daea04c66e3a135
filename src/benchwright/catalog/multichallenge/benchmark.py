"""Assembly of MultiChallenge from its rows and judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.breakdowns import macro_average
from benchwright.catalog.judge_departures import judge_departures
from benchwright.catalog.multichallenge.grading import OFFICIAL_JUDGE, JudgeScorer
from benchwright.catalog.multichallenge.rows import samples
from benchwright.records import Sample

NO_JUDGE_DEPARTURE = "no judge (--judge-model): the model judges its own answers"


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    separate = "judge" in options.roles
    judge = options.text("judge_model") if separate else ""
    return PlainBenchmark(
        about=about,
        samples=samples,
        solver=AskOnce(lambda content: list(content["conversation"])),
        scorers=(JudgeScorer(about.metric, judge, "judge" if separate else None),),
        checks=_checks,
        figures=figures,
        departures=judge_departures(options, OFFICIAL_JUDGE, NO_JUDGE_DEPARTURE),
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the published score: the unweighted mean of the scores of the axes.

    An axis is a category of conversations.
    """
    return [macro_average(graded, "axis")]


def _checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["passes"]
    wrong = {"YES": "NO", "NO": "YES"}[right]
    answer = f"This is meant to meet the criterion of {sample.id}."
    yield Check(GOLD, [assistant(answer)], judge_replies=[f"It does.\n\n{right}"])
    yield Check(
        "misses it",
        [assistant(f"Not so: {answer}")],
        passes=False,
        judge_replies=[f"{right}? Rather {wrong}"],
    )
    judged = f'{{"reasoning": "It says {right}.", "verdict": "{wrong}"}}'
    yield Check(
        "an answer that judges itself", [assistant(f"Verdict: {right}")], passes=False, judge_replies=[judged]
    )
    yield Check("empty", [assistant("")], passes=False)
