"""From a model's name and the user's settings to a target, a key and a client."""

from __future__ import annotations

import os

from benchwright.config import Settings
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.providers import ModelClient, connect
from benchwright.endpoint.wire import Limits
from benchwright.records import Target


def load_dotenv(environ: dict[str, str] | os._Environ[str] = os.environ) -> None:
    """Adds what a `.env` file in the working directory or above it says; the environment itself wins."""
    from dotenv import dotenv_values, find_dotenv

    path = find_dotenv(usecwd=True)
    if path:
        for name, value in dotenv_values(path).items():
            if value is not None:
                environ.setdefault(name, value)


def make_client(target: Target, key: str | None, settings: Settings, connections: int) -> ModelClient:
    """A client for a target, of so many connections at most."""
    return connect(
        target,
        key,
        connections=connections,
        stream=settings.stream,
        limits=Limits(read=settings.timeout, stall=min(settings.timeout, Limits().stall)),
        retry=RetryPolicy(retries=settings.retries),
    )
