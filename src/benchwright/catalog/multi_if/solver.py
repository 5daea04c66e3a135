"""Solver that sends a sample's prompts turn by turn."""

from __future__ import annotations

from benchwright.catalog.asking import user
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Status, Trial

ANSWERS_ARTIFACT = "turns"
"""Key of the outcome's artifact with the answers, one per turn."""


class TurnSequenceSolver:
    """Solver that sends the turns of a sample one after the other in one conversation."""

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send all turns.

        If a response was refused or truncated, the outcome has the status of the first refused or truncated
        response.
        """
        messages: list[Message] = []
        answers: list[str] = []
        status, reason = Status.ANSWERED, None
        for turn in trial.sample.content["turns"]:
            messages.append(user(turn["prompt"]))
            reply = await session.chat(messages)
            messages.append(reply.message)
            answers.append(reply.text)
            if status is Status.ANSWERED:
                status, reason = answer_status(reply)
        return Outcome(status, messages, answers[-1], reason, artifacts={ANSWERS_ARTIFACT: answers})
