"""Requests to generate: numbered, counted, given a fault or an answer, and accounted for at their end."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from functools import partial
from itertools import count

from benchwright.endpoint.serving.http import HttpError, HttpRequest
from benchwright.endpoint.simulate import board as cell
from benchwright.endpoint.simulate.answers import Answer, Answerer
from benchwright.endpoint.simulate.board import Board
from benchwright.endpoint.simulate.deliveries import HARMLESS, Deliveries, Fault, FaultPlan
from benchwright.endpoint.simulate.exchange import Delivery, Exchange
from benchwright.endpoint.simulate.questions import Question
from benchwright.endpoint.simulate.replies import Format
from benchwright.endpoint.simulate.settings import ANY_MODEL, Settings
from benchwright.endpoint.simulate.truth import Truth

_FINISHED_CELL = {reason: cell.FINISHED + place for place, reason in enumerate(cell.FINISH_REASONS)}


class Generation:
    """The simulated model of one process."""

    def __init__(self, settings: Settings, board: Board, process: int) -> None:
        self.listed = settings.models
        self.models = settings.models or (ANY_MODEL,)
        self.created = int(time.time())
        self._settings = settings
        self._process = process
        self._numbers = count()
        self._counters = board.counters[process]
        self._answerer = Answerer(settings, board)
        self._faults = FaultPlan(settings, board, process)
        self._deliveries = Deliveries(settings, process)

    def respond(
        self, request: HttpRequest, truth: Truth, question: Question
    ) -> tuple[Delivery, Callable[[Exchange], None]]:
        """What to send, and what to call when it was sent or given up.

        Raises:
            Refused: there is no such model, or the request's fault is an error.
        """
        if self._settings.models and question.model not in (None, *self._settings.models):
            message = f"The model `{question.model}` does not exist."
            raise HttpError(404, message, "not_found_error", code="model_not_found", param="model")
        number = next(self._numbers)
        identity = f"{self._process:x}-{number:x}"
        truth.id = truth.id or identity
        self._counters.cells[cell.REQUESTS] += 1
        fault = self._faults.draw()
        if fault is not None:
            truth.fault = fault.kind
            self._refuse(fault)
        self._counters.cells[cell.RUNNING] += 1
        self._counters.cells[cell.PROMPT_TOKENS] += question.prompt_tokens
        answer = self._answerer.answer(question, identity)
        delivery = self._deliveries.make(request, self._format(question, identity), answer, fault, number)
        return delivery, partial(self._ended, answer)

    def _format(self, question: Question, identity: str) -> Format:
        return Format(
            question,
            id=("chatcmpl-" if question.chat else "cmpl-") + identity,
            created=self.created,
            model=question.model or self.models[0],
            reasoning_field="reasoning"
            if self._settings.reasoning_style == "reasoning"
            else "reasoning_content",
        )

    def _refuse(self, fault: Fault) -> None:
        if fault.kind == "server_error":
            raise HttpError(500 if fault.coin else 503, "A simulated server error.", "server_error")
        if fault.kind == "rate_limit":
            faults = self._settings.faults
            wait = f"{faults.retry_after:g}"
            if faults.retry_after_date:
                wait = formatdate(time.time() + faults.retry_after, usegmt=True)
            message = "A simulated rate limit; try again later."
            headers = ((b"retry-after", wait.encode()),)
            raise HttpError(429, message, "rate_limit_error", code="rate_limit_exceeded", headers=headers)

    def _ended(self, answer: Answer, exchange: Exchange) -> None:
        truth, cells = exchange.truth, self._counters.cells
        cells[cell.RUNNING] -= 1
        cells[cell.GENERATION_TOKENS] += truth.tokens
        if truth.complete:
            cells[cell.ANSWERED] += 1
            cells[_FINISHED_CELL[answer.finish_reason]] += 1
            self._counters.observe(cell.FIRST_TOKEN, truth.first_token - truth.received)
            self._counters.observe(cell.WHOLE_ANSWER, truth.last_byte - truth.received)
            return
        self._answerer.give_back(answer)
        if truth.fault is None or truth.fault in HARMLESS:
            cells[cell.ABORTED] += 1
