"""Client for models of providers other than OpenAI, through LiteLLM (an extra, imported at the first request)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Set
from functools import partial
from importlib import import_module
from time import perf_counter_ns
from types import ModuleType
from typing import Any

import msgspec

from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.failures import (
    CLIENT_DISCONNECTED_ERROR,
    OPTIONS_BY_LIMIT,
    TRANSIENT_STATUSES,
    RetryPolicy,
    is_overload,
)
from benchwright.endpoint.flags import LEFT_OUT_PREFIX, RESENT_WITHOUT_PART_FLAG
from benchwright.endpoint.meter import AnswerMeter, BadAnswer
from benchwright.endpoint.optional_parts import NO_NAMES, RENAMED_FIELDS, RefusedParts, omit_fields
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import BeginCallback, begin_immediately
from benchwright.endpoint.response_flags import flags_of_text
from benchwright.endpoint.timeouts import Timeouts
from benchwright.errors import ProviderError, UserError
from benchwright.optional_libraries import importing
from benchwright.records import SIMULATED_FLAG, RequestRecord, Target
from benchwright.text import one_line

LITELLM_BASE_URL = "litellm"
"""Base URL of targets that are reached through LiteLLM."""

SYSTEMIC_STATUSES = frozenset({401, 402, 403, 404})
SYSTEMIC_ERRORS = frozenset({"APIConnectionError", "BudgetExceededError", "ConnectError"})
MAX_DETAIL_LENGTH = 200


class LiteLLMClient:
    """Client of one model (`provider/name`) through LiteLLM. The client has the interface of `EndpointClient`.

    Responses are not streamed. Timings cover the whole call, including LiteLLM's own work before and after
    the request. `seconds`: the time limit for all attempts at a request together.
    """

    def __init__(
        self,
        target: Target,
        access: Access = ANONYMOUS_ACCESS,
        retry: RetryPolicy | None = None,
        seconds: float = Timeouts().total_seconds,
        added: Set[str] = NO_NAMES,
    ) -> None:
        self.target = target
        self.model = target.model
        self._api_key = access.api_key
        self._headers = {header.name: header.value for header in access.headers}
        self._retry = retry or RetryPolicy()
        self._seconds = seconds
        self._refused_parts = RefusedParts(added)
        self._requests = 0
        self.on_overload: Callable[[int], None] = lambda attempt: None
        """Callback, called with the number of the attempt if the server seems overloaded. Other objects set it."""

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        begin: BeginCallback = begin_immediately,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Send a request and return the response, as `EndpointClient.ask` does.

        The only possible path is `/chat/completions`.

        Raises:
            ProviderError: If no usable response came, or LiteLLM is not installed.
        """
        litellm = self._import()
        if path != "/chat/completions":
            raise ProviderError(f"LiteLLM cannot ask {self.model} at {path}, only for chat.", systemic=True)
        fields = {**self.target.settings, **body}
        fields = {name: value for name, value in fields.items() if value is not None}
        self._requests += 1
        identity, attempt, left_out = f"litellm-{self._requests}", 0, self._refused_parts.left_out
        known = left_out
        purpose, asked = await begin(), perf_counter_ns()
        try:
            while True:
                attempt += 1
                started = perf_counter_ns()
                record = RequestRecord(
                    id=identity,
                    role=purpose.role,
                    slot=self.target.slot,
                    turn=purpose.turn,
                    started=started - purpose.trial_started_at if purpose.trial_started_at else 0,
                    waited=started - asked,
                    attempts=attempt,
                    seed=None if "seed" in left_out else purpose.seed,
                    flags=_flags(left_out, known),
                )
                try:
                    async with asyncio.timeout(self._seconds - (started - asked) / 1e9):
                        answer = await litellm.acompletion(
                            **omit_fields(fields, left_out), **self._way(litellm)
                        )
                    reply, flags = _read(answer)
                except Exception as failure:
                    error = _explain(failure, self.model)
                    narrowed = self._narrowed(left_out, fields, error, failure)
                    if narrowed is not None:
                        left_out, attempt = narrowed, attempt - 1
                        continue
                    if (perf_counter_ns() - asked) / 1e9 >= self._seconds:
                        error = self._too_slow()
                    if is_overload(error):
                        self.on_overload(attempt)
                    delay = self._retry.delay(error, attempt)
                    if delay is None:
                        if note is not None:
                            note(_ended(record, started, error=str(error), http_status=error.http_status))
                        raise error from failure
                    await asyncio.sleep(delay)
                    continue
                break
        except asyncio.CancelledError:
            if note is not None:
                note(_ended(record, started, error=str(CLIENT_DISCONNECTED_ERROR)))
            raise
        self._refused_parts.record_success(left_out)
        if purpose.offered_tools is not None:
            flags += flags_of_text(reply, purpose.offered_tools)
        told = {
            "usage": reply.usage,
            "finish_reason": reply.finish_reason,
            "http_status": 200,
            "flags": [*record.flags, *flags],
        }
        reply.record = _ended(record, started, **told)
        if note is not None:
            note(reply.record)
        return reply

    def _way(self, litellm: ModuleType) -> dict[str, Any]:
        """Return the arguments of a LiteLLM call for the provider: model, key, headers, and no retries."""
        headers = {"extra_headers": self._headers} if self._headers else {}
        return {"model": self.model, "api_key": self._key(litellm), "max_retries": 0, **headers}

    def _narrowed(
        self, left_out: frozenset[str], fields: Mapping[str, Any], error: ProviderError, failure: Exception
    ) -> frozenset[str] | None:
        """Return the fields to leave out of the next attempt at a refused request.

        Return None if the refusal has another cause. A field that LiteLLM itself renames for a provider is
        never left out.
        """
        carried = (
            self._refused_parts.optional_parts(fields, stream=False, sends_id=False) - RENAMED_FIELDS.keys()
        )
        said = str(failure).encode("utf-8", "replace")
        return self._refused_parts.parts_to_omit(left_out, carried, error.http_status or 0, said, str(error))

    def _too_slow(self) -> ProviderError:
        limit = f"{self._seconds:g} s ({OPTIONS_BY_LIMIT['total_timeout']} sets the limit)"
        return ProviderError(f"{self.model}: the answer did not end within {limit}")

    async def count_tokens(self, text: str) -> int | None:
        """Return None, because providers have no common way to count tokens."""
        return None

    def stop_waiting(self) -> None:
        """Do nothing, because the progress of a response is unknown until it is complete."""

    def close(self) -> None:
        """Do nothing, because all callers of LiteLLM share its connections."""

    def check_provider(self) -> None:
        """Check that LiteLLM knows the provider, and that the provider's key is set. No request is sent.

        Raises:
            UserError: If no such provider is known, or the provider's key is missing.
            ProviderError: If LiteLLM is not installed.
        """
        litellm = self._import()
        try:
            _, provider, *_ = litellm.get_llm_provider(model=self.model)
        except Exception as error:
            raise UserError(
                "Invalid LiteLLM model format. Use 'provider/model' (for example: openai/gpt-5-mini). "
                f"Received model='{self.model}'. Details: {_first_line(error)}"
            ) from None
        missing = self._missing_keys(litellm)
        if missing and self._key(litellm) is None:
            raise UserError(
                f"Missing API key for provider '{provider}'. "
                f"Set {' and '.join(missing)} or LITELLM_API_KEY, or pass --api-key."
            )

    def _key(self, litellm: ModuleType) -> str | None:
        """Return the key to pass to LiteLLM.

        This is the user's key if there is one. Otherwise it is the value of LITELLM_API_KEY if the provider's
        own variable is not set. Return None if that variable is set: LiteLLM then reads it itself. Return
        None, too, if LITELLM_API_KEY is not set.
        """
        if self._api_key is None and self._missing_keys(litellm):
            return os.environ.get("LITELLM_API_KEY")
        return self._api_key

    def _missing_keys(self, litellm: ModuleType) -> list[str]:
        missing: list[str] = litellm.validate_environment(self.model)["missing_keys"]
        return missing

    def _import(self) -> ModuleType:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded
        os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads a .env file by itself
        use = f"The model '{self.model}' needs the address of an OpenAI-compatible endpoint (--base-url, api_base) or"
        with importing("litellm", use, "litellm", partial(ProviderError, systemic=True)):
            litellm = import_module("litellm")
        vars(litellm).update(suppress_debug_info=True, telemetry=False)
        return litellm


