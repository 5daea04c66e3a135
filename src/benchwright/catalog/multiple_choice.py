"""Parts that multiple-choice benchmarks share: lettered choices, prompts, grading and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import assistant, system, user
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.grading import Verdict
from benchwright.records import Message, Sample

CHOICE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

DOCUMENTED_SYSTEM_PROMPT = (
    "You are a knowledgeable assistant. "
    "Answer multiple-choice questions with only the letter of the correct answer."
)


def format_choices(choices: Sequence[str], mark: str = "{letter}. {choice}") -> list[str]:
    """Return one line per choice, each with its letter.

    `mark`: the format of a line, with the placeholders {letter} and {choice}.
    """
    return [
        mark.format(letter=letter, choice=choice)
        for letter, choice in zip(CHOICE_LETTERS, choices, strict=False)
    ]


def question_text(content: dict[str, Any]) -> str:
    """Return a sample's question and its lettered choices as text for people."""
    return "\n".join([content["question"], "", *format_choices(content["choices"])])


def letter_only_prompt(content: dict[str, Any]) -> list[Message]:
    """Build the prompt that llm-benchmarker documents for MMLU and MMLU-Pro.

    It asks for the letter and nothing else.
    """
    choices = "\n".join(format_choices(content["choices"]))
    return [
        system(DOCUMENTED_SYSTEM_PROMPT),
        user(f"{content['question']}\n\n{choices}\n\nAnswer with the letter only."),
    ]


def letter_verdict(letter: str | None, content: dict[str, Any], **details: Any) -> Verdict:
    """Grade the chosen letter against the right letter. The score is None if no letter was found."""
    expected = content["answer"]
    return Verdict(None if letter is None else float(letter == expected), letter, expected, details=details)


def make_letter_checks(write: Callable[[str], str]) -> Callable[[Sample], Iterator[Check]]:
    """Return a function that yields the checks of a multiple-choice sample.

    The checks are the right letter (must pass), each wrong letter, and an answer without a letter. The
    sample's content must have `choices` and `answer`. `write` turns a letter into an answer in the protocol's
    form.
    """

    def checks(sample: Sample) -> Iterator[Check]:
        right = sample.content["answer"]
        yield Check(GOLD, [assistant(write(right))])
        for letter in CHOICE_LETTERS[: len(sample.content["choices"])]:
            if letter != right:
                yield Check(f"letter {letter}", [assistant(write(letter))], passes=False)
        yield Check("no letter", [assistant("hard to say")], passes=False)
        yield Check("empty", [assistant("")], passes=False)

    return checks
