"""IFEval put together."""

from __future__ import annotations

from typing import Any

from benchwright.catalog.asking import AskOnce, PlainBenchmark, user
from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.ifeval import rows
from benchwright.catalog.ifeval.checks import checks
from benchwright.catalog.ifeval.grading import RULES, figures, follows_documented, grade, grade_documented
from benchwright.catalog.ifeval.rules import Follows
from benchwright.catalog.ifeval.sentences import splitter_name
from benchwright.engine.protocols import Scorer
from benchwright.records import Message


def make(about: About, options: Options) -> Benchmark:
    """The variant that `about` describes."""
    if about.variant == "documented":
        return _benchmark(
            about,
            GradeScorer(about.metric, "1", grade_documented, offloaded=("instructions",)),
            follows_documented,
        )
    scorer = GradeScorer(about.metric, f"1-{splitter_name()}", grade, offloaded=("instructions",))
    return _benchmark(about, scorer, RULES.follows)


def _benchmark(about: About, scorer: Scorer, follows: Follows) -> Benchmark:
    return PlainBenchmark(
        about=about,
        samples=rows.samples,
        solver=AskOnce(messages),
        scorers=(scorer,),
        checks=checks(follows),
        figures=figures,
    )


def messages(content: dict[str, Any]) -> list[Message]:
    """The prompt as it stands in the dataset."""
    return [user(content["prompt"])]
