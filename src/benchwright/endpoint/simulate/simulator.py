"""Routes: what each request of the simulated endpoint is answered, and what is noted of it."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Hashable
from functools import partial
from time import perf_counter_ns
from typing import Any

import msgspec
import xxhash

from benchwright.endpoint.serving.connection import ServerConnection
from benchwright.endpoint.serving.http import HttpError, HttpRequest
from benchwright.endpoint.simulate.board import WAITING, Board, prometheus_text
from benchwright.endpoint.simulate.deliveries import COMMON, PLAIN_TEXT, at_once
from benchwright.endpoint.simulate.exchange import Delivery, Exchange
from benchwright.endpoint.simulate.generation import Generation
from benchwright.endpoint.simulate.questions import read_chat, read_completion
from benchwright.endpoint.simulate.settings import Settings
from benchwright.endpoint.simulate.timing import Scheduler
from benchwright.endpoint.simulate.truth import Truth, TruthLog
from benchwright.records import UNREADABLE

Response = tuple[Delivery, Callable[[Exchange], None] | None]
"""What to send, and what to call at its end."""


class Simulator:
    """One process of a simulated endpoint: answers the requests of all its connections."""

    headers = COMMON

    def __init__(
        self,
        settings: Settings,
        loop: asyncio.AbstractEventLoop,
        board: Board,
        truth_descriptor: int | None,
        process: int = 0,
    ) -> None:
        self._key = None if settings.api_key is None else f"Bearer {settings.api_key}".encode()
        self._board = board
        self._generation = Generation(settings, board, process)
        self._scheduler = Scheduler(loop)
        self._loop = loop
        cells = board.counters[process].cells

        def count_waiting(change: int) -> None:
            cells[WAITING] += change

        self._slots = Slots(settings.slots, count_waiting)
        self.truth = TruthLog(loop, truth_descriptor, settings.truth_kept)
        self.connections: set[ServerConnection] = set()

    def close(self) -> None:
        """Ends every connection and closes the truth log."""
        for connection in list(self.connections):
            connection.close()
        self._scheduler.stop()
        self.truth.close()

    def handle(self, connection: ServerConnection, request: HttpRequest) -> Exchange:
        """Starts the answer to a request."""
        truth = Truth(request.id, request.path.decode("latin-1"), request.received, status=200)
        ended = None
        try:
            delivery, ended = self._respond(request, truth)
        except HttpError as error:
            truth.status = error.status
            delivery = at_once(request, error.status, error.body, extra=error.headers)
            delivery.intact = False

        def note(exchange: Exchange) -> None:
            if ended is not None:
                ended(exchange)
                begin_next = self._slots.leave(exchange)
                if begin_next is not None:
                    self._loop.call_soon(begin_next)
            self.truth.add(truth)

        exchange = Exchange(connection, delivery, truth, note)
        if ended is None:
            self._begin(exchange)
        else:
            if self._slots.enter(exchange, partial(self._begin_late, exchange)):
                self._begin(exchange)
        return exchange

    def _begin(self, exchange: Exchange) -> None:
        first = exchange.start()
        now = perf_counter_ns()
        due = exchange.step(now) if first <= now else first
        if due is not None:
            self._scheduler.add(due, exchange)

    def _begin_late(self, exchange: Exchange) -> None:
        if not exchange.over:  # it may have been given up in the moment in which its turn came
            exchange.postpone(perf_counter_ns() - exchange.truth.received)
            self._begin(exchange)

    def _respond(self, request: HttpRequest, truth: Truth) -> Response:
        route = _ROUTES.get(request.path)
        if route is None:
            raise HttpError(404, f"There is no {truth.path} here.", "not_found_error")
        method, respond = route
        if request.method != method:
            headers = ((b"allow", method),)
            raise HttpError(405, f"{truth.path} takes {method.decode()} only.", headers=headers)
        if self._key is not None and request.path.startswith(b"/v1/"):
            shown = request.headers.get(b"authorization", b"")
            if not hmac.compare_digest(shown, self._key):
                raise HttpError(401, "The API key is missing or wrong.", code="invalid_api_key")
        return respond(self, request, truth)

    def _chat(self, request: HttpRequest, truth: Truth) -> Response:
        return self._generation.respond(request, truth, read_chat(request.body))

    def _complete(self, request: HttpRequest, truth: Truth) -> Response:
        return self._generation.respond(request, truth, read_completion(request.body))

    def _models(self, request: HttpRequest, truth: Truth) -> Response:
        about = {"object": "model", "created": self._generation.created, "owned_by": "benchwright-simulated"}
        models = [{"id": name, **about} for name in self._generation.listed]
        return at_once(request, 200, msgspec.json.encode({"object": "list", "data": models})), None

    def _metrics(self, request: HttpRequest, truth: Truth) -> Response:
        text = prometheus_text(self._board.stats(), self._generation.models[0])
        return at_once(request, 200, text, PLAIN_TEXT), None

    def _tokenize(self, request: HttpRequest, truth: Truth) -> Response:
        try:
            fields = msgspec.json.decode(request.body, type=dict[str, Any])
        except UNREADABLE as error:
            raise HttpError(400, str(error)) from None
        read = read_chat if "messages" in fields else read_completion
        question = read(request.body)
        texts = [message.text for message in question.messages] if question.chat else [question.prompt]
        words = [word for text in texts for word in text.split()]
        tokens = [xxhash.xxh32_intdigest(word.encode()) % 150_000 for word in words]
        answer = {"count": len(tokens), "max_model_len": 131_072, "tokens": tokens}
        return at_once(request, 200, msgspec.json.encode(answer)), None


_ROUTES: dict[bytes, tuple[bytes, Callable[[Simulator, HttpRequest, Truth], Response]]] = {
    b"/v1/chat/completions": (b"POST", Simulator._chat),
    b"/v1/completions": (b"POST", Simulator._complete),
    b"/v1/models": (b"GET", Simulator._models),
    b"/metrics": (b"GET", Simulator._metrics),
    b"/tokenize": (b"POST", Simulator._tokenize),
}


class Slots:
    """At most `number` answers under way, None for any number; `waiting` is told by how much the queue changes."""

    def __init__(self, number: int | None, waiting: Callable[[int], None]) -> None:
        self._number = number
        self._under_way = 0
        self._queue: dict[Hashable, Callable[[], None]] = {}
        self._waiting = waiting

    def enter(self, answer: Hashable, begin_late: Callable[[], None]) -> bool:
        """Whether there is a slot for an answer now; else `begin_late` is kept until it has one."""
        if self._number is not None and self._under_way >= self._number:
            self._queue[answer] = begin_late
            self._waiting(1)
            return False
        self._under_way += 1
        return True

    def leave(self, answer: Hashable) -> Callable[[], None] | None:
        """An answer is over, or was given up while it waited; returns what begins the next one, to be called soon."""
        if self._queue.pop(answer, None) is not None:
            self._waiting(-1)
            return None
        if not self._queue:
            self._under_way -= 1
            return None
        self._waiting(-1)
        return self._queue.pop(next(iter(self._queue)))