def _flags(left_out: frozenset[str], known: frozenset[str]) -> list[str]:
    """Return the flags of a request that omits the fields `left_out`.

    `known`: the fields in `left_out` that the server had already refused in earlier requests.
    """
    return [
        *(f"{LEFT_OUT_PREFIX}{name}" for name in sorted(left_out)),
        *([RESENT_WITHOUT_PART_FLAG] if left_out != known else []),
    ]


def _read(answer: Any) -> tuple[Reply, list[str]]:
    """Return (reply, flags) of LiteLLM's response. For some servers, the reply contains the response's headers."""
    meter, at = AnswerMeter(), perf_counter_ns()
    headers = (getattr(answer, "_hidden_params", None) or {}).get("additional_headers") or {}
    meter.receive_head(
        200, [(str(name).lower().encode(), b"") for name in headers if "simulated" in str(name)], at
    )
    meter.receive_data(answer.model_dump_json(warnings=False).encode(), at)
    reply = meter.finish_reply()
    return reply, [*meter.flags, SIMULATED_FLAG] if meter.is_simulated else meter.flags


def _ended(record: RequestRecord, started: int, **fields: Any) -> RequestRecord:
    return msgspec.structs.replace(record, total=perf_counter_ns() - started, **fields)


def _explain(failure: Exception, model: str) -> ProviderError:
    """Return the error for an exception of LiteLLM. The exception carries the HTTP status of the provider's error."""
    if isinstance(failure, BadAnswer):
        return ProviderError(f"{model}: {failure}", http_status=200)
    text = f"{model}: {_first_line(failure)}"
    status = getattr(failure, "status_code", None)
    if (
        status in SYSTEMIC_STATUSES
        or _kinds(failure) & SYSTEMIC_ERRORS
        or "LLM Provider NOT provided" in str(failure)
    ):
        return ProviderError(text, systemic=True, http_status=status)
    return ProviderError(text, http_status=status, retryable=status in TRANSIENT_STATUSES)


def _kinds(failure: BaseException) -> set[str]:
    """Return the class names of an exception and of the exceptions that caused it."""
    kinds = set()
    cause: BaseException | None = failure
    while cause is not None:
        kinds.add(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    return kinds


def _first_line(failure: Exception) -> str:
    lines = [line for line in str(failure).splitlines() if line.strip()]
    return one_line(lines[0] if lines else type(failure).__name__, MAX_DETAIL_LENGTH)
