"""The prober: sends the requests of an examination, within limits on their number and duration."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import perf_counter, time_ns
from typing import Any

import msgspec

from benchwright.endpoint.card.probe_response import ProbeResponse, RecordingSink
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.connection import TransportError
from benchwright.endpoint.failures import error_from_transport, parse_retry_after
from benchwright.errors import ProviderError
from benchwright.text import one_line

MAX_REQUESTS = 40
REQUEST_SECONDS = 30.0
TOTAL_TIME_FACTOR = 10
"""Time limit of the whole examination, as a multiple of the time limit of one request."""

MAX_UNANSWERED_REQUESTS = 3
"""Number of consecutive requests without a response after which no more are sent."""

BUSY_STATUSES = frozenset({429, 502, 503, 504, 529})
"""HTTP statuses with which a server reports that it is temporarily unable to answer."""

KEY_REFUSED_STATUSES = frozenset({401, 402, 403})
"""HTTP statuses with which a server refuses the key or the account rather than the request."""

RETRY_PAUSES = (1.0, 2.0, 4.0)
MAX_RETRY_PAUSE = 10.0
"""Longest pause, in seconds, for which a busy server may ask before a retry."""

_encode = msgspec.json.Encoder().encode


class ProbeUnanswered(Exception):
    """Raised if a request has no usable response.

    The message is the reason. `broken`: True if the exchange failed. `unreachable`: the error if the server
    cannot be reached, else None.
    """

    def __init__(
        self, reason: str, *, broken: bool = False, unreachable: ProviderError | None = None
    ) -> None:
        super().__init__(reason)
        self.broken = broken
        self.unreachable = unreachable


class Prober:
    """Sends requests to one endpoint through its client, so that headers, sockets and certificates are as in a run.

    `seconds`: the time limit of each request. `most`: the maximum number of requests. `told`: a function
    called before each request with the number of requests so far. `late`: the number of requests that had no
    response in time.
    """

    def __init__(
        self,
        client: EndpointClient,
        *,
        seconds: float = REQUEST_SECONDS,
        most: int = MAX_REQUESTS,
        told: Callable[[int], None] = lambda sent: None,
    ) -> None:
        self.client = client
        self.requests = 0
        self.late = 0
        self.seconds = seconds
        self._most = most
        self._told = told
        self.begun_at = time_ns()
        self._begun = perf_counter()
        self._silent = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the examination began."""
        return perf_counter() - self._begun

    @property
    def requests_left(self) -> int:
        """Number of requests that may still be sent."""
        return self._most - self.requests

    async def get(self, path: str, *, beside: bool = False) -> ProbeResponse:
        """Send a GET request and return the response.

        `path` is appended to the base URL. If `beside` is True, `path` takes the place of the base URL's
        final /v1 instead, as needed for a server's own routes such as /metrics.
        """
        return await self._patiently("GET", path, b"", beside)

    async def post(
        self, path: str, body: Mapping[str, Any], *, beside: bool = False, patience: float = 1.0
    ) -> ProbeResponse:
        """Send a POST request and return the response.

        The target's model and settings are added to the body. Fields that are None are left out.

        A refusal is returned as a response, too. A response that did not end in time is returned incomplete
        (see `ProbeResponse.is_complete`). `beside`: see `get`. `patience`: a factor for the time limit.

        Raises:
            ProbeUnanswered: If there was no response in time, the server is unreachable or too busy, the key is
                refused, or no further request may be sent.
        """
        target = self.client.target
        fields = {"model": target.model, **target.settings, **body}
        encoded = _encode({name: value for name, value in fields.items() if value is not None})
        answer = await self._patiently("POST", path, encoded, beside, patience)
        if answer.status in KEY_REFUSED_STATUSES:
            raise ProbeUnanswered(f"the key is refused ({answer.refusal})")
        return answer

    async def _patiently(
        self, method: str, path: str, body: bytes, beside: bool, patience: float = 1.0
    ) -> ProbeResponse:
        """Send a request and return the response.

        If the server is busy or is still loading its model, wait and retry.
        """
        for pause in (*RETRY_PAUSES, None):
            answer = await self._send(method, path, body, beside, patience * self.seconds)
            if answer.status not in BUSY_STATUSES:
                return answer
            if pause is not None:
                await asyncio.sleep(_pause(answer, pause))
        self._silent += 1
        raise ProbeUnanswered(f"the server is busy ({answer.refusal})")

    async def _send(self, method: str, path: str, body: bytes, beside: bool, seconds: float) -> ProbeResponse:
        self._check_budget()
        self.requests += 1
        self._told(self.requests)
        recording = RecordingSink()
        try:
            await self.client.send(method, path, recording, body, seconds, beside=beside)
        except TransportError as error:
            return self._failed(error, recording, seconds)
        answer = ProbeResponse(recording)
        self._silent = self._silent if answer.status in BUSY_STATUSES else 0
        return answer

    def _check_budget(self) -> None:
        if not self.requests_left:
            raise ProbeUnanswered(f"the {self._most} requests of the check were used up")
        if self.elapsed > TOTAL_TIME_FACTOR * self.seconds:
            raise ProbeUnanswered(f"the {TOTAL_TIME_FACTOR * self.seconds:.0f} s of the check were used up")
        if self._silent >= MAX_UNANSWERED_REQUESTS:
            raise ProbeUnanswered(f"{MAX_UNANSWERED_REQUESTS} requests in a row had no answer")

    def _failed(self, error: TransportError, recording: RecordingSink, seconds: float) -> ProbeResponse:
        """Return the incomplete response that had arrived when the exchange failed.

        Raises:
            ProbeUnanswered: If nothing had arrived.
        """
        late = error.kind == "total_timeout"
        answer = ProbeResponse(recording, late=late, broken=not late)
        self.late += late
        if answer.events:
            self._silent = 0
            return answer
        self._silent += 1
        if late:
            raise ProbeUnanswered(f"no answer within {seconds:g} s")
        explained = error_from_transport(error, self.client.target.base_url, answered_before=False)
        unreachable = explained if explained.systemic else None
        raise ProbeUnanswered(one_line(str(error), 120), broken=True, unreachable=unreachable)


def _pause(answer: ProbeResponse, usual: float) -> float:
    """Return how many seconds to wait before a retry at a busy server.

    This is the pause that the server asks for, or `usual` if it asks for none.

    Raises:
        ProbeUnanswered: If the server asks for too long a pause.
    """
    wanted = parse_retry_after(answer.headers.get("retry-after", ""))
    if wanted is not None and wanted > MAX_RETRY_PAUSE:
        raise ProbeUnanswered(f"the server asks for a pause of {wanted:.0f} s")
    return usual if wanted is None else wanted
