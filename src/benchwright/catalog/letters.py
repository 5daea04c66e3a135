"""Letters of multiple choice, and what benchmarks with them have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import assistant, system, user
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.grading import Verdict
from benchwright.records import Message, Sample

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

DOCUMENTED_SYSTEM = (
    "You are a knowledgeable assistant. "
    "Answer multiple-choice questions with only the letter of the correct answer."
)


def lettered(choices: Sequence[str], mark: str = "{letter}. {choice}") -> list[str]:
    """The choices as lines, each with its letter."""
    return [
        mark.format(letter=letter, choice=choice) for letter, choice in zip(LETTERS, choices, strict=False)
    ]


def question(content: dict[str, Any]) -> str:
    """A sample's own question with its lettered choices, as a person reads it."""
    return "\n".join([content["question"], "", *lettered(content["choices"])])


def letter_only(content: dict[str, Any]) -> list[Message]:
    """The prompt that is documented for MMLU and MMLU-Pro: the letter and nothing else."""
    choices = "\n".join(lettered(content["choices"]))
    return [
        system(DOCUMENTED_SYSTEM),
        user(f"{content['question']}\n\n{choices}\n\nAnswer with the letter only."),
    ]


def letter_verdict(letter: str | None, content: dict[str, Any], **details: Any) -> Verdict:
    """Whether a letter is the right one; None has no score."""
    expected = content["answer"]
    return Verdict(None if letter is None else float(letter == expected), letter, expected, details=details)


def letter_checks(write: Callable[[str], str]) -> Callable[[Sample], Iterator[Check]]:
    """Checks of a sample with `choices` and `answer`: the right letter, each wrong one, and no letter.

    `write` puts a letter into an answer as the protocol wants it.
    """

    def checks(sample: Sample) -> Iterator[Check]:
        right = sample.content["answer"]
        yield Check(GOLD, [assistant(write(right))])
        for letter in LETTERS[: len(sample.content["choices"])]:
            if letter != right:
                yield Check(f"letter {letter}", [assistant(write(letter))], passes=False)
        yield Check("no letter", [assistant("hard to say")], passes=False)
        yield Check("empty", [assistant("")], passes=False)

    return checks
