"""How GPQA's answers are graded: by the letter that they state, in the order that was shown."""

from __future__ import annotations

import re

import msgspec

from benchwright.catalog.grading import NOTES, Verdict, last_match, verdict_score
from benchwright.catalog.letters import letter_verdict
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

_STATED = re.compile(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?")
_MARKUP = re.compile(r"\\(?:boxed|text|mathrm|mathbf|textbf)|[*_$\\(){}\[\]]")
_STATED_SOMEHOW = re.compile(r"\b[Aa](?:nswer|NSWER)\s*(?:is|:)\s*:?\s*([A-D])\b")


def stated_letter(answer: str) -> str | None:
    """The letter that simple-evals reads (common.py, ANSWER_PATTERN_MULTICHOICE): the first one behind "Answer:".

    Case does not matter to the match, but the letter stays as it is written, and a lower-case one is never right.
    """
    found = _STATED.search(answer)
    return found and found[1]


def lenient_letter(answer: str) -> str | None:
    """The last upper-case letter behind "answer:" or "answer is", whatever brackets and markup surround it."""
    found = last_match(_STATED_SOMEHOW, _MARKUP.sub("", answer))
    return found and found[1]


class OrderedLetterScorer:
    """Compares the stated letter with that of the right choice in the order that the solver noted."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("gpqa letter", 1)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """1 where the letters are equal; `lenient` in the details is what a more lenient reading says."""
        notes = outcome.artifacts[NOTES]
        right = notes["right"]
        lenient = lenient_letter(outcome.answer) == right
        verdict: Verdict = letter_verdict(stated_letter(outcome.answer), {"answer": right}, lenient=lenient)
        return verdict_score(msgspec.structs.replace(verdict, details={**verdict.details, **notes}))
