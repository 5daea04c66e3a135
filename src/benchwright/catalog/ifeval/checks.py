"""Checks of instruction graders: answers that follow all instructions, and answers that break an instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.ifeval.answer_building import ENGLISH_FILLER, FILLER_BY_LANGUAGE, build_answer
from benchwright.catalog.ifeval.grading import Instruction
from benchwright.catalog.ifeval.rules import FollowsInstruction
from benchwright.records import Sample

CONTRADICTORY_REASON = "no answer was found that follows all instructions at once"

_OFTEN = 500
"""Number of repetitions of a text. It exceeds the largest number of words required in any row."""


AnswerBuilder = Callable[[FollowsInstruction, Sequence[Instruction]], tuple[str, bool]]
"""A function that builds an answer: (rules, instructions) -> (answer, True if it follows all instructions)."""


def checks(
    follows: FollowsInstruction, find: AnswerBuilder = build_answer
) -> Callable[[Sample], Iterator[Check]]:
    """Return a function that yields a sample's checks: a gold answer, and answers that must not pass.

    The answers that must not pass are an empty one, and for each instruction one that breaks it.
    """

    def of_sample(sample: Sample) -> Iterator[Check]:
        instructions = sample.content["instructions"]
        gold, all_followed = find(follows, instructions)
        yield Check(GOLD, [assistant(gold)], reason=None if all_followed else CONTRADICTORY_REASON)
        for number, one in enumerate(instructions):
            broken = find_breaking_answer(follows, one, gold)
            if broken is not None:
                yield Check(f"breaks {number} {one['id']}", [assistant(broken)], passes=False)
        yield Check("empty", [assistant("")], passes=False)

    return of_sample


def find_breaking_answer(follows: FollowsInstruction, instruction: Instruction, gold: str) -> str | None:
    """Return an answer that breaks an instruction but resembles the gold answer. Return None if none was found."""
    for answer in _spoilt(instruction["arguments"], gold):
        if not follows(answer, instruction["id"], instruction["arguments"]):
            return answer
    return None


def _spoilt(arguments: dict[str, Any], gold: str) -> Iterator[str]:
    """Yield texts that may break the instruction: altered gold answers first, then unrelated texts."""
    texts = [text for value in arguments.values() for text in _texts(value)]
    yield f"{gold},"
    yield f"So {gold} so."
    yield f"{gold} {' '.join(texts)}"
    yield f"{gold}\n* so\n- so\n***\nso"
    yield gold.swapcase()
    for text in texts:
        yield gold.lower().replace(text.lower(), "")
    yield gold + " ".join([*texts, "SO. "]) * _OFTEN
    yield ENGLISH_FILLER[0]
    yield FILLER_BY_LANGUAGE["de"]
    yield 'so ""'


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, list) else []
