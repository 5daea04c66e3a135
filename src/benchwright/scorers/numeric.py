"""Scorer `numeric`: the answer's number must equal the target's, within a tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import Outcome, Sample, Status
from benchwright.runs.keys import fingerprint
from benchwright.scorers.numbers.final_number import read_number_of_answer, read_number_of_gold_answer
from benchwright.scorers.numbers.quantity import NOTHING_READ_KIND, NumberReading, Quantity, Tolerance
from benchwright.scorers.shared import (
    NO_ANSWER,
    last_characters,
    right_answers,
    right_texts,
    shorten,
    target_as_text,
)

VERSION = 2


class Numeric:
    """Scorer: 1 if the answer's number equals the target's, else 0; `unparsed` if it has no single number.

    docs/scorers.md states how numbers are found, read and compared. Two whole numbers must be exactly equal.
    Other numbers may differ by a billionth. `relative` (a share of the larger number) and `absolute` allow
    larger differences. If the target is a list, the answer must equal one of its numbers.
    """

    name = "numeric"

    def __init__(self, *, relative: float | None = None, absolute: float = 0.0) -> None:
        self._tolerance = Tolerance(
            None if relative is None else Fraction(str(relative)), Fraction(str(absolute))
        )
        self.fingerprint = fingerprint(self.name, VERSION, relative, absolute)

    def wrong_target(self, content: Mapping[str, Any]) -> str | None:
        """Return the reason if the target is not one number. Return None if it is one number."""
        try:
            answers = right_answers(content.get("ground_truth"))
        except ValueError as error:
            return str(error)
        return next((wrong for one in answers if (wrong := _not_one_number(one))), None)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the answer's number equals the number in `ground_truth`, else 0.

        Raises:
            GraderError: If the sample has no target, or its target is not one number.
        """
        right = [quantity for text in right_texts(sample) for quantity in _right_quantities(sample, text)]
        reading = read_number_of_answer(last_characters(outcome.answer))
        if reading is None:
            return NO_ANSWER
        if not reading.quantities:
            return Score(None, Status.UNPARSED, shorten(reading.span), explanation=_why_unparsed(reading))
        same = any(self._tolerance.allows(given, one) for given in reading.quantities for one in right)
        return Score(1.0 if same else 0.0, span=shorten(reading.span))


def _not_one_number(target: Any) -> str | None:
    if isinstance(target, bool):
        return f"the gold answer {target_as_text(target)} is not a number"
    reading = read_number_of_gold_answer(target_as_text(target))
    if reading.quantities:
        return None
    kind = "has no number" if reading.kind == NOTHING_READ_KIND else f"is {reading.kind}, not one number"
    return f"the gold answer {target_as_text(target)!r:.80} {kind}"


def _why_unparsed(reading: NumberReading) -> str:
    if reading.kind == NOTHING_READ_KIND:
        return "the answer says that there is no number"
    return f"the answer comes to {reading.kind}, not to one number"


def _right_quantities(sample: Sample, text: str) -> tuple[Quantity, ...]:
    quantities = read_number_of_gold_answer(text).quantities
    if not quantities:
        raise GraderError(f"sample {sample.id}: {_not_one_number(text)}")
    return quantities
