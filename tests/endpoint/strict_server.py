"""Servers that refuse what others take."""

from __future__ import annotations

from collections.abc import Callable

from tests.endpoint.http_kit import HELLO, STREAMED_HELLO, answer, error_answer
from tests.endpoint.scripted_server import AGAIN, ASKED, Request, ScriptedServer, Serve

OWN = frozenset({"seed"})
"""Settings that nobody asked for, as the tests give them to clients."""

NO_WORD = answer(status="400 Bad Request")

Rule = Callable[[Request], bytes | None]
"""The refusal of a request, None if it is taken."""


def hello(request: Request) -> bytes:
    """A greeting as it was asked for."""
    return STREAMED_HELLO if request.json.get("stream") else HELLO


def refuses(name: str, said: str, status: str = "400 Bad Request") -> Rule:
    """Refuses a field, in these words."""
    return lambda request: error_answer(status, said) if name in request.json else None


def silently(name: str) -> Rule:
    """Refuses a field or a header without a word."""
    return lambda request: NO_WORD if name in request.json or name.lower() in request.headers else None


async def strict(serve: Serve, *rules: Rule) -> ScriptedServer:
    """A server that refuses by these rules, and greets whoever keeps them."""

    def answering(request: Request) -> bytes:
        refusals = (rule(request) for rule in rules)
        return next((refusal for refusal in refusals if refusal is not None), None) or hello(request)

    return await serve([ASKED, answering, AGAIN])
