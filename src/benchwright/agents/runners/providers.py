"""Where the name of a model leads: to an OpenAI-compatible endpoint, or through LiteLLM to a provider."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from benchwright.agents.runners.lite_llm import LiteLLMClient
from benchwright.endpoint.address import parse_base_url, proxy_for
from benchwright.endpoint.client import NO_PURPOSE, EndpointClient, Purpose
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.retry import RetryPolicy
from benchwright.errors import UserError
from benchwright.records import RequestRecord, Target
from benchwright.secrets import SECRETS

logger = logging.getLogger(__name__)

OPENAI = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"


class ModelClient(Protocol):
    """What speaks to one model; see `EndpointClient.ask`."""

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        purpose: Purpose = NO_PURPOSE,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Asks once."""
        ...

    def close(self) -> None:
        """Closes the connections."""
        ...


def qualified_name(model: str, api_base: str | None) -> str:
    """The name of a model with its provider in front.

    Whatever is served at a given address counts as `openai/…`, and so does a name without any provider.
    """
    qualified = model.startswith("openai/") if api_base else "/" in model
    return model if qualified else f"openai/{model}"


def find_target(model: str, api_base: str | None) -> Target | None:
    """The endpoint that serves a model, None where LiteLLM knows the way.

    At a given address the model goes by the name as it was typed. Without one, bare names and `openai/…` are
    asked at OPENAI_BASE_URL or at OpenAI.

    Raises:
        UserError: the address is none.
    """
    if not api_base:
        provider, _, name = qualified_name(model, None).partition("/")
        if provider != "openai":
            return None
        api_base, model = os.environ.get("OPENAI_BASE_URL") or OPENAI, name
    parse_base_url(api_base)
    return Target("primary", model, api_base.rstrip("/"))


def connect(model: str, target: Target | None, api_key: str | None) -> ModelClient:
    """A client of the model: one request per call, answered whole, not tried again.

    Raises:
        UserError: the key, or the proxy that the environment names, cannot be used.
    """
    if target is None:
        SECRETS.add(api_key)
        return LiteLLMClient(model, api_key)
    return EndpointClient(
        target,
        key=find_key(api_key, target),
        stream=False,
        retry=RetryPolicy(retries=0),
        proxy=proxy_for(parse_base_url(target.base_url), os.environ),
    )


def find_key(given: str | None, target: Target) -> str | None:
    """The key for an endpoint; None for a server that wants none.

    It is the one given, else that of BENCHWRIGHT_API_KEY, OPENAI_API_KEY or LITELLM_API_KEY. A warning says
    to which host one of the last two goes where that is neither OpenAI nor this machine.

    Raises:
        UserError: no HTTP header can carry the key.
    """
    key = given or os.environ.get("BENCHWRIGHT_API_KEY")
    if not key:
        name = next((name for name in ("OPENAI_API_KEY", "LITELLM_API_KEY") if os.environ.get(name)), None)
        if name is None:
            return None
        key = os.environ[name]
        address = parse_base_url(target.base_url)
        if not address.is_this_machine and address.host != OPENAI_HOST:
            logger.warning("sending %s to %s; api_key='EMPTY' sends none", name, address.host)
    if not key.isascii() or not key.isprintable():
        raise UserError(
            "The API key holds characters that no HTTP header can carry; check how it was copied."
        )
    SECRETS.add(key)
    return key


def check_model(model: str, api_key: str | None, api_base: str | None) -> None:
    """Checks what can be known of a model before it is asked for the first time.

    Raises:
        UserError: the name is empty, its provider unknown, the address none, or the key missing.
        SystemicProviderError: the provider needs LiteLLM, which is not installed.
    """
    if not model.strip():
        raise UserError("Model cannot be empty. Pass a value with --model.")
    target = find_target(model, api_base)
    if target is None:
        LiteLLMClient(model, api_key).check()
    elif parse_base_url(target.base_url).host == OPENAI_HOST and find_key(api_key, target) is None:
        raise UserError(
            "Missing API key for provider 'openai'. Set OPENAI_API_KEY or LITELLM_API_KEY, or pass --api-key."
        )
