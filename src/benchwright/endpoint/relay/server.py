"""The relay's server: its tokens and paths, the connections of each grant, and grants that several trials share."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay.grant import Grant, RelayedRequest
from benchwright.endpoint.relay.program_requests import RequestFacts
from benchwright.endpoint.relay.relayed_answer import RELAY_HEADERS, RelayedAnswer
from benchwright.endpoint.relay.routes import find_route
from benchwright.endpoint.relay.settings import RelaySettings
from benchwright.endpoint.relay.surrogate_repair import repair_surrogates
from benchwright.endpoint.request import RequestPurpose
from benchwright.endpoint.serving.connection import ServerConnection
from benchwright.endpoint.serving.http import HttpError, HttpRequest
from benchwright.endpoint.serving.listener import (
    LOOPBACK_HOST,
    base_url,
    listen,
    listen_on_unix_socket,
    start_server,
    stop_server,
)
from benchwright.records import DECODE_ERRORS


class _Body(msgspec.Struct):
    model: str


class SharedGrant:
    """Permission to use all models of the run (`names`) with one token (`token`).

    Containers have this token. Programs that open their own sockets use it, too. The request body names the
    model. Each request is recorded without a trial.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        clients: Mapping[str, EndpointClient],
        note: Callable[[RelayedRequest], None],
    ) -> None:
        self.base_url = base_url
        self.token = token
        self._grants = {
            name: Grant(base_url, token, client, _shared_settings(client), _purpose, note, lambda grant: None)
            for name, client in clients.items()
        }
        self.names = list(self._grants)

    def forward(self, path: str, request: HttpRequest, answer: RelayedAnswer) -> None:
        """Send a request to the model that its body names, and pass the response on to the program.

        Raises:
            HttpError: If the body is not a JSON object with the name of a model of the run.
        """
        try:
            model = msgspec.json.decode(request.body, type=_Body).model
        except DECODE_ERRORS as error:
            raise HttpError(400, f"The body is not a JSON object with a model: {error}") from None
        self.check_model_name(model)
        self._grants[model].forward(path, request, answer)

    def check_model_name(self, model: str) -> None:
        """Check that the run has the model, and refuse the request if not.

        Raises:
            HttpError: If the run does not have the model.
        """
        if model not in self._grants:
            raise HttpError(404, f"This run has no model {model!r}; see /v1/models.", "not_found_error")

    async def close(self) -> None:
        """End the requests in progress."""
        for grant in self._grants.values():
            await grant.close()


def _shared_settings(client: EndpointClient) -> RelaySettings:
    """Return the settings of a target for requests of a pack, which is a benchmark with a program of its own.

    The pack's own settings win, because they are part of its benchmark.
    """
    settings = client.target.settings
    return RelaySettings(settings, settings.keys())


def _purpose(asked: RequestFacts) -> RequestPurpose:
    return RequestPurpose(perf_counter_ns())


