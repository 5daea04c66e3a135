"""Examination of an endpoint for its card (what it supports), with a client like that of a run."""

from __future__ import annotations

from collections.abc import Callable

from benchwright.app.endpoints import make_client
from benchwright.config import Settings
from benchwright.endpoint.access import Access
from benchwright.endpoint.card import REQUEST_SECONDS, Examination, Prober, run_probes
from benchwright.endpoint.client import EndpointClient
from benchwright.records import Target

MAX_CONCURRENT_REQUESTS = 4
"""Maximum number of concurrent requests of an examination."""


def prepare_examination(
    target: Target,
    access: Access,
    seconds: float = REQUEST_SECONDS,
    told: Callable[[int], None] = lambda sent: None,
) -> Examination:
    """Return an examination of an endpoint, ready to be carried out.

    `seconds`: maximum seconds for one request. `told`: callback that receives the number of requests so far, before
    each request.
    """
    client = make_client(target, access, Settings(), MAX_CONCURRENT_REQUESTS)
    assert isinstance(client, EndpointClient), "LiteLLM has no endpoint to examine"
    return Examination(Prober(client, seconds=seconds, told=told))


async def run_examination(known: Examination) -> None:
    """Run an examination completely, recording its findings in `known`, and close its connections."""
    try:
        await run_probes(known)
    finally:
        known.prober.client.close()
