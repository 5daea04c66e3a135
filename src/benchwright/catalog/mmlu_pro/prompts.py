"""How MMLU-Pro's questions are put."""

from __future__ import annotations

from typing import Any

from benchwright.catalog.asking import user
from benchwright.catalog.letters import lettered
from benchwright.records import Message

INTRODUCTION = (
    "The following are multiple choice questions (with answers) about {category}. Think step by step and then "
    'finish your answer with "the answer is (X)" where X is the correct letter choice.'
)
"""The instruction of the official evaluation, word for word, so that scores are comparable."""

STEP_BY_STEP = "Let's think step by step."


def with_shots(content: dict[str, Any]) -> list[Message]:
    """The official prompt: instruction, worked questions, and the question to be gone on with."""
    shots = "".join(f"{_question(shot)}{_worked(shot['reasoning'])}\n\n" for shot in content["shots"])
    introduction = INTRODUCTION.replace("{category}", content["category"])
    return [user(f"{introduction}\n{shots}{_question(content)}Answer: {STEP_BY_STEP}")]


def _question(content: dict[str, Any]) -> str:
    options = "\n".join(lettered(content["choices"]))
    return f"Question:\n{content['question']}\nOptions:\n{options}\n"


def _worked(reasoning: str) -> str:
    return reasoning.replace(f"A: {STEP_BY_STEP}", f"Answer: {STEP_BY_STEP}")
