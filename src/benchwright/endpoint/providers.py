"""Where the name of a model leads: to an OpenAI-compatible endpoint, or through LiteLLM to a provider."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Set
from typing import Any, Protocol

from msgspec.structs import replace

from benchwright.endpoint.access import NO_ACCESS, NO_KEY, Access
from benchwright.endpoint.address import parse_base_url, proxy_for
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.extras import NOTHING
from benchwright.endpoint.failures import NO_OPTIONS, RetryPolicy
from benchwright.endpoint.limits import Limits
from benchwright.endpoint.lite_llm import LITELLM, LiteLLMClient
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import Begin, at_once
from benchwright.endpoint.tls import NO_FILES, tls_context
from benchwright.environment_file import ENVIRONMENT_FILE
from benchwright.errors import UserError
from benchwright.records import RequestRecord, Target
from benchwright.secrets import SECRETS
from benchwright.text import Say

OPENAI = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"
AUTHORIZATION = "authorization"


class ModelClient(Protocol):
    """What speaks to one target; see `EndpointClient`."""

    @property
    def target(self) -> Target:
        """The model, its address and the settings of its requests."""
        ...

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        begin: Begin = at_once,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Asks, and asks again where that helps."""
        ...

    async def count_tokens(self, text: str) -> int | None:
        """The number of tokens of a text as the server counts them; None where it does not."""
        ...

    def hurry(self) -> None:
        """The run is to stop: requests that get nowhere end with `RunStopped` from now on."""
        ...

    def close(self) -> None:
        """Closes the connections."""
        ...


def find_target(
    model: str,
    base_url: str | None,
    slot: str = "primary",
    settings: Mapping[str, Any] | None = None,
    access: Access = NO_ACCESS,
) -> Target:
    """The target that a model's name and an address mean. Headers that may be shown are a part of it.

    At a given address the model goes by the name as it was typed. Without one, bare names and `openai/…` are
    asked at OPENAI_BASE_URL or at OpenAI, and for other providers LiteLLM knows the way.

    Raises:
        UserError: the name is empty, or the address is none.
    """
    if not model.strip():
        raise UserError("Model cannot be empty. Pass a value with --model.")
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    if not base_url:
        provider, _, name = model.partition("/") if "/" in model else ("openai", "", model)
        if provider != "openai":
            return Target(slot, model, LITELLM, given, access.plain_headers)
        base_url, model = os.environ.get("OPENAI_BASE_URL") or OPENAI, name
    parse_base_url(base_url)
    return Target(slot, model, base_url.rstrip("/"), given, access.plain_headers)


def find_access(given: Access, target: Target, say: Say) -> Access:
    """The access to a target, with the key that is sent; None for a server that wants none, and if LiteLLM finds it.

    The key is the one given, else that of BENCHWRIGHT_API_KEY, OPENAI_API_KEY or LITELLM_API_KEY. One line says
    to which host one of the last two goes, unless that is OpenAI or this machine. With a header `Authorization` of the
    user's no key is looked for.

    Raises:
        UserError: No HTTP header can carry the key, OpenAI is to be asked without one, the address comes from a
            `.env` file and the key or a header does not, or a file for TLS cannot be used.
    """
    if given.tls != NO_FILES:
        tls_context(given.tls)
    if target.base_url == LITELLM:
        if given.tls != NO_FILES:
            raise UserError(
                f"The model {target.model!r} is reached through LiteLLM, which takes no files for TLS: "
                "give the address of an OpenAI-compatible endpoint with --base-url."
            )
        SECRETS.add(given.key)
        return given
    is_openai = parse_base_url(target.base_url).host == OPENAI_HOST
    secrets = [header.value for header in given.headers if header.secret]
    key = None if AUTHORIZATION in given.header_names else _find_key(given.key, target, say)
    if not is_openai:
        for secret in filter(None, (key, *secrets)):
            ENVIRONMENT_FILE.check_address(target.base_url, secret)
    return replace(given, key=key)


def _find_key(given: str | None, target: Target, say: Say) -> str | None:
    address = parse_base_url(target.base_url)
    key = given or os.environ.get("BENCHWRIGHT_API_KEY")
    if not key:
        name = next((name for name in ("OPENAI_API_KEY", "LITELLM_API_KEY") if os.environ.get(name)), None)
        key = os.environ[name] if name is not None else None
        if name is not None and not address.is_this_machine and address.host != OPENAI_HOST:
            say(f"Sending {name} to {address.host}; give another key, or EMPTY, with --api-key.")
    if not key or key == NO_KEY:
        if address.host == OPENAI_HOST:
            raise UserError(
                "Missing API key for provider 'openai'. "
                "Set OPENAI_API_KEY or LITELLM_API_KEY, or pass --api-key."
            )
        return None
    if not key.isascii() or not key.isprintable():
        raise UserError(
            "The API key contains characters that are invalid in an HTTP header; check how it was copied."
        )
    SECRETS.add(key)
    return key


def connect(
    target: Target,
    access: Access = NO_ACCESS,
    *,
    connections: int = 8,
    stream: bool = True,
    limits: Limits | None = None,
    retry: RetryPolicy | None = None,
    hints: Mapping[str, str] = NO_OPTIONS,
    added: Set[str] = NOTHING,
) -> ModelClient:
    """A client of a target. `hints` say by the names of body fields what to do if the server refuses one.

    `added` are settings of the target that nobody asked for: if refused they are left out.

    Raises:
        UserError: the proxy that the environment names cannot be used.
    """
    if target.base_url == LITELLM:
        return LiteLLMClient(target, access, retry, (limits or Limits()).total, added)
    return EndpointClient(
        target,
        access=access,
        connections=connections,
        stream=stream,
        limits=limits,
        retry=retry,
        proxy=proxy_for(parse_base_url(target.base_url), os.environ),
        hints=hints,
        added=added,
    )


def check_target(target: Target, access: Access = NO_ACCESS) -> None:
    """Checks what can be known of a target before it is asked for the first time.

    Raises:
        UserError: LiteLLM does not know the provider, or has no key for it.
        ProviderError: LiteLLM is needed and not installed.
    """
    if target.base_url == LITELLM:
        LiteLLMClient(target, access).check()
