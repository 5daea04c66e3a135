"""Assembly of MMLU, with one variant per kind of prompt."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from benchwright.catalog import simple_evals
from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.breakdowns import macro_average
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.mmlu import rows
from benchwright.catalog.mmlu.grading import grade_documented, grade_next, grade_stated
from benchwright.catalog.mmlu.solver import NextLetterSolver, step_by_step_prompt
from benchwright.catalog.multiple_choice import letter_only_prompt, make_letter_checks
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    if about.variant == "5shot":
        return FiveShotMmlu(about)
    if about.variant == "documented":
        return PlainBenchmark(
            about=about,
            samples=rows.samples,
            solver=AskOnce(letter_only_prompt),
            scorers=(GradeScorer(about.metric, "1", grade_documented),),
            checks=make_letter_checks(str),
            figures=figures,
        )
    opening = simple_evals.opening_messages(options)
    return PlainBenchmark(
        about=about,
        samples=rows.samples,
        solver=AskOnce(lambda content: [*opening, *step_by_step_prompt(content)]),
        scorers=(GradeScorer(about.metric, "2", grade_stated),),
        checks=make_letter_checks("Let me think.\n\nAnswer: {}".format),
        figures=figures,
        departures=simple_evals.system_message_departures(options),
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the mean of the subjects' accuracies. The score itself is the mean over questions."""
    return [macro_average(graded, "subject")]


class FiveShotMmlu(msgspec.Struct, frozen=True):
    """MMLU for base models: five solved questions precede each question.

    The answer is the most probable letter after the question.
    """

    about: About
    departures: Sequence[str] = ()
    scorers: Sequence[Scorer] = (GradeScorer("accuracy", "1", grade_next),)

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield the questions. Each comes with the solved questions (shots) of its subject."""
        return rows.samples_with_shots(source)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver. It needs no server or sandbox to be started."""
        yield NextLetterSolver()

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield checks of the grader, whose responses are log-probabilities.

        In them, the most probable token is the right letter, a wrong letter, or no letter.
        """
        right = sample.content["answer"]
        wrong = "ABCD"[("ABCD".index(right) + 1) % 4]
        yield Check(GOLD, [_likely({f" {right}": -0.1, f" {wrong}": -3.0, " the": -0.05})])
        yield Check("another letter", [_likely({f" {right}": -3.0, wrong: -0.1})], passes=False)
        yield Check("no letter", [_likely({" the": -0.1})], passes=False)

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return the mean of the subjects' accuracies."""
        return figures(graded)


def _likely(tokens: dict[str, float]) -> dict[str, Any]:
    return assistant(max(tokens, key=tokens.__getitem__)) | {"logprobs": {"top_logprobs": [tokens]}}
