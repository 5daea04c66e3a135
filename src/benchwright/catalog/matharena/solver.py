"""Solver with MathArena's prompts. It sends a second request if the first response has no readable box."""

from __future__ import annotations

from benchwright.catalog.asking import outcome_with_notes, user
from benchwright.catalog.matharena.grading import states_an_answer
from benchwright.engine.protocols import Session
from benchwright.records import Outcome, Trial

BOX_REMINDER = """
Your last message does not provide a final answer in a way that follows the formatting instructions.
Please based on the conversation history, report the final answer again within \\boxed{}.
If you did not find the answer, please use \\boxed{None}.
Do not reason about the problem again or use tools, simply try to extract the final answer from the previous reasoning.
Boxed answers in thinking/reasoning stages will be ignored; only the final response message is considered.
"""
"""The prompt that asks again for a boxed answer, word for word (runner.py, _build_last_chance_prompt)."""


class BoxedAnswerSolver:
    """Solver that sends the instruction and the problem.

    If the response has no readable box, the solver asks for a box in the same conversation.
    """

    def __init__(self, instruction: str) -> None:
        self._instruction = instruction

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send the problem and return the last response.

        `last_chance` in the details: True if the model was asked a second time, for a boxed answer.
        """
        messages = [user(f"{self._instruction}\n\n{trial.sample.content['problem']}")]
        reply = await session.chat(messages)
        readable = await states_an_answer(reply.text)
        if not readable:
            messages += [reply.message, user(BOX_REMINDER)]
            reply = await session.chat(messages)
        return outcome_with_notes(messages, reply, None if readable else {"last_chance": True})
