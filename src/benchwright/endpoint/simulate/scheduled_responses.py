"""Conversion of answers into scheduled responses: bodies or timed pieces of streams, damaged if there is a fault."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain, islice, repeat
from time import perf_counter_ns

from benchwright.endpoint.serving.http import JSON_CONTENT_TYPE, Headers, HttpRequest, response_head
from benchwright.endpoint.simulate.answers import SimulatedAnswer
from benchwright.endpoint.simulate.quirks import QUIRKS, Quirk, quirky_body, quirky_stream
from benchwright.endpoint.simulate.replies import ReplyFormat, reply_body, stream_opening, stream_pieces
from benchwright.endpoint.simulate.response_sender import SPLIT_GAP_NS, ScheduledResponse, split_pieces
from benchwright.endpoint.simulate.settings import ALL_FAULTS, Settings
from benchwright.endpoint.simulate.shared_counters import FAULTS_OFFSET, SharedCounters
from benchwright.endpoint.simulate.timing import DelayTable
from benchwright.endpoint.simulation_marks import SIMULATED_HEADER
from benchwright.records import Record

HARMLESS_FAULTS = frozenset(
    {"stall", "slow_headers", *(name for name, quirk in QUIRKS.items() if not quirk.ends_in_error)}
)
"""Faults with which the whole answer still arrives if the client waits for it."""


class Fault(Record, frozen=True):
    """A fault of one answer: its kind, its relative place in the answer (0 to 1), and a seeded random bit."""

    kind: str
    relative_place: float
    random_bit: bool


class FaultPlan:
    """Seeded choice of a fault for each request, in the order in which a process receives the requests."""

    def __init__(self, settings: Settings, board: SharedCounters, process: int) -> None:
        self._board = board
        self._counters = board.counters[process]
        self._bounds = list(accumulate(settings.faults.rates.values()))
        self._most = settings.faults.max_faults
        self._rng = random.Random(f"{settings.seed}:faults:{process}")

    def draw_fault(self) -> Fault | None:
        """Choose the fault of the request that was just received, count it, and return it.

        Return None if there is none.
        """
        if not self._bounds[-1]:
            return None
        chosen = bisect_right(self._bounds, self._rng.random())
        place, coin = self._rng.random(), self._rng.random() < 0.5
        if chosen >= len(ALL_FAULTS) or not self._count(chosen):
            return None
        return Fault(ALL_FAULTS[chosen], place, coin)

    def _count(self, kind: int) -> bool:
        if self._most is None:
            self._counters.cells[FAULTS_OFFSET + kind] += 1
            return True
        with self._board.lock:
            if (
                sum(self._board.sum_counter(FAULTS_OFFSET + index) for index in range(len(ALL_FAULTS)))
                >= self._most
            ):
                return False
            self._counters.cells[FAULTS_OFFSET + kind] += 1
        return True


EVENT_STREAM = b"text/event-stream; charset=utf-8"
JSON_LINES = b"application/x-ndjson"
PLAIN_TEXT = b"text/plain; version=0.0.4; charset=utf-8"

COMMON_HEADERS: Headers = ((b"server", b"benchwright-simulate"), (SIMULATED_HEADER, b"1"))
"""Headers of every response."""


def immediate_response(
    request: HttpRequest,
    status: int,
    body: bytes,
    content_type: bytes = JSON_CONTENT_TYPE,
    extra: Headers = (),
) -> ScheduledResponse:
    """Return a scheduled response that sends a whole body (not a stream) immediately."""
    headers = (*COMMON_HEADERS, (b"content-type", content_type), *extra, *_echoed_id(request))
    head = response_head(status, headers, length=len(body), keep_alive=request.keep_alive)
    return ScheduledResponse(
        pieces=iter([body]),
        piece_count=1,
        due_at=request.received_at,
        piece_gaps_ns=repeat(0),
        prefix=head,
        keep_alive=request.keep_alive,
    )


class ResponseScheduler:
    """Factory of scheduled responses, one per request to generate.

    If cache blocks are limited, an answer that is not streamed also has one piece per token. All pieces are
    empty except the last piece, which is the body.
    """

    def __init__(self, settings: Settings, process: int) -> None:
        self._faults = settings.faults
        self._stepwise = settings.cache_blocks is not None
        self._first = DelayTable(settings.first_token, f"{settings.seed}:first:{process}")
        self._between = DelayTable(settings.between_tokens, f"{settings.seed}:between:{process}")
        self._cuts = random.Random(f"{settings.seed}:cuts:{process}") if settings.split else None

    def first_token_delay(self, number: int) -> int:
        """Return the delay in ns from the end of the prefill to the first token. `number`: the request's number."""
        return next(self._first.request_delays(number))

    def make_response(
        self,
        request: HttpRequest,
        form: ReplyFormat,
        answer: SimulatedAnswer,
        fault: Fault | None,
        number: int,
        due: int,
    ) -> ScheduledResponse:
        """Return the scheduled response that sends an answer: its bytes, with the time of each piece and any fault.

        `number`: the request's number. `due`: the time of the first token.
        """
        if form.question.stream:
            delivery = self._stream(request, form, answer, fault, number, due)
        else:
            delivery = self._whole(request, form, answer, fault, number, due)
        delivery.token_count = answer.token_count
        if fault is not None:
            self._apply(fault, delivery, whole=not form.question.stream)
        if self._cuts is not None:
            cuts = self._cuts
            split_pieces(delivery, lambda length: cuts.randrange(1, max(length, 2)))
        return delivery

    def _whole(
        self,
        request: HttpRequest,
        form: ReplyFormat,
        answer: SimulatedAnswer,
        fault: Fault | None,
        number: int,
        due: int,
    ) -> ScheduledResponse:
        body = reply_body(form, answer)
        if quirk := _quirk(form, fault):
            body = quirky_body(quirk, body)
        if fault is not None and fault.kind == "malformed":
            body = body[: len(body) // 2]
        delivery = immediate_response(request, 200, body)
        delivery.due_at = due
        pieces = [body]
        if fault is not None and fault.kind in ("reset", "truncate", "stall"):
            pieces = [body[: len(body) // 2], body[len(body) // 2 :]]
        silent = max(answer.token_count - 1, 0)
        gaps = islice(self._between.request_delays(number), silent)
        if self._stepwise:
            delivery.pieces, delivery.piece_count = chain(repeat(b"", silent), pieces), silent + len(pieces)
            delivery.piece_gaps_ns = chain(gaps, repeat(SPLIT_GAP_NS))
        else:
            delivery.pieces, delivery.piece_count = iter(pieces), len(pieces)
            delivery.piece_gaps_ns = repeat(SPLIT_GAP_NS)
            delivery.due_at += sum(gaps)
        return delivery

    def _stream(
        self,
        request: HttpRequest,
        form: ReplyFormat,
        answer: SimulatedAnswer,
        fault: Fault | None,
        number: int,
        due: int,
    ) -> ScheduledResponse:
        keep_alive = request.keep_alive and request.accepts_chunks
        chunked = request.accepts_chunks
        quirk = _quirk(form, fault)
        kind = EVENT_STREAM if form.translation is None else form.translation.content_type
        headers = (
            *COMMON_HEADERS,
            (b"content-type", JSON_LINES if quirk and quirk.is_json_lines else kind),
            (b"cache-control", b"no-cache"),
            *_echoed_id(request),
        )
        head = response_head(200, headers, chunked=chunked, keep_alive=keep_alive)
        role, pieces = stream_opening(form), _pieces(form, answer, fault)
        if quirk is not None:
            role, said = quirky_stream(quirk, role, pieces)
            pieces = iter(said)
        if role and chunked:
            role = b"%x\r\n%b\r\n" % (len(role), role)
        waits = due > perf_counter_ns() or fault is not None
        return ScheduledResponse(
            pieces=pieces,
            piece_count=max(answer.token_count, 1),
            due_at=due,
            piece_gaps_ns=self._between.request_delays(number),
            opening=head + role if waits else b"",
            prefix=b"" if waits else head + role,
            is_chunked=chunked,
            keep_alive=keep_alive,
        )

    def _apply(self, fault: Fault, delivery: ScheduledResponse, *, whole: bool) -> None:
        delivery.is_intact = fault.kind in HARMLESS_FAULTS
        if fault.kind == "slow_headers":
            head = delivery.opening + delivery.prefix
            end = head.index(b"\r\n") + 2
            delivery.opening, delivery.prefix = head[:end], head[end:]
            delivery.due_at += round(self._faults.slow_header_seconds * 1e9)
        elif fault.kind != "malformed" and fault.kind not in QUIRKS:
            delivery.fault_action = fault.kind
            delivery.stall_ns = round(self._faults.stall_seconds * 1e9)
            last = delivery.piece_count - 1
            delivery.fault_at = last if whole else min(1 + int(fault.relative_place * last), last)


def _quirk(form: ReplyFormat, fault: Fault | None) -> Quirk | None:
    """Return the quirk of this fault.

    Return None if the fault is not a quirk, or if the answer is not a chat completion. Only chat completions
    have quirks.
    """
    if fault is None or form.translation is not None or not form.question.is_chat:
        return None
    return QUIRKS.get(fault.kind)


def _pieces(form: ReplyFormat, answer: SimulatedAnswer, fault: Fault | None) -> Iterator[bytes]:
    pieces = stream_pieces(form, answer)
    if fault is None or fault.kind != "malformed":
        return pieces
    return _damaged(pieces, int(fault.relative_place * max(answer.token_count, 1)))


def _damaged(pieces: Iterator[bytes], index: int) -> Iterator[bytes]:
    """Yield the pieces. The JSON of the piece at `index` is cut off."""
    for position, piece in enumerate(pieces):
        event, end, rest = piece.partition(b"\n\n")
        yield event[: len(event) // 2] + end + rest if position == index else piece


def _echoed_id(request: HttpRequest) -> Headers:
    identity = request.headers.get(b"x-request-id")
    return ((b"x-request-id", identity),) if identity else ()
