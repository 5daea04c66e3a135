"""Runs scenarios against the canned model, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchwright.errors import TrialError
from benchwright.packs.bridge import PackProcess
from benchwright.packs.contract.canned_model import CannedModel, ServerBehavior
from benchwright.packs.types import GenerationRequest, RegisteredModel, ScenarioMeta, ScenarioRunInput

CELL_TIMEOUT = 60.0


class AttemptOutcome(NamedTuple):
    """Outcome of one attempt: its result or error, and its progress events."""

    result: dict[str, Any] | None
    error: TrialError | None
    events: list[dict[str, Any]]


class CannedTrial:
    """Runs scenarios of a prepared pack. `server`: the server that sends canned answers."""

    def __init__(
        self,
        pack: PackProcess,
        model: RegisteredModel,
        generation: GenerationRequest,
        server: CannedModel,
    ) -> None:
        self.pack, self.model = pack, model
        self._generation, self._server = generation, server
        self._count = 0

    async def run(
        self,
        scenario: ScenarioMeta,
        turns: Sequence[dict[str, Any]],
        conduct: ServerBehavior = "answers",
        seconds: float = CELL_TIMEOUT,
    ) -> AttemptOutcome:
        """Run one attempt in which the model's messages are `turns`. Return the attempt's outcome.

        `seconds`: the time limit.
        """
        self._server.set_answers(turns, conduct)
        self._count += 1
        given = ScenarioRunInput("test", "test", scenario.raw, self.model, self._generation)
        events: list[dict[str, Any]] = []
        try:
            cell = await self.pack.run(
                f"cell-{self._count}", given, seconds=seconds, on_progress=events.append
            )
        except TrialError as error:
            return AttemptOutcome(None, error, events)
        return AttemptOutcome(dict(cell.result.raw), None, events)
