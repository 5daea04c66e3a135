"""Processing of requests to generate: their faults, answers and counters, and their records when they end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from email.utils import formatdate
from functools import partial
from itertools import count

import msgspec

from benchwright.endpoint.dialects import AnswerTranslator
from benchwright.endpoint.serving.http import HttpError, HttpRequest
from benchwright.endpoint.simulate import shared_counters as cell
from benchwright.endpoint.simulate.answers import Answerer, SimulatedAnswer, truncate_answer
from benchwright.endpoint.simulate.prefix_cache import RequestTokens
from benchwright.endpoint.simulate.replies import ReplyFormat
from benchwright.endpoint.simulate.request_parsing import ParsedRequest
from benchwright.endpoint.simulate.response_sender import ResponseSender, ScheduledResponse
from benchwright.endpoint.simulate.scheduled_responses import (
    HARMLESS_FAULTS,
    Fault,
    FaultPlan,
    ResponseScheduler,
)
from benchwright.endpoint.simulate.settings import DEFAULT_MODEL, Settings
from benchwright.endpoint.simulate.shared_counters import SharedCounters
from benchwright.endpoint.simulate.truth_log import TruthRecord
from benchwright.endpoint.simulation_marks import SIMULATED_MARK

_FINISHED_CELL = {reason: cell.FINISHED_OFFSET + place for place, reason in enumerate(cell.FINISH_REASONS)}


class PreparedAnswer(msgspec.Struct):
    """A prepared answer to a request.

    `delay_ns`: the ns from the end of the prefill to the first token. `make_response`: a function that makes the
    scheduled response, given the time of the first token. `on_end`: called when the answer was sent or
    abandoned.
    """

    tokens: RequestTokens
    delay_ns: int
    make_response: Callable[[int], ScheduledResponse]
    on_end: Callable[[ResponseSender], None]


class SimulatedModel:
    """The simulated model of one process. It prepares the answers."""

    def __init__(self, settings: Settings, board: SharedCounters, process: int) -> None:
        self.listed = settings.models
        self.models = settings.models or (DEFAULT_MODEL,)
        self.created = int(time.time())
        self._settings = settings
        self._process = process
        self._numbers = count()
        self._counters = board.counters[process]
        self._answerer = Answerer(settings, board)
        self._faults = FaultPlan(settings, board, process)
        self._deliveries = ResponseScheduler(settings, process)
        self._digests = _digests(settings)

    def prepare_answer(
        self,
        request: HttpRequest,
        truth: TruthRecord,
        question: ParsedRequest,
        translate: Callable[[str], AnswerTranslator | None] = lambda identity: None,
    ) -> PreparedAnswer:
        """Return the prepared answer to a request.

        `translate`: a function that returns the translation for the answer with a given id; None for chat
        completions.

        Raises:
            HttpError: If the model is not served, if the prompt is too long, or if the request's fault is an
                error.
        """
        if self._settings.models and question.model not in (None, *self._settings.models):
            message = f"The model `{question.model}` does not exist."
            raise HttpError(404, message, "not_found_error", code="model_not_found", param="model")
        truth.prompt_tokens = question.prompt_tokens
        most = self._longest_answer(question)
        number = next(self._numbers)
        identity = f"{self._process:x}-{number:x}"
        truth.id = truth.id or identity
        self._counters.cells[cell.REQUESTS] += 1
        fault = self._faults.draw_fault()
        if fault is not None:
            truth.fault = fault.kind
            self._refuse(fault)
        self._counters.cells[cell.RUNNING] += 1
        answer = self._answerer.make_answer(question, identity)
        if most is not None and answer.token_count > most:
            truncate_answer(answer, most)
        marked = f"{SIMULATED_MARK}-{identity}"
        form = self._format(question, marked, translate(marked))

        def deliver(due: int) -> ScheduledResponse:
            answer.cached_tokens = truth.cached_tokens
            return self._deliveries.make_response(request, form, answer, fault, number, due)

        return PreparedAnswer(
            self._tokens(question, answer),
            self._deliveries.first_token_delay(number),
            deliver,
            partial(self._ended, answer),
        )

    def _longest_answer(self, question: ParsedRequest) -> int | None:
        """Return the maximum number of tokens of an answer that, together with its prompt, fits into an empty cache.

        Return None if there is no limit.
        """
        longest = self._settings.max_context_tokens
        if longest is None:
            return None
        left = longest - question.prompt_tokens
        if left < 1:
            message = (
                f"This model's maximum context length is {longest} tokens, of which a prompt of "
                f"{question.prompt_tokens} leaves none for an answer."
            )
            raise HttpError(400, message, code="context_length_exceeded")
        return left

    def _tokens(self, question: ParsedRequest, answer: SimulatedAnswer) -> RequestTokens:
        words = question.pop_prompt_words()
        if self._digests is None:
            return RequestTokens(question.prompt_tokens)
        return RequestTokens(
            question.prompt_tokens, self._digests(words, answer.words(), self._settings.block_size)
        )

    def _format(
        self, question: ParsedRequest, identity: str, translation: AnswerTranslator | None
    ) -> ReplyFormat:
        return ReplyFormat(
            question,
            id=("chatcmpl-" if question.is_chat else "cmpl-") + identity,
            created=self.created,
            model=question.model or self.models[0],
            reasoning_field="reasoning"
            if self._settings.reasoning_style == "reasoning"
            else "reasoning_content",
            translation=translation,
        )

    def _refuse(self, fault: Fault) -> None:
        if fault.kind == "server_error":
            raise HttpError(500 if fault.random_bit else 503, "A simulated server error.", "server_error")
        if fault.kind == "rate_limit":
            faults = self._settings.faults
            wait = f"{faults.retry_after:g}"
            if faults.retry_after_date:
                wait = formatdate(time.time() + faults.retry_after, usegmt=True)
            message = "A simulated rate limit; try again later."
            headers = ((b"retry-after", wait.encode()),)
            raise HttpError(429, message, "rate_limit_error", code="rate_limit_exceeded", headers=headers)

    def _ended(self, answer: SimulatedAnswer, exchange: ResponseSender) -> None:
        truth, cells = exchange.truth, self._counters.cells
        cells[cell.RUNNING] -= 1
        cells[cell.GENERATION_TOKENS] += truth.tokens
        if truth.complete:
            cells[cell.ANSWERED] += 1
            cells[_FINISHED_CELL[answer.finish_reason]] += 1
            self._counters.observe(cell.FIRST_TOKEN_OFFSET, truth.first_token - truth.received)
            self._counters.observe(cell.WHOLE_ANSWER_OFFSET, truth.last_byte - truth.received)
            self._counters.observe(cell.QUEUE_OFFSET, truth.queued)
            self._counters.observe(cell.PREFILL_OFFSET, truth.first_token - truth.prefill_start)
            return
        self._answerer.free_round(answer)
        if truth.fault is None or truth.fault in HARMLESS_FAULTS:
            cells[cell.ABORTED] += 1


def _digests(settings: Settings) -> Callable[[str, Sequence[str], int], list[int]] | None:
    if settings.cache_blocks is None:
        return None
    from benchwright.endpoint.simulate.blocks import block_digests

    return block_digests
