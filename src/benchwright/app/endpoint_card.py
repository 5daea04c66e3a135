"""The card of an endpoint, found out over a client as runs have it."""

from __future__ import annotations

from collections.abc import Callable

from benchwright.app.endpoints import make_client
from benchwright.config import Settings
from benchwright.endpoint.access import Access
from benchwright.endpoint.card import REQUEST_SECONDS, Examination, Prober, examine
from benchwright.endpoint.client import EndpointClient
from benchwright.records import Target

AT_ONCE = 4
"""Requests that the examination has under way at most."""


def examination_of(
    target: Target,
    access: Access,
    seconds: float = REQUEST_SECONDS,
    told: Callable[[int], None] = lambda sent: None,
) -> Examination:
    """Returns an examination that has not begun; `told` is called before each request with their number."""
    client = make_client(target, access, Settings(), AT_ONCE)
    assert isinstance(client, EndpointClient), "LiteLLM has no endpoint to examine"
    return Examination(Prober(client, seconds=seconds, told=told))


async def carry_out(known: Examination) -> None:
    """Lets an examination find out all that it can, and closes its connections."""
    try:
        await examine(known)
    finally:
        known.prober.client.close()
