"""The tee: passes a response on as it arrives, and feeds the same bytes to the meter."""

from __future__ import annotations

from typing import Protocol

from benchwright.endpoint.connection import Connection, Headers
from benchwright.endpoint.meter import AnswerMeter


class ResponseReceiver(Protocol):
    """Destination to which a response is passed on. The methods are plain functions that never wait."""

    def set_connection(self, connection: Connection) -> None:
        """Store the connection on which the response will arrive.

        The receiver may pause the connection, and must then resume it.
        """
        ...

    def receive_head(self, status: int, headers: Headers) -> None:
        """Receive the status and headers."""
        ...

    def receive_data(self, chunk: bytes) -> None:
        """Receive a piece of the body, without its transfer coding."""
        ...

    def complete(self) -> None:
        """Complete the response. Not called if the exchange failed."""
        ...


class Tee:
    """A sink that passes every piece to the receiver first, and then to the meter.

    Data that the meter cannot parse are passed on all the same. `failure`: the meter's error on such data,
    else None. `is_passed_on`: True while a successful response is being passed on. Receivers hold back error
    responses until these end.
    """

    def __init__(self, receiver: ResponseReceiver) -> None:
        self.receiver = receiver
        self.begin(AnswerMeter())

    def begin(self, meter: AnswerMeter) -> None:
        """Prepare for the next response. `meter`: the meter that measures that response.

        No part of an earlier response may have been passed on.
        """
        self.meter = meter
        self.failure: ValueError | None = None
        self.is_passed_on = False

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        """Pass the status and headers to the receiver and the meter."""
        self.is_passed_on = status < 300
        self.receiver.receive_head(status, headers)
        try:
            self.meter.receive_head(status, headers, at)
        except ValueError as error:
            self.failure = error

    def last_token_time(self) -> int | None:
        """Return the arrival time of the last token (see `AnswerMeter.token_at`).

        Return None if the meter cannot parse the data.
        """
        return self.meter.last_token_time() if self.failure is None else None

    def receive_data(self, chunk: bytes, at: int) -> None:
        """Pass a piece of the body to the receiver and the meter."""
        self.receiver.receive_data(chunk)
        if self.failure is None:
            try:
                self.meter.receive_data(chunk, at)
            except ValueError as error:
                self.failure = error
