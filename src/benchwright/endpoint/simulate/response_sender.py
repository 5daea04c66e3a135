"""The sending of one answer: each piece at its due time, and the fault if the answer has one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from time import perf_counter_ns
from typing import Protocol

import msgspec

from benchwright.endpoint.simulate.truth_log import TruthRecord

RECHECK_INTERVAL_NS = 5_000_000
"""Time in ns between two checks whether a client that had stopped reading has room again."""

SPLIT_GAP_NS = 1_000_000


class ClientConnection(Protocol):
    """The connection to the client: the methods that a `ResponseSender` uses."""

    is_paused: bool

    def write(self, data: bytes) -> None:
        """Write bytes to the kernel. They are written at once if the kernel has room."""
        ...

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        ...

    def finish_response(self, keep_alive: bool) -> None:
        """Report that the answer has ended.

        If `keep_alive` is True, the connection accepts another request. Otherwise the connection closes.
        """
        ...


class ScheduledResponse(msgspec.Struct):
    """Data to send, with its timing.

    `opening`: sent at once. `pieces`: the data that follow. `piece_count`: the number of pieces. The first
    piece is sent at the time `due_at`, and each later piece one gap of `piece_gaps_ns` after the piece
    before. `prefix`: sent together with the first piece. `fault_at`: the index of the piece before which
    `fault_action` (reset, truncate or stall) happens, -1 for never. `token_count`: the number of tokens in
    all pieces together. `is_intact`: True if the pieces are the undamaged answer. `sends_separately`: True if
    overdue pieces are sent one by one instead of together.
    """

    pieces: Iterator[bytes]
    piece_count: int
    due_at: int
    piece_gaps_ns: Iterator[int]
    opening: bytes = b""
    prefix: bytes = b""
    is_chunked: bool = False
    keep_alive: bool = True
    token_count: int = 0
    is_intact: bool = True
    fault_at: int = -1
    fault_action: str = ""
    stall_ns: int = 0
    sends_separately: bool = False


class ResponseSender:
    """Task that sends one scheduled response over a connection, and records in the truth log what was sent.

    `ended`: called once, however the exchange ends. `may_go_on`: called before more tokens are sent than
    `allow_tokens` has allowed.
    """

    __slots__ = (
        "_allowed", "_channel", "_delivery", "_due", "_ended", "_index", "_may_go_on", "is_over", "truth",
    )  # fmt: skip

    def __init__(
        self,
        channel: ClientConnection,
        truth: TruthRecord,
        ended: Callable[[ResponseSender], None],
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self._channel = channel
        self._delivery: ScheduledResponse | None = None
        self._due = 0
        self._index = 0
        self._allowed = sys.maxsize
        self._ended = ended
        self._may_go_on = may_go_on
        self.truth = truth
        self.is_over = False

    @property
    def generated_tokens(self) -> int:
        """Number of tokens sent so far."""
        delivery = self._delivery
        return 0 if delivery is None else self._index * delivery.token_count // delivery.piece_count

    def start(self, delivery: ScheduledResponse) -> int:
        """Send the opening of a scheduled response. Return the time at which the first piece is due."""
        self._delivery = delivery
        self._due = delivery.due_at
        if delivery.opening:
            self._write(delivery.opening)
        return self._due

    def set_next_due(self, due: int) -> None:
        """Set the time at which the next piece is due."""
        self._due = due

    def allow_tokens(self, tokens: int) -> None:
        """Set the total number of the response's tokens that may be sent for now."""
        assert self._delivery is not None
        self._allowed = tokens * self._delivery.piece_count // max(self._delivery.token_count, 1)

    def step(self, horizon: int) -> int | None:
        """Send the pieces that are due until `horizon`.

        Return the time of the next step. Return None if the answer is over or must wait.
        """
        if self.is_over:
            return None
        if self._channel.is_paused:
            return horizon + RECHECK_INTERVAL_NS
        delivery = self._delivery
        assert delivery is not None
        pieces: list[bytes] = []
        due = self._due
        while due <= horizon:
            index = self._index
            if index >= self._allowed and not self._may_go_on():
                self._send(delivery, pieces)
                return None
            if index == delivery.fault_at:
                self._send(delivery, pieces)
                return self._misbehave(delivery, horizon)
            pieces.append(next(delivery.pieces))
            self._index = index = index + 1
            if index == delivery.piece_count:
                self._send(delivery, pieces, last=True)
                self._end(complete=delivery.is_intact)
                self._channel.finish_response(delivery.keep_alive)
                return None
            due += next(delivery.piece_gaps_ns)
            if delivery.sends_separately:
                due = max(due, horizon + SPLIT_GAP_NS)
        self._due = due
        self._send(delivery, pieces)
        return due

    def abandon(self) -> None:
        """End the exchange without sending the remaining pieces, because the connection is gone."""
        if not self.is_over:
            self._end(complete=False)

    def resume(self) -> None:
        """Do nothing: `step` checks whether the client is reading again."""

    def _send(self, delivery: ScheduledResponse, pieces: list[bytes], last: bool = False) -> None:
        body = b"".join(pieces)
        if not body:
            return
        if delivery.is_chunked:
            body = b"%x\r\n%b\r\n" % (len(body), body)
            if last:
                body += b"0\r\n\r\n"
        if not self.truth.first_token:
            body = delivery.prefix + body
            self.truth.first_token = self._write(body)
        else:
            self._write(body)

    def _write(self, data: bytes) -> int:
        now = perf_counter_ns()
        self._channel.write(data)
        if not self.truth.first_byte:
            self.truth.first_byte = now
        self.truth.last_byte = now
        return now

    def _misbehave(self, delivery: ScheduledResponse, horizon: int) -> int | None:
        kind = delivery.fault_action
        if kind == "stall":
            delivery.fault_at = -1
            self._due = horizon + delivery.stall_ns
            return self._due
        self._end(complete=False)
        if kind == "reset":
            self._channel.reset()
        else:
            self._channel.finish_response(keep_alive=False)
        return None

    def _end(self, *, complete: bool) -> None:
        self.is_over = True
        self.truth.complete = complete
        self.truth.tokens = self.generated_tokens
        self._ended(self)


def split_pieces(delivery: ScheduledResponse, cut_place: Callable[[int], int]) -> None:
    """Split every piece into two pieces that are sent a millisecond apart.

    `cut_place`: a function that returns where to cut a piece of a given length.
    """
    pieces, gaps = delivery.pieces, delivery.piece_gaps_ns

    def parts() -> Iterator[bytes]:
        for piece in pieces:
            place = cut_place(len(piece))
            yield piece[:place]
            yield piece[place:]

    delivery.pieces = parts()
    delivery.piece_gaps_ns = chain.from_iterable(zip(repeat(SPLIT_GAP_NS), gaps, strict=False))
    delivery.piece_count *= 2
    delivery.sends_separately = True
    delivery.fault_at = delivery.fault_at * 2 if delivery.fault_at >= 0 else -1
