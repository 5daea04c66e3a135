"""A grant: one trial's permission to ask its target through the relay, until it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from benchwright.endpoint.client import EndpointClient, Purpose
from benchwright.endpoint.rate_limits import LIMITING
from benchwright.endpoint.relay.answer import RelayedAnswer
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.serving.http import HttpError, HttpRequest
from benchwright.errors import LimitReached, ProviderError
from benchwright.records import UNREADABLE, Record, RequestRecord

LABEL = b"x-irid"
"""A header in which a program says how it calls a request in its own log."""

GRACE_SECONDS = 1.0
"""How long an answer that is all there may take to end when its grant is closed."""


class RelayedRequest(Record, frozen=True):
    """A request that went through the relay: the body as the target got it, and what came of it.

    Without a `reply`, `error` says why; neither is there where whoever asked went away. `label` is what the program
    calls the request by (the header `x-irid` of Inspect), empty where it does not.
    """

    path: str
    body: bytes
    record: RequestRecord
    reply: Reply | None = None
    error: ProviderError | None = None
    label: str = ""


class Grant:
    """What `token` opens. A request gets the `settings` whose fields it does not have.

    `admit` is asked before each request, and raises LimitReached to refuse it; `note` is told of each that has ended.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        client: EndpointClient,
        settings: Mapping[str, Any],
        admit: Callable[[], Purpose],
        note: Callable[[RelayedRequest], None],
        withdraw: Callable[[Grant], None],
    ) -> None:
        self.base_url = base_url
        self.token = token
        self.model = client.target.model
        self._client = client
        self._settings = settings
        self._admit = admit
        self._note = note
        self._withdraw = withdraw
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return bool(self._tasks)

    async def close(self) -> None:
        """Refuses the token from now on, and ends what is under way; returns when all is noted."""
        await asyncio.sleep(0)  # answers whose last byte is here become whole
        self._withdraw(self)
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def models(self) -> bytes:
        """The answer of /models: the one model there is."""
        about = {"id": self.model, "object": "model", "created": 0, "owned_by": "benchwright"}
        return msgspec.json.encode({"object": "list", "data": [about]})

    def pass_on(self, path: str, request: HttpRequest, answer: RelayedAnswer) -> None:
        """Asks the target, and has the answer passed on.

        Raises:
            Refused: the body is no JSON object, or a limit of the trial is reached.
        """
        body = body_for(self.model, self._settings, request.body)
        try:
            purpose = self._admit()
        except LimitReached as limit:
            raise HttpError(400, f"{limit}.", "limit_reached", code=limit.limit) from None
        label = request.headers.get(LABEL, b"").decode("latin-1")
        answer.task = asyncio.get_running_loop().create_task(self._ask(path, body, purpose, answer, label))
        self._tasks.add(answer.task)
        answer.task.add_done_callback(self._tasks.discard)

    async def _ask(self, path: str, body: bytes, purpose: Purpose, answer: RelayedAnswer, label: str) -> None:
        records: list[RequestRecord] = []
        reply, error = None, None
        try:
            reply = await self._client.forward(path, body, answer.tee, purpose, records.append)
        except ProviderError as failure:
            error = failure
            status = failure.http_status if failure.http_status in LIMITING else 502
            answer.refuse(HttpError(status or 502, str(failure), "upstream_error"))
        finally:
            answer.refuse(HttpError(500, "The relay failed.", "server_error"))
            for record in records:
                self._note(RelayedRequest(path, body, record, reply, error, label))


_ALSO_CALLED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def body_for(model: str, settings: Mapping[str, Any], body: bytes) -> bytes:
    """The body as the target gets it.

    Its model is the target's; a setting is added unless the request has the field, or its other name. The values
    of all fields stay as they are, byte for byte: only the outermost object is taken apart.

    Raises:
        Refused: it is no JSON object.
    """
    try:
        fields: dict[str, Any] = _decode(body)
    except UNREADABLE as error:
        raise HttpError(400, f"The body is not a JSON object: {error}") from None
    for name, value in settings.items():
        if name not in fields and _ALSO_CALLED.get(name) not in fields:
            fields[name] = value
    fields["model"] = model
    return _encode(fields)
