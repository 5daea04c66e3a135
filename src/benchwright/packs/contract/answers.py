"""Reads a pack's file of canned answers: responses that a model might give, each with its expected score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS, Record

ANSWERS_FILE = "answers.jsonl"


class CannedAnswer(Record, frozen=True, forbid_unknown_fields=True):
    """A model's answer to a scenario, with the `status` and `score` that are expected for it (None: any value).

    `answer`: a text, a message with content or tool_calls, or a list of texts and messages. From a list, each
    request gets the next item. After the last item, each further request gets the last item again.
    """

    scenario: str
    answer: str | dict[str, Any] | list[str | dict[str, Any]]
    status: Literal["pass", "partial", "fail"] | None = None
    score: float | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The model's messages of this answer, one per turn."""
        turns = self.answer if isinstance(self.answer, list) else [self.answer]
        return [
            {"role": "assistant", **({"content": turn} if isinstance(turn, str) else turn)} for turn in turns
        ]


def read_answers(path: Path, scenarios: Sequence[str]) -> list[CannedAnswer]:
    """Read the answers from a JSON Lines file.

    Raises:
        UserError: If the file cannot be read, or a line is not an answer to one of the pack's `scenarios`.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from None
    answers = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            answer = msgspec.json.decode(line, type=CannedAnswer)
        except DECODE_ERRORS as error:
            raise UserError(f"{path}, line {number}, is not a canned answer: {error}.") from None
        if answer.scenario not in scenarios:
            raise UserError(f"{path}, line {number}: the pack has no scenario {answer.scenario!r}.")
        if answer.answer == []:
            raise UserError(f"{path}, line {number}: the list of answers is empty.")
        answers.append(answer)
    return answers
