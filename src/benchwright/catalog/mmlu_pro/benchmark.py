"""MMLU-Pro put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, Graded, Options
from benchwright.catalog.breakdowns import macro_average
from benchwright.catalog.grading import GradeScorer, Verdict
from benchwright.catalog.letters import LETTERS, letter_only
from benchwright.catalog.mmlu_pro import rows
from benchwright.catalog.mmlu_pro.grading import grade_reasoning, letter_verdict
from benchwright.catalog.mmlu_pro.prompts import with_shots
from benchwright.data.datasets import Source
from benchwright.records import FAILED, Sample

NO_SHOTS = (
    "zero-shot: the data has no validation split to take the five shots from, so scores are not comparable"
)


def make(about: About, options: Options) -> Benchmark:
    """The variant that `about` describes."""
    if about.variant == "documented":
        return PlainBenchmark(
            about=about,
            samples=rows.samples,
            solver=AskOnce(letter_only),
            scorers=(GradeScorer(about.metric, "1", grade_documented),),
            checks=_letter_checks,
            figures=_macro,
        )
    departures: list[str] = []

    def read(source: Source) -> Iterator[Sample]:
        """The samples; notes it where there are no shots."""
        departures[:] = [] if rows.has_shots(source) else [NO_SHOTS]
        return rows.samples_with_shots(source)

    return PlainBenchmark(
        about=about,
        samples=read,
        solver=AskOnce(with_shots, {"stop": ["Question:"]}),
        scorers=(GradeScorer(about.metric, "1", grade_reasoning),),
        checks=_reasoning_checks,
        figures=figures,
        departures=departures,
    )


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """The documented cascade of letter patterns."""
    from benchwright.catalog.documented.evaluators.mcq import extract_mcq_answer

    return letter_verdict(extract_mcq_answer(answer, num_options=10), content)


def figures(graded: Iterable[Graded]) -> Sequence[Figure]:
    """The mean over categories, and the numbers that other evaluations of MMLU-Pro publish.

    `accuracy_random_guess` counts answers without a letter by the official guess; `accuracy_first_stage`
    takes "answer is (X)" alone, as lm-evaluation-harness does with the same prompt.
    """
    kept = list(graded)
    guessed = [(one.value or 0.0) + _guessed_right(one) for one in kept]
    first = [one.value or 0.0 if one.detail.get("stage") == 1 else 0.0 for one in kept]
    return [
        *_macro(kept),
        Figure("accuracy_random_guess", _mean(guessed)),
        Figure("accuracy_first_stage", _mean(first)),
    ]


def _macro(graded: Iterable[Graded]) -> Sequence[Figure]:
    return [macro_average(graded, "category")]


def _guessed_right(one: Graded) -> float:
    return float(one.status not in FAILED and bool(one.detail.get("guess_is_right")))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _reasoning_checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield from _letter_checks(sample, "Adding it up, the answer is ({}).")
    if other := _other_letter(sample):
        yield Check("a later word", [assistant(f"The answer is ({other}). Not {right}!")], passes=False)


def _letter_checks(sample: Sample, write: str = "{}") -> Iterator[Check]:
    right = sample.content["answer"]
    yield Check(GOLD, [assistant(write.format(right))])
    for letter in LETTERS[: len(sample.content["choices"])]:
        if letter != right:
            yield Check(f"letter {letter}", [assistant(write.format(letter))], passes=False)
    yield Check("no letter", [assistant("hard to say")], passes=False)
    yield Check("empty", [assistant("")], passes=False)


def _other_letter(sample: Sample) -> str | None:
    letters = LETTERS[: len(sample.content["choices"])]
    return next((letter for letter in letters if letter != sample.content["answer"]), None)