class Relay:
    """A relay on a free port of 127.0.0.1, for any number of trials. Use it as an async context manager.

    For containers, the relay also listens at the same port of another address of this machine (`also_at`), or
    at a Unix socket (`socket`). `keeps_idle`: True if one program runs many trials. Then an idle connection
    outlives the trial that used it last. If the relay closed it just as the program reuses it, the next trial
    would lose a request.

    Raises (on entering):
        UserError: If the relay cannot listen on a port.
    """

    headers = RELAY_HEADERS

    def __init__(
        self, *, also_at: str | None = None, socket: Path | None = None, keeps_idle: bool = False
    ) -> None:
        self.base_url = ""
        self._socket = socket
        self._also_at = also_at
        self._keeps_idle = keeps_idle
        self.connections: set[ServerConnection] = set()
        self._grants: dict[bytes, Grant | SharedGrant] = {}
        self._users: WeakKeyDictionary[ServerConnection, Grant | SharedGrant] = WeakKeyDictionary()
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> Relay:
        listener = listen(LOOPBACK_HOST, 0)
        self.base_url = base_url(listener)
        self._servers.append(await start_server(self, listener))
        if self._also_at is not None:
            also = listen(self._also_at, listener.getsockname()[1])
            self._servers.append(await start_server(self, also))
        if self._socket is not None:
            self._servers.append(await start_server(self, listen_on_unix_socket(self._socket)))
        return self

    async def __aexit__(self, *_: object) -> None:
        for grant in list(self._grants.values()):
            await grant.close()
        for server in self._servers:
            await stop_server(self, server)

    def open_grant(
        self,
        client: EndpointClient,
        settings: Mapping[str, Any],
        admit: Callable[[RequestFacts], RequestPurpose],
        note: Callable[[RelayedRequest], None],
        names: Sequence[str] = (),
    ) -> Grant:
        """Return a grant whose token allows requests to the client's target. The arguments are those of `Grant`."""
        token = _new_token()
        grant = Grant(
            self.base_url,
            token,
            client,
            RelaySettings(settings, client.added_settings),
            admit,
            note,
            self._withdraw,
            names,
        )
        self._grants[token.encode()] = grant
        return grant

    def open_shared_grant(
        self, clients: Mapping[str, EndpointClient], note: Callable[[RelayedRequest], None]
    ) -> SharedGrant:
        """Return a grant whose token allows requests to the targets of all these clients.

        `clients`: a mapping from the model's name to the model's client.
        """
        token = _new_token()
        grant = self._grants[token.encode()] = SharedGrant(self.base_url, token, clients, note)
        return grant

    def handle(self, connection: ServerConnection, request: HttpRequest) -> RelayedAnswer:
        """Start the response to a request, and return it."""
        answer = RelayedAnswer(connection, request)
        if request.method == b"HEAD":  # some clients check without a key whether the server is up
            answer.send_complete_response(b"")
            return answer
        try:
            grant = self._grant(request)
            self._users[connection] = grant
            route = find_route(repair_surrogates(request))
            if route.model is not None and isinstance(grant, SharedGrant):
                grant.check_model_name(route.model)
            if route.make_listing is not None:
                answer.send_complete_response(route.make_listing(grant.names))
            else:
                grant.forward(route.path, route.request, answer)
        except HttpError as refused:
            answer.send_error(refused)
        return answer

    def close(self) -> None:
        """Close every connection."""
        for connection in list(self.connections):
            connection.close()

    def _grant(self, request: HttpRequest) -> Grant | SharedGrant:
        grant = self._grants.get(request.api_key)
        if grant is None:
            raise HttpError(
                401, "The token is missing, wrong, or of a trial that has ended.", code="invalid_api_key"
            )
        return grant

    def _withdraw(self, grant: Grant) -> None:
        """Revoke the token of a grant. Close the connections that were last used with that token."""
        self._grants.pop(grant.token.encode(), None)
        for connection in list(self.connections):
            if self._users.get(connection) is grant and not (self._keeps_idle and connection.is_idle):
                connection.close()


def relay_environment(base_url: str, token: str, model: str | None) -> dict[str, str]:
    """Return the environment variables by which clients of all dialects find the relay.

    The variables hold the address, the token as the key, and the model if there is only one. Clients of
    OpenAI's dialects need the API version in the address. Clients of Messages and Gemini add the version
    themselves.
    """
    root_url = base_url.removesuffix("/v1")
    return {
        **({} if model is None else {"OPENAI_MODEL": model}),
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_BASE": base_url,
        "OPENAI_API_KEY": token,
        "ANTHROPIC_BASE_URL": root_url,
        "ANTHROPIC_API_KEY": token,
        "ANTHROPIC_AUTH_TOKEN": token,
        "GOOGLE_GEMINI_BASE_URL": root_url,
        "GEMINI_API_KEY": token,
    }


def _new_token() -> str:
    return f"benchwright-{secrets.token_urlsafe(24)}"
