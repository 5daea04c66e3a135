"""Routes of the simulated endpoint: the function that responds to each request, and the record of the request."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import xxhash

from benchwright.endpoint.dialects import GEMINI, MESSAGES, RESPONSES, AnswerTranslator, Dialect
from benchwright.endpoint.dialects.dialect_table import TokenCounting
from benchwright.endpoint.dialects.gemini.models import model_entry
from benchwright.endpoint.dialects.gemini.urls import parse_url
from benchwright.endpoint.serving.connection import ServerConnection
from benchwright.endpoint.serving.http import HttpError, HttpRequest
from benchwright.endpoint.simulate.batch import Batch
from benchwright.endpoint.simulate.dialects import read_request
from benchwright.endpoint.simulate.generation import PreparedAnswer, SimulatedModel
from benchwright.endpoint.simulate.jobs import GenerationJob
from benchwright.endpoint.simulate.metrics import prometheus_text
from benchwright.endpoint.simulate.prefix_cache import PrefixCache
from benchwright.endpoint.simulate.request_parsing import read_chat, read_completion
from benchwright.endpoint.simulate.response_sender import ResponseSender, ScheduledResponse
from benchwright.endpoint.simulate.scheduled_responses import COMMON_HEADERS, PLAIN_TEXT, immediate_response
from benchwright.endpoint.simulate.settings import Settings
from benchwright.endpoint.simulate.shared_counters import SharedCounters
from benchwright.endpoint.simulate.timing import Scheduler
from benchwright.endpoint.simulate.truth_log import TruthLog, TruthRecord
from benchwright.endpoint.simulation_marks import SIMULATED_MARK
from benchwright.records import DECODE_ERRORS

Response = ScheduledResponse | PreparedAnswer
"""A response: either data that are sent at once, or a prepared answer that is sent when it is its turn."""


class Simulator:
    """Request handler in one process of a simulated endpoint, for all its connections."""

    headers = COMMON_HEADERS

    def __init__(
        self,
        settings: Settings,
        loop: asyncio.AbstractEventLoop,
        board: SharedCounters,
        truth_descriptor: int | None,
        process: int = 0,
    ) -> None:
        self._settings = settings
        self._key = None if settings.api_key is None else settings.api_key.encode()
        self._board = board
        self._generation = SimulatedModel(settings, board, process)
        self._scheduler = Scheduler(loop)
        blocks, prefill = settings.cache_blocks, settings.prefill
        self._batch = Batch(
            settings.slots,
            None if blocks is None else PrefixCache(blocks, settings.block_size),
            0.0 if prefill is None else 1e9 / prefill,
            board.counters[process].cells,
            loop.call_soon,
        )
        self.truth = TruthLog(loop, truth_descriptor, settings.truth_kept)
        self.connections: set[ServerConnection] = set()

    def close(self) -> None:
        """End every connection and close the truth log."""
        for connection in list(self.connections):
            connection.close()
        self._scheduler.stop()
        self.truth.close()

    def handle(self, connection: ServerConnection, request: HttpRequest) -> ResponseSender:
        """Start the response to a request, and return the sender of the response."""
        truth = TruthRecord(request.id, request.path.decode("latin-1"), request.received_at, status=200)
        try:
            response = self._respond(request, truth)
        except HttpError as error:
            truth.status = error.status
            body = error.body(request.dialect)
            response = immediate_response(request, error.status, body, extra=error.headers)
            response.is_intact = False
        if isinstance(response, PreparedAnswer):
            job = GenerationJob(response, connection, truth, self._batch, self._scheduler, self.truth)
            exchange = job.exchange
            self._batch.add_member(job, request.received_at)
            return exchange
        exchange = ResponseSender(connection, truth, self._note)
        self._scheduler.run_or_add(exchange.start(response), exchange)
        return exchange

    def _note(self, exchange: ResponseSender) -> None:
        self.truth.add(exchange.truth)

    def _respond(self, request: HttpRequest, truth: TruthRecord) -> Response:
        route = _ROUTES.get(request.path) or self._route_of_a_dialect(request)
        if route is None:
            raise HttpError(404, f"There is no {truth.path} here.", "not_found_error")
        method, respond = route
        if request.method != method:
            headers = ((b"allow", method),)
            raise HttpError(405, f"{truth.path} takes {method.decode()} only.", headers=headers)
        guarded = self._key is not None and request.path.startswith((b"/v1/", b"/v1beta/", b"/v1alpha/"))
        if guarded and not hmac.compare_digest(request.api_key, self._key or b""):
            raise HttpError(401, "The API key is missing or wrong.", code="invalid_api_key")
        return respond(self, request, truth)

    def _route_of_a_dialect(self, request: HttpRequest) -> tuple[bytes, Responder] | None:
        if self._settings.chat_only:
            return None
        address = parse_url(request.path, request.query)
        return _DIALECTS.get(request.path if address is None else address.path.encode())

    def _chat(self, request: HttpRequest, truth: TruthRecord) -> Response:
        return self._generation.prepare_answer(request, truth, read_chat(request.body))

    def _ask(self, dialect: Dialect, request: HttpRequest, truth: TruthRecord) -> Response:
        question, asked = read_request(dialect, request)
        return self._generation.prepare_answer(
            request, truth, question, partial(AnswerTranslator, dialect, asked)
        )

    def _count(self, dialect: Dialect, counting: TokenCounting, request: HttpRequest) -> Response:
        question, _ = read_request(dialect, request, counting)
        return immediate_response(
            request, 200, msgspec.json.encode(counting.make_response(question.prompt_tokens))
        )

    def _complete(self, request: HttpRequest, truth: TruthRecord) -> Response:
        return self._generation.prepare_answer(request, truth, read_completion(request.body))

    def _models(self, request: HttpRequest, truth: TruthRecord) -> Response:
        about = {"object": "model", "created": self._generation.created, "owned_by": SIMULATED_MARK}
        models = [{"id": name, **about} for name in self._generation.listed]
        return immediate_response(request, 200, msgspec.json.encode({"object": "list", "data": models}))

    def _gemini_models(self, request: HttpRequest, truth: TruthRecord) -> Response:
        models = [{**model_entry(name), "description": SIMULATED_MARK} for name in self._generation.listed]
        return immediate_response(request, 200, msgspec.json.encode({"models": models}))

    def _metrics(self, request: HttpRequest, truth: TruthRecord) -> Response:
        blocks = self._settings.cache_blocks
        in_all = None if blocks is None else blocks * len(self._board.counters)
        text = prometheus_text(self._board.stats(), self._generation.models[0], in_all)
        return immediate_response(request, 200, text, PLAIN_TEXT)

    def _tokenize(self, request: HttpRequest, truth: TruthRecord) -> Response:
        try:
            fields = msgspec.json.decode(request.body, type=dict[str, Any])
        except DECODE_ERRORS as error:
            raise HttpError(400, str(error)) from None
        read = read_chat if "messages" in fields else read_completion
        words = read(request.body).prompt_words.split()
        tokens = [xxhash.xxh32_intdigest(word.encode()) % 150_000 for word in words]
        longest = self._settings.max_context_tokens or 131_072
        answer = {"count": len(tokens), "max_model_len": longest, "tokens": tokens}
        return immediate_response(request, 200, msgspec.json.encode(answer))


def _path(dialect: Dialect, path: str) -> bytes:
    """Return the key of a dialect's path in the table of routes. For a Gemini URL the key is the end of the path."""
    return (path if dialect.has_model_in_url else f"/v1{path}").encode()


Responder = Callable[[Simulator, HttpRequest, TruthRecord], Response]


def _asking(dialect: Dialect) -> tuple[bytes, Responder]:
    return b"POST", lambda simulator, request, truth: simulator._ask(dialect, request, truth)


def _counting(dialect: Dialect, counting: TokenCounting) -> tuple[bytes, Responder]:
    return b"POST", lambda simulator, request, truth: simulator._count(dialect, counting, request)


_DIALECTS: dict[bytes, tuple[bytes, Responder]] = {
    **{_path(one, one.path): _asking(one) for one in (MESSAGES, RESPONSES, GEMINI)},
    **{
        _path(one, one.token_counting.path): _counting(one, one.token_counting)
        for one in (MESSAGES, GEMINI)
        if one.token_counting
    },
    b"/v1beta/models": (b"GET", Simulator._gemini_models),
}

_ROUTES: dict[bytes, tuple[bytes, Responder]] = {
    b"/v1/chat/completions": (b"POST", Simulator._chat),
    b"/v1/completions": (b"POST", Simulator._complete),
    b"/v1/models": (b"GET", Simulator._models),
    b"/metrics": (b"GET", Simulator._metrics),
    b"/tokenize": (b"POST", Simulator._tokenize),
}
