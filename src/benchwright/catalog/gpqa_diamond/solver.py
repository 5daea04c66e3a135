"""Solver of GPQA's questions. It shows the options in a different order in each repeat."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.catalog.asking import outcome_with_notes
from benchwright.catalog.gpqa_diamond.rows import choice_order, right_letter, shown_choices
from benchwright.catalog.simple_evals import multiple_choice_message
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Trial


class OrderedChoicesSolver:
    """Solver that sends a question with its options in the order of the trial's repeat.

    If there are opening messages, they come first. The order and the right letter are recorded in the
    outcome, for the scorer.
    """

    def __init__(self, opening: Sequence[Message]) -> None:
        self._opening = opening

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send the question with the options in the order of the trial's repeat, and return the response."""
        content = trial.sample.content
        question = multiple_choice_message(content["question"], shown_choices(content, trial.repeat))
        messages = [*self._opening, question]
        notes = {"order": choice_order(content, trial.repeat), "right": right_letter(content, trial.repeat)}
        return outcome_with_notes(messages, await session.chat(messages), notes)
