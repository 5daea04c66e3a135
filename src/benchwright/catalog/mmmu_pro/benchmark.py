"""Assembly of MMMU-Pro: the prompts, checks and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant, system
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.mmmu_pro import rows
from benchwright.catalog.mmmu_pro.grading import expected_right_guesses, grade
from benchwright.catalog.multiple_choice import CHOICE_LETTERS, format_choices
from benchwright.endpoint.dialects.conversation import image_part, text_part
from benchwright.records import Message, Sample

SYSTEM_PROMPT = "You are ChatGPT, a large language model trained by OpenAI, based on the GPT-4 architecture."
"""The system message of the authors' script for chat completions (mmmu-pro/infer/infer_gpt.py)."""

_LAST_LINE = (
    "The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) where LETTER "
    "is one of options."
)
_LETTER_ALONE = "Answer with the option letter from the given choices directly."

STANDARD_INSTRUCTIONS = {
    "cot": f"Answer the preceding multiple choice question. {_LAST_LINE} Think step by step before answering.",
    "direct": _LETTER_ALONE,
}
VISION_INSTRUCTIONS = {
    "cot": "Write out the multiple-choice question in the image and then solve it. "
    f"{_LAST_LINE} Think step by step before answering.",
    "direct": f"{_LETTER_ALONE} {_LAST_LINE}",
}
"""`STANDARD_INSTRUCTIONS`: instructions for questions with separate images, keyed by the option `prompt`.

`VISION_INSTRUCTIONS`: instructions for questions that are a single image, keyed in the same way. All are the
authors', word for word (mmmu-pro/prompts.yaml), so that scores are comparable.
"""


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    prompt = options.choice("prompt", ("cot", "direct"))
    with_system = options.choice("system_message", ("yes", "no")) == "yes"
    opening = [system(SYSTEM_PROMPT)] if with_system else []
    vision = about.variant == "vision"
    ask = (
        partial(_in_the_picture, opening, VISION_INSTRUCTIONS[prompt])
        if vision
        else partial(_with_pictures, opening, STANDARD_INSTRUCTIONS[prompt])
    )
    return PlainBenchmark(
        about=about,
        samples=rows.vision_samples if vision else rows.samples,
        solver=AskOnce(ask),
        scorers=(GradeScorer(about.metric, "1", grade),),
        checks=checks,
        figures=figures,
        departures=() if with_system else ("no system message",),
    )


def _with_pictures(opening: list[Message], instruction: str, content: dict[str, Any]) -> list[Message]:
    """Return the prompt: the text without its image numbers, then the images in the order of their mentions.

    An image that is mentioned several times is sent several times.
    """
    text = "\n".join([content["question"], *format_choices(content["choices"]), instruction])
    return [*opening, _asking(rows.IMAGE_MENTION_PATTERN.sub("<image>", text), content)]


def _in_the_picture(opening: list[Message], instruction: str, content: dict[str, Any]) -> list[Message]:
    return [*opening, _asking(instruction, content)]


def _asking(text: str, content: dict[str, Any]) -> Message:
    return {"role": "user", "content": [text_part(text), *map(image_part, content["images"])]}


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the accuracy to be expected if each missing letter is replaced by a random guess, as the authors do."""
    kept = list(graded)
    right = sum(one.value or 0.0 for one in kept) + expected_right_guesses(kept)
    return [Figure("accuracy_random_guess", right / len(kept) if kept else None, "on average over guesses")]


NO_RIGHT_OPTION_REASON = "the data's answer is none of its options"


def checks(sample: Sample) -> Iterator[Check]:
    """Yield answers that check the grader: the right letter, each wrong letter, and answers without a letter."""
    right, letters = sample.content["answer"], CHOICE_LETTERS[: len(sample.content["choices"])]
    reason = None if right in letters else NO_RIGHT_OPTION_REASON
    yield Check(GOLD, [assistant(f"Let me think.\nAnswer: {right}")], reason=reason)
    for letter in letters:
        if letter != right:
            yield Check(f"letter {letter}", [assistant(f"Let me think.\nAnswer: {letter}")], passes=False)
    yield Check("no letter", [assistant("hard to say")], passes=False)
    yield Check("empty", [assistant("")], passes=False)
