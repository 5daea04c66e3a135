"""Scorer `mcq`: the answer's option letter must equal the target's letter. docs/scorers.md states the rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.scorers.option_letters import find_option_letter
from benchwright.scorers.shared import NO_ANSWER, right_answers, shorten, target_of

VERSION = 2

_OPTION_LINE = re.compile(r"(?:^|[\s(])\(?([A-Z])[.):]\s?\S")


class MultipleChoice:
    """Scorer: 1 if the letter found in the answer is the target's, else 0; `unparsed` if none is found.

    The target is `ground_truth`: a letter, or an index from 0. The number of letters is the length of the
    row's list `options`; for rows without `options`, it is the scorer's option `letters`. The score's
    `detail` contains the letter found.
    """

    name = "mcq"

    def __init__(self, *, letters: int = 10) -> None:
        self.letters = letters
        self.fingerprint = fingerprint(self.name, VERSION, letters)

    def wrong_target(self, content: Mapping[str, Any]) -> str | None:
        """Return the reason if the target is not one of the row's letters. Return None if it is one of them."""
        letters = self._letters(content)
        return None if _letter_of(content.get("ground_truth"), letters) else _no_letter(content, letters)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the answer settles on the letter in `ground_truth`, else 0.

        Raises:
            GraderError: If the sample has no target, or its target is not a letter of its options.
        """
        content = sample.content if isinstance(sample.content, Mapping) else {}
        letters = self._letters(content)
        target = _letter_of(target_of(sample), letters)
        if target is None:
            raise GraderError(f"sample {sample.id}: {_no_letter(content, letters)}")
        found = find_option_letter(outcome.answer, letters, _options(content) or ())
        if found is None:
            return NO_ANSWER
        letter, span = found
        return Score(1.0 if letter == target else 0.0, span=shorten(span), detail={"letter": letter})

    def _letters(self, content: Mapping[str, Any]) -> str:
        options = _options(content)
        return ascii_uppercase[: self.letters if options is None else len(options)]


def offers_options(content: Mapping[str, Any]) -> bool:
    """Return True if a row has options: a list `options`, or lines labelled `A.` and `B.` in its prompt."""
    if _options(content) is not None:
        return True
    labels = set(_OPTION_LINE.findall(str(content.get("user_prompt", ""))))
    return {"A", "B"} <= labels


def _options(content: Mapping[str, Any]) -> list[str] | None:
    options = content.get("options")
    return [str(option) for option in options] if isinstance(options, list) else None


def _letter_of(target: Any, letters: str) -> str | None:
    if type(target) is int and 0 <= target < len(letters):
        return letters[target]
    letter = target.strip().upper() if isinstance(target, str) else ""
    return letter if len(letter) == 1 and letter in letters else None


def _no_letter(content: Mapping[str, Any], letters: str) -> str:
    target = content.get("ground_truth")
    listed = isinstance(target, list) or (isinstance(target, str) and len(right_answers(target)) > 1)
    hint = "; of several letters it cannot tell whether any or all are meant" if listed else ""
    return f"ground_truth {target!r:.50} is none of the letters A to {letters[-1:]}{hint}"
