"""The tee: passes a response on as it arrives, and hands the same bytes to the meter."""

from __future__ import annotations

from typing import Protocol

from benchwright.endpoint.connection import Connection, Headers
from benchwright.endpoint.meter import AnswerMeter


class Receiver(Protocol):
    """Destination to which a response is passed on. Its methods are plain functions that never wait."""

    def carried(self, connection: Connection) -> None:
        """Take the connection on which the response will arrive.

        It may be paused, and must then be resumed.
        """
        ...

    def head(self, status: int, headers: Headers) -> None:
        """Take the status and headers."""
        ...

    def data(self, chunk: bytes) -> None:
        """Take a piece of the body, transfer coding removed."""
        ...

    def end(self) -> None:
        """End the response, as it is complete. Not called after a failed exchange."""
        ...


class Tee:
    """A sink that hands every piece to the receiver first, and then to the meter.

    Data that the meter cannot parse are passed on all the same; `failure` is then the meter's error.
    `is_passed_on` is True while a successful response is under way. Receivers hold back error responses until
    they end.
    """

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.begin(AnswerMeter())

    def begin(self, meter: AnswerMeter) -> None:
        """Prepare for the next response, with this meter. The receiver did not get an earlier one."""
        self.meter = meter
        self.failure: ValueError | None = None
        self.is_passed_on = False

    def head(self, status: int, headers: Headers, at: int) -> None:
        """Hand the status and headers on."""
        self.is_passed_on = status < 300
        self.receiver.head(status, headers)
        try:
            self.meter.head(status, headers, at)
        except ValueError as error:
            self.failure = error

    def token_at(self) -> int | None:
        """Return when the last token arrived, see `AnswerMeter.token_at`; None if the meter cannot parse the data."""
        return self.meter.token_at() if self.failure is None else None

    def data(self, chunk: bytes, at: int) -> None:
        """Hand a piece of the body on."""
        self.receiver.data(chunk)
        if self.failure is None:
            try:
                self.meter.data(chunk, at)
            except ValueError as error:
                self.failure = error
