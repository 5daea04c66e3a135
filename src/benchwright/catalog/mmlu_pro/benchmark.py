"""Assembly of MMLU-Pro: the prompt, checks and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant, user
from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.breakdowns import macro_average, mean
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.mmlu_pro import rows
from benchwright.catalog.mmlu_pro.grading import count_lucky_guesses, grade_documented, grade_reasoning
from benchwright.catalog.multiple_choice import (
    CHOICE_LETTERS,
    format_choices,
    letter_only_prompt,
    make_letter_checks,
)
from benchwright.data.datasets import Source
from benchwright.records import Message, Sample

PROMPT_INTRODUCTION = (
    "The following are multiple choice questions (with answers) about {category}. Think step by step and then "
    'finish your answer with "the answer is (X)" where X is the correct letter choice.'
)
"""The instruction of the official evaluation, word for word, so that scores are comparable."""

STEP_BY_STEP_INSTRUCTION = "Let's think step by step."


def five_shot_prompt(content: dict[str, Any]) -> list[Message]:
    """Return the official prompt: the instruction, the solved questions, and the question that is to be answered."""
    shots = "".join(f"{_question(shot)}{_worked(shot['reasoning'])}\n\n" for shot in content["shots"])
    introduction = PROMPT_INTRODUCTION.replace("{category}", content["category"])
    return [user(f"{introduction}\n\n\n\n{shots}{_question(content)}Answer: {STEP_BY_STEP_INSTRUCTION}")]


def _question(content: dict[str, Any]) -> str:
    options = "\n".join(format_choices(content["choices"]))
    return f"Question:\n{content['question']}\nOptions:\n{options}\n"


def _worked(reasoning: str) -> str:
    return reasoning.replace(f"A: {STEP_BY_STEP_INSTRUCTION}", f"Answer: {STEP_BY_STEP_INSTRUCTION}")


NO_SHOTS_DEPARTURE = "zero-shot: the data has no validation split to take the five shots from"


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    if about.variant == "documented":
        return PlainBenchmark(
            about=about,
            samples=rows.samples,
            solver=AskOnce(letter_only_prompt),
            scorers=(GradeScorer(about.metric, "1", grade_documented),),
            checks=make_letter_checks(str),
            figures=_macro,
        )
    departures: list[str] = []

    def read(source: Source) -> Iterator[Sample]:
        """Yield the samples.

        If the data contains no solved questions (shots), record this departure from the protocol.
        """
        departures[:] = [] if rows.has_shots(source) else [NO_SHOTS_DEPARTURE]
        return rows.samples_with_shots(source)

    return PlainBenchmark(
        about=about,
        samples=read,
        solver=AskOnce(five_shot_prompt),
        scorers=(GradeScorer(about.metric, "2", grade_reasoning),),
        checks=_reasoning_checks,
        figures=figures,
        departures=departures,
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the mean of the categories' accuracies, and figures that other evaluations publish.

    `accuracy_random_guess` replaces missing letters by the official random guesses. `accuracy_first_stage`
    accepts only "answer is (X)", as lm-evaluation-harness does with the same prompt.
    """
    kept = list(graded)
    right = sum(one.value or 0.0 for one in kept) + count_lucky_guesses(kept)
    first = [one.value or 0.0 if one.detail.get("stage") == 1 else 0.0 for one in kept]
    return [
        *_macro(kept),
        Figure("accuracy_random_guess", right / len(kept) if kept else None),
        Figure("accuracy_first_stage", mean(first)),
    ]


def _macro(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    return [macro_average(graded, "category")]


def _reasoning_checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield from make_letter_checks("Adding it up, the answer is ({}).".format)(sample)
    letters = CHOICE_LETTERS[: len(sample.content["choices"])]
    if other := next((letter for letter in letters if letter != right), None):
        yield Check("a later word", [assistant(f"The answer is ({other}). Not {right}!")], passes=False)
