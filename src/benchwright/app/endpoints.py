"""From a model's name and the user's settings to a target, a key and a client."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from benchwright.config import Settings
from benchwright.endpoint.address import parse_base_url, proxy_for
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.retry import RetryPolicy
from benchwright.endpoint.wire import Limits
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.secrets import SECRETS

OPENAI = "https://api.openai.com/v1"


def load_dotenv(environ: dict[str, str] | os._Environ[str] = os.environ) -> None:
    """Adds what a `.env` file in the working directory or above it says; the environment itself wins."""
    from dotenv import dotenv_values, find_dotenv

    path = find_dotenv(usecwd=True)
    if path:
        for name, value in dotenv_values(path).items():
            if value is not None:
                environ.setdefault(name, value)


def make_target(slot: str, model: str, base_url: str | None, settings: Mapping[str, Any]) -> Target:
    """The target for a model. With a base URL the name goes on the wire as typed.

    Without one, bare names and `openai/…` are asked at OPENAI_BASE_URL or OpenAI.

    Raises:
        UserError: the URL is none, or the name belongs to a provider that needs one.
    """
    if not model.strip():
        raise UserError("--model is empty; give the name that the endpoint serves.")
    if base_url is None:
        provider, _, name = model.rpartition("/")
        if provider not in ("", "openai"):
            raise UserError(
                f"The model {model!r} belongs to the provider {provider!r}: give its address by --base-url."
            )
        base_url, model = os.environ.get("OPENAI_BASE_URL") or OPENAI, name
    parse_base_url(base_url)
    return Target(
        slot,
        model,
        base_url.rstrip("/"),
        {key: value for key, value in settings.items() if value is not None},
    )


def resolve_key(given: str | None, target: Target, say: Callable[[str], None]) -> str | None:
    """The key for a target: the option, BENCHWRIGHT_API_KEY, OPENAI_API_KEY; None for a server without any.

    Says to which host OPENAI_API_KEY goes where that is neither OpenAI nor this machine.
    """
    key = given or os.environ.get("BENCHWRIGHT_API_KEY")
    if not key and (key := os.environ.get("OPENAI_API_KEY")):
        address = parse_base_url(target.base_url)
        if not address.is_this_machine and address.host != "api.openai.com":
            say(f"Sending OPENAI_API_KEY to {address.host}; give another key, or EMPTY, by --api-key.")
    if not key or key == "EMPTY":
        if parse_base_url(target.base_url).host == "api.openai.com":
            raise UserError(
                "Missing API key for OpenAI. Set OPENAI_API_KEY, or pass --api-key or --base-url."
            )
        return None
    if not key.isascii() or not key.isprintable():
        raise UserError(
            "The API key holds characters that no HTTP header can carry; check how it was copied."
        )
    SECRETS.add(key)
    return key


def make_client(target: Target, key: str | None, settings: Settings) -> EndpointClient:
    """A client for a target, its connections bounded by the concurrency."""
    return EndpointClient(
        target,
        key=key,
        connections=settings.concurrency,
        stream=settings.stream,
        limits=Limits(read=settings.timeout, stall=min(settings.timeout, Limits().stall)),
        retry=RetryPolicy(retries=settings.retries),
        proxy=proxy_for(parse_base_url(target.base_url), os.environ),
    )
