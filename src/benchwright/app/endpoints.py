"""From a target, the access to it and the user's settings to a client."""

from __future__ import annotations

from benchwright.app.thinking import hints_of_refusals
from benchwright.config import Settings
from benchwright.endpoint.access import Access
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.limits import Limits
from benchwright.endpoint.providers import ModelClient, connect
from benchwright.records import Target


def make_client(target: Target, access: Access, settings: Settings, connections: int) -> ModelClient:
    """A client for a target, of so many connections at most."""
    return connect(
        target,
        access,
        connections=connections,
        stream=settings.stream,
        limits=Limits(
            read=settings.timeout,
            stall=min(settings.timeout, Limits().stall),
            total=settings.request_seconds,
            size=settings.answer_mb * 2**20,
        ),
        retry=RetryPolicy(retries=settings.retries, longest_wait=settings.max_wait),
        hints=hints_of_refusals(settings, target),
    )
