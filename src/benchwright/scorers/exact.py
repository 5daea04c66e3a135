"""Scorer `exact`: the whole answer must equal the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unicodedata import normalize

from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.scorers.shared import NO_ANSWER, right_texts, shorten, target_list_problem

VERSION = 2

_TRAILING = ".,;:!?。、"
_CLOSING = {'"': '"', "'": "'", "`": "`", "*": "*", "“": "”", "\u2018": "\u2019", "„": "“", "«": "»"}


class Exact:
    """Scorer: 1 if answer and target are the same text, else 0; `unparsed` if the answer is blank.

    Answer and target are normalised first, see `normalize_text`. With `strict`, only white space at either
    end is removed. If the target is a list, the answer must equal one of the texts in the list.
    """

    name = "exact"

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.fingerprint = fingerprint(self.name, VERSION, strict)

    def wrong_target(self, content: Mapping[str, Any]) -> str | None:
        """Return the reason if the target is an invalid list of right answers.

        Return None if the list is valid, or if the target is no list.
        """
        return target_list_problem(content)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the whole answer equals `ground_truth`, else 0."""
        answer, right = self._compared(outcome.answer), right_texts(sample)
        if not answer:
            return NO_ANSWER
        same = any(answer == self._compared(text) for text in right)
        return Score(1.0 if same else 0.0, span=shorten(outcome.answer.strip()))

    def _compared(self, text: str) -> str:
        return text.strip() if self.strict else normalize_text(text.strip())


def normalize_text(text: str) -> str:
    """Return the text without differences that do not change its meaning.

    1. Apply Unicode NFKC and case folding. Replace runs of white space by one blank; strip both ends.
    2. Remove `.,;:!?。、` from the end, and matching quotes, backticks and asterisks from both ends
       (`**Paris**.` becomes `paris`). Keep signs, brackets, `%`, `$`, `#` and a leading point, because they
       change the meaning: `-5`, `[0, 1)`, `5%`, `.5`. If nothing would remain, keep the text as it is.
    """
    text = text.casefold() if text.isascii() else _folded(text)
    text = " ".join(text.split())
    while True:
        bare = text.rstrip(_TRAILING)
        if len(bare) > 1 and _CLOSING.get(bare[0]) == bare[-1]:
            bare = bare[1:-1]
        bare = bare.strip()
        if not bare or bare == text:
            return text
        text = bare


def _folded(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())
