"""An agent as the relay sees it: one that has a token, sends bytes, and reads bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.endpoint.http_kit import Collected

from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay, RelayedRequest, RequestFacts
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import RequestPurpose
from benchwright.endpoint.transport import ConnectionPool, PreparedRequest
from benchwright.errors import LimitReached
from benchwright.records import RequestRecord

CHAT = "/chat/completions"
HI = {"model": "whatever", "messages": [{"role": "user", "content": "Hi"}]}


class Agent:
    """Asks through the relay with the token of a grant; `relayed` is what the grant's owner was told."""

    def __init__(self, relay: Relay, client: EndpointClient, turns: int | None = None) -> None:
        self.relayed: list[RelayedRequest] = []
        self._relay = relay
        self._client = client
        self.grant = relay.open_grant(client, client.target.settings, self._admit, self.relayed.append)
        self.token = self.grant.token
        self.port = parse_base_url(relay.base_url).port
        self._turns = turns
        self._admitted = 0
        self._pool = ConnectionPool(parse_base_url(relay.base_url), connections=64)

    def _admit(self, asked: RequestFacts) -> RequestPurpose:
        if self._turns is not None and self._admitted >= self._turns:
            raise LimitReached("turns", self._turns)
        self._admitted += 1
        return RequestPurpose(turn=self._admitted - 1)

    def share(self, note: Callable[[RelayedRequest], None]) -> str:
        """A token that opens the model by its name."""
        return self._relay.open_shared_grant({self._client.target.model: self._client}, note).token

    async def leave(self) -> None:
        self._pool.close()
        await self.grant.close()

    @property
    def record(self) -> RequestRecord:
        """The record of the only request."""
        (relayed,) = self.relayed
        return relayed.record

    @property
    def replies(self) -> list[Reply]:
        """What the relay read from the answers."""
        return [relayed.reply for relayed in self.relayed if relayed.reply is not None]

    @property
    def error(self) -> str:
        """How the only request failed."""
        assert self.record.error is not None
        return self.record.error

    def request(
        self,
        body: Any = HI,
        *headers: str,
        path: str = f"/v1{CHAT}",
        method: str = "POST",
        version: str = "1.1",
        token: str | None = None,
    ) -> PreparedRequest:
        """A request with the grant's token; `body` is sent as it is, or as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        shown = self.token if token is None else token
        lines = [f"{method} {path} HTTP/{version}", "Host: relay", f"Authorization: Bearer {shown}"]
        head = "\r\n".join([*lines, *headers, f"Content-Length: {len(content)}", "", ""])
        return PreparedRequest(head.encode(), content)

    async def ask(self, *arguments: Any, **options: Any) -> Collected:
        """Sends a request and reads its answer; see `request`."""
        sink = Collected()
        await self._pool.send(self.request(*arguments, **options), sink)
        return sink


LetIn = Callable[..., Agent]
"""Opens the relay to an agent, given a client and how many turns it has; the fixture `let_in`."""


def error_in(answer: Collected) -> dict[str, Any]:
    """The error object of an answer in OpenAI's shape."""
    error: dict[str, Any] = json.loads(answer.body)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error
