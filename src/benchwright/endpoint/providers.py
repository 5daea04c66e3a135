"""Target, credentials and client for a model, found by the model's name.

The model is served by an OpenAI-compatible endpoint, or by a provider through LiteLLM.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Set
from typing import Any, Protocol

from msgspec.structs import replace

from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.address import find_proxy, parse_base_url
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.credentials import OPENAI_HOST, find_key
from benchwright.endpoint.default_server import OPENAI_URL, default_server
from benchwright.endpoint.failures import NO_HINTS, RetryPolicy
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL, LiteLLMClient
from benchwright.endpoint.optional_parts import NO_NAMES
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import BeginCallback, begin_immediately
from benchwright.endpoint.timeouts import Timeouts
from benchwright.endpoint.tls import NO_TLS_FILES, tls_context
from benchwright.environment_file import ENVIRONMENT_FILE
from benchwright.errors import UserError
from benchwright.records import RequestRecord, Target
from benchwright.secrets import SECRETS
from benchwright.text import Say

AUTHORIZATION_HEADER = "authorization"


class ModelClient(Protocol):
    """Client of one target: `EndpointClient`, or `LiteLLMClient` for other providers."""

    @property
    def target(self) -> Target:
        """The target: the model, its address, and the settings of requests."""
        ...

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        begin: BeginCallback = begin_immediately,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Send a request and return the response. Retry the request if that can help."""
        ...

    async def count_tokens(self, text: str) -> int | None:
        """Return the number of tokens of a text as the server counts them. Return None if the server does not count."""
        ...

    def stop_waiting(self) -> None:
        """Let requests that make no progress fail with `RunStopped` from now on, because the run is stopping."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


def find_target(
    model: str,
    base_url: str | None,
    slot: str = "primary",
    settings: Mapping[str, Any] | None = None,
    access: Access = ANONYMOUS_ACCESS,
) -> Target:
    """Return the target for a model's name and a base URL.

    The user's headers that are not secret are part of the target.

    With a base URL the model's name is used as typed. Without a base URL, bare names and `openai/…` are
    requested from OPENAI_BASE_URL or OpenAI, and models of other providers through LiteLLM.

    Raises:
        UserError: If the name is empty, or the base URL is invalid.
    """
    if not model.strip():
        raise UserError("Model cannot be empty. Pass a value with --model.")
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    if not base_url:
        provider, _, name = model.partition("/") if "/" in model else ("openai", "", model)
        if provider != "openai":
            return Target(slot, model, LITELLM_BASE_URL, given, access.plain_headers)
        base_url, model = default_server(OPENAI_URL).base_url, name
    parse_base_url(base_url)
    return Target(slot, model, base_url.rstrip("/"), given, access.plain_headers)


def find_access(given: Access, target: Target, say: Say) -> Access:
    """Return `given`, completed by the key to send to a target.

    The key is the user's, else the value of BENCHWRIGHT_API_KEY, OPENAI_API_KEY or LITELLM_API_KEY. The key
    is None if the server needs none, or if LiteLLM finds it. A message names the host to which one of the
    last two keys is sent, unless the host is OpenAI's or this machine. If the user sets a header
    `Authorization`, no key is looked up.

    Raises:
        UserError: If the key is invalid in an HTTP header; if OpenAI would be asked without a key; if the
            address comes from a `.env` file and the key or a header does not; or if a file for TLS cannot be
            used.
    """
    if given.tls != NO_TLS_FILES:
        tls_context(given.tls)
    if target.base_url == LITELLM_BASE_URL:
        if given.tls != NO_TLS_FILES:
            raise UserError(
                f"The model {target.model!r} is reached through LiteLLM, which takes no files for TLS: "
                "give the address of an OpenAI-compatible endpoint with --base-url."
            )
        SECRETS.add(given.api_key)
        return given
    is_openai = parse_base_url(target.base_url).host == OPENAI_HOST
    secrets = [header.value for header in given.headers if header.is_secret]
    key = (
        None
        if AUTHORIZATION_HEADER in given.header_names
        else find_key(given.api_key, parse_base_url(target.base_url), say)
    )
    if not is_openai:
        for secret in filter(None, (key, *secrets)):
            ENVIRONMENT_FILE.check_address(target.base_url, secret)
    return replace(given, api_key=key)


def connect_client(
    target: Target,
    access: Access = ANONYMOUS_ACCESS,
    *,
    connections: int = 8,
    stream: bool = True,
    limits: Timeouts | None = None,
    retry: RetryPolicy | None = None,
    hints: Mapping[str, str] = NO_HINTS,
    added: Set[str] = NO_NAMES,
) -> ModelClient:
    """Return a client of a target.

    `hints`: a mapping from names of body fields to advice, which is given if the server refuses the field.
    `added`: settings of the target that the user did not ask for. They are left out if the server refuses
    them.

    Raises:
        UserError: If the proxy that the environment sets cannot be used.
    """
    if target.base_url == LITELLM_BASE_URL:
        return LiteLLMClient(target, access, retry, (limits or Timeouts()).total_seconds, added)
    return EndpointClient(
        target,
        access=access,
        connections=connections,
        stream=stream,
        limits=limits,
        retry=retry,
        proxy=find_proxy(parse_base_url(target.base_url), os.environ),
        hints=hints,
        added=added,
    )


def check_target(target: Target, access: Access = ANONYMOUS_ACCESS) -> None:
    """Check a target as far as possible without a request.

    Raises:
        UserError: If LiteLLM does not know the provider, or has no key for the provider.
        ProviderError: If LiteLLM is needed and not installed.
    """
    if target.base_url == LITELLM_BASE_URL:
        LiteLLMClient(target, access).check_provider()
