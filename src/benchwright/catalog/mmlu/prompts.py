"""How MMLU's questions are put."""

from __future__ import annotations

from typing import Any

from benchwright.catalog.asking import user
from benchwright.catalog.letters import lettered
from benchwright.records import Message

STEP_BY_STEP = (
    "Answer the following multiple choice question. The last line of your response should be of the following "
    "format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering."
)
"""The instruction of simple-evals, word for word, so that scores are comparable."""


def step_by_step(content: dict[str, Any]) -> list[Message]:
    """The prompt of simple-evals."""
    choices = "\n".join(lettered(content["choices"], "{letter}) {choice}"))
    return [user(f"{STEP_BY_STEP}\n\n{content['question']}\n\n{choices}")]


def with_shots(content: dict[str, Any]) -> str:
    """The text of the original five-shot evaluation, to be continued by a letter."""
    subject = content["subject"].replace("_", " ")
    header = f"The following are multiple choice questions (with answers) about {subject}.\n\n"
    shots = "".join(f"{_question(shot)} {shot['answer']}\n\n" for shot in content["shots"])
    return f"{header}{shots}{_question(content)}"


def _question(content: dict[str, Any]) -> str:
    return "\n".join([content["question"], *lettered(content["choices"]), "Answer:"])
