"""Solver of ARC-AGI's tasks: two attempts at each test input. Each attempt has a request of its own."""

from __future__ import annotations

import json
from typing import Any

from benchwright.catalog.arc_agi.grid_parser import read_grid
from benchwright.catalog.asking import user
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.engine.seeds import repeat_seed, storable_seed
from benchwright.records import Message, Outcome, Status, Trial

ATTEMPT_COUNT = 2
MAX_REQUESTS = 2
"""Maximum number of requests for one attempt. A further request is sent only if a response contains no grid."""

GRIDS_ARTIFACT = "grids"
"""Key of the outcome's artifact with the grids: a list of the attempts' grids for each test input."""

PROMPT = """\
You are participating in a puzzle solving competition. You are an expert at solving puzzles.

Below is a list of input and output pairs with a pattern. Your goal is to identify the pattern or transformation in \
the training examples that maps the input to the output, then apply that pattern to the test input to give a final \
output.

Respond in the format of the training output examples

--Training Examples--
{training_examples}
--End of Training Examples--

--Test Input--
{test_input}
--End of Test Input--

Your response:"""
"""The prompt of the authors' harness, word for word."""


def build_prompt(content: dict[str, Any], number: int) -> str:
    """Return the prompt for the test input with index `number` of a task."""
    examples = "".join(_example(place, pair) for place, pair in enumerate(content["train"]))
    return PROMPT.format(training_examples=examples, test_input=json.dumps(content["test"][number]["input"]))


def _example(place: int, pair: dict[str, Any]) -> str:
    given, becomes = json.dumps(pair["input"]), json.dumps(pair["output"])
    return f"--Example {place}-- \n\n INPUT: \n\n{given}\n\nOUTPUT: \n\n{becomes}\n\n"


class TwoAttemptSolver:
    """Solver that makes two attempts at each test input. The prompts are equal, the seeds are different."""

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Make all attempts. The answer is the text of all responses.

        If a response was refused or truncated, the outcome has the status of the first refused or truncated
        response.
        """
        content = trial.sample.content
        asking = _Asking(trial, session)
        grids = [
            [await asking.attempt(build_prompt(content, number), attempt) for attempt in range(ATTEMPT_COUNT)]
            for number in range(len(content["test"]))
        ]
        answer = "\n\n".join(message["content"] or "" for message in asking.messages[1::2])
        return Outcome(
            asking.status, asking.messages, answer, asking.reason, artifacts={GRIDS_ARTIFACT: grids}
        )


class _Asking:
    """Sends the requests of one trial, each as a conversation of its own, and combines their statuses."""

    def __init__(self, trial: Trial, session: Session) -> None:
        self.messages: list[Message] = []
        self.status = Status.ANSWERED
        self.reason: str | None = None
        self._trial = trial
        self._session = session

    async def attempt(self, text: str, attempt: int) -> list[list[int]] | None:
        """Return the grid of one attempt.

        If the response contains no readable grid, send the request once more. Return None if that response
        contains none, either.
        """
        for tried in range(MAX_REQUESTS):
            reply = await self._session.chat([user(text)], **self._seed(attempt * MAX_REQUESTS + tried))
            self.messages += [user(text), reply.message]
            grid = read_grid(reply.text)
            if grid is not None:
                return grid
            if self.status is Status.ANSWERED:
                self.status, self.reason = answer_status(reply)
        return None

    def _seed(self, draw: int) -> dict[str, Any]:
        """Return the seed parameter of a request as a body field. Return {} if the target has no seed.

        `draw`: number of the request within the trial. Each request gets another seed: equal prompts with
        equal seeds would repeat the same attempt.
        """
        seed = storable_seed(self._session.target.settings.get("seed"))
        if seed is None:
            return {}
        return {"seed": repeat_seed(seed, self._trial.repeat * ATTEMPT_COUNT * MAX_REQUESTS + draw)}
