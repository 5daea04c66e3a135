"""Grading of GPQA's answers by their letter.

The right letter of a trial depends on the order in which its options are shown.
"""

from __future__ import annotations

import re

import msgspec

from benchwright.catalog.grading import NOTES_ARTIFACT, Verdict, last_match, verdict_score
from benchwright.catalog.multiple_choice import letter_verdict
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

_STATED = re.compile(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?")
_MARKUP = re.compile(r"\\(?:boxed|text|mathrm|mathbf|textbf)|[*_$\\(){}\[\]]")
_STATED_SOMEHOW = re.compile(r"\b[Aa](?:nswer|NSWER)\s*(?:is|:)\s*:?\s*([A-D])\b")


def stated_letter(answer: str) -> str | None:
    """Return the letter that simple-evals reads from an answer: the first letter after "Answer:".

    The pattern is ANSWER_PATTERN_MULTICHOICE of simple-evals' common.py. Matching ignores case, but the
    letter is kept as written, so that a lower-case letter is never right.
    """
    found = _STATED.search(answer)
    return found and found[1]


def lenient_letter(answer: str) -> str | None:
    """Return the last upper-case letter after "answer:" or "answer is", ignoring brackets and markup."""
    found = last_match(_STATED_SOMEHOW, _MARKUP.sub("", answer))
    return found and found[1]


class OrderedLetterScorer:
    """Scorer that compares the stated letter with the right letter of the trial.

    The solver recorded the right letter in the outcome, because it depends on the trial's order of options.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("gpqa letter", 1)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the stated letter is the right letter, else 0.

        `lenient` in the details: True if the letter that `lenient_letter` finds is right.
        """
        notes = outcome.artifacts[NOTES_ARTIFACT]
        right = notes["right"]
        lenient = lenient_letter(outcome.answer) == right
        verdict: Verdict = letter_verdict(stated_letter(outcome.answer), {"answer": right}, lenient=lenient)
        return verdict_score(msgspec.structs.replace(verdict, details={**verdict.details, **notes}))
