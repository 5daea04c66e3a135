"""A token for all models of a run: for requests of which nobody can say to which trial they belong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns

import msgspec

from benchwright.endpoint.client import EndpointClient, Purpose
from benchwright.endpoint.relay.answer import RelayedAnswer
from benchwright.endpoint.relay.grant import Grant, RelayedRequest
from benchwright.endpoint.serving.http import HttpError, HttpRequest


class _Body(msgspec.Struct):
    model: str


class SharedGrant:
    """What a run's own `token` opens: all models of the run, found by the name in a request's body.

    Containers carry it, and whatever a program asks with sockets of its own. Each request is noted, and belongs
    to no trial.
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
            name: Grant(base_url, token, client, _purpose, note, lambda grant: None)
            for name, client in clients.items()
        }

    def models(self) -> bytes:
        """The answer of /models: the names under which the run's models can be asked."""
        listed = [
            {"id": name, "object": "model", "created": 0, "owned_by": "benchwright"} for name in self._grants
        ]
        return msgspec.json.encode({"object": "list", "data": listed})

    def pass_on(self, path: str, request: HttpRequest, answer: RelayedAnswer) -> None:
        """Asks the model that the body names, and has the answer passed on.

        Raises:
            Refused: the body is no JSON object that names a model of the run.
        """
        try:
            model = msgspec.json.decode(request.body, type=_Body).model
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise HttpError(400, f"The body is no JSON object with a model: {error}") from None
        grant = self._grants.get(model)
        if grant is None:
            raise HttpError(404, f"This run has no model {model!r}; see /v1/models.", "not_found_error")
        grant.pass_on(path, request, answer)

    async def close(self) -> None:
        """Ends what is under way."""
        for grant in self._grants.values():
            await grant.close()


def _purpose() -> Purpose:
    return Purpose(perf_counter_ns())
