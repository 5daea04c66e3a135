"""Errors of failed requests, and the rules for retries."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec

from benchwright.endpoint.connection import Headers, TransportError
from benchwright.errors import ProviderError, RunStopped
from benchwright.records import DECODE_ERRORS, Record
from benchwright.secrets import SECRETS
from benchwright.text import one_line

TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
MAX_DETAIL_LENGTH = 200

OVERLOAD_STATUSES = frozenset({408, 429, 503, 504, 529})
OVERLOAD_ERROR_KINDS = frozenset({"connect", "connect_timeout", "read_timeout", "total_timeout"})
"""`OVERLOAD_STATUSES`: HTTP statuses that may mean that the server is overloaded.

`OVERLOAD_ERROR_KINDS`: kinds of `TransportError` that may mean the same.
"""

IMAGE_REFUSAL_STATUSES = frozenset({400, 404, 413, 415, 422, 500, 501})
"""HTTP statuses with which servers refuse images.

llama.cpp uses 500. Routers without a model for images use 404.
"""

_ABOUT_IMAGES = re.compile(r"(?<![\w-])images?(?![\w-])|image_url|multimodal|mmproj", re.IGNORECASE)

OPTIONS_BY_LIMIT = {"total_timeout": "--request-seconds", "too_large": "--answer-mb"}
UNRETRIED_ERROR_KINDS = frozenset({*OPTIONS_BY_LIMIT, "client_closed"})
"""`OPTIONS_BY_LIMIT`: mapping from a kind of `TransportError` to the option that sets the limit which was exceeded.

`UNRETRIED_ERROR_KINDS`: kinds of `TransportError` after which a request is not retried.
"""

REQUIRED_FIELDS = frozenset({"model", "messages", "prompt", "input"})
"""Names of fields without which a request is invalid."""

_SENDS = (
    (re.compile(r"\b(ssl|client) certificate\b", re.IGNORECASE), " (--client-cert FILE sends one)"),
    (re.compile(r"\bheaders?\b|\bx-[a-z]+-[a-z-]+", re.IGNORECASE), " (--header NAME=VALUE sends one)"),
)
"""Pairs of a regular expression and a hint.

The regular expression matches refusals of requests that lack a certificate or header. The hint names the
option that adds this certificate or header to requests.
"""

NO_HINTS: Mapping[str, str] = {}

CLIENT_DISCONNECTED_ERROR = ProviderError("the client disconnected before the answer ended")
"""Error for the record of a request that was cancelled because the client disconnected."""


class OptionalParts(NamedTuple):
    """Names of the optional parts of a request.

    `headers`, `fields`: the optional parts of the request's first attempt. `omitted_parts`: the optional parts
    that the last attempt omitted.
    """

    headers: Collection[str]
    fields: Collection[str]
    omitted_parts: Collection[str] = ()


def is_overload(failure: Exception) -> bool:
    """Return True if the failure might not have happened with fewer concurrent requests."""
    if isinstance(failure, TransportError):
        return failure.kind in OVERLOAD_ERROR_KINDS
    return isinstance(failure, ProviderError) and failure.http_status in OVERLOAD_STATUSES


def missing_part_hint(refusal: str) -> str:
    """Return a hint that names the option for the part that a refused request lacks.

    The hint is in brackets, after a blank. Return "" if the refusal mentions no such part.
    """
    return next((hint for about, hint in _SENDS if about.search(refusal)), "")


def error_from_response(
    status: int,
    headers: Headers,
    body: bytes,
    url: str,
    model: str,
    hints: Mapping[str, str] = NO_HINTS,
    beyond: OptionalParts | None = None,
) -> ProviderError:
    """Return the error for a response with a status other than 200.

    `hints`: a mapping from names of body fields to advice, which is given if the server refuses the field.
    Such an error is not retried, because the server would refuse the field each time. `beyond`: the optional
    parts of the request, which may be the cause of a refusal without a reason.
    """
    code, detail = error_detail(body)
    said = describe_status(status, body)
    systemic, refuses_image = True, status in IMAGE_REFUSAL_STATUSES and bool(_ABOUT_IMAGES.search(detail))
    if refuses_image:
        systemic = False
        text = (
            f"{url} refused an image ({said}). Ask a model whose server takes images of this kind and size."
        )
    elif status in (401, 403):
        text = f"{url} refused the key ({said}). Give a valid one with --api-key or BENCHWRIGHT_API_KEY."
    elif status == 404:
        text = f"{url} does not serve the model {model!r}, or has no such path ({said}). Check --model and --base-url."
    elif 300 <= status < 400:
        location = next((value for name, value in headers if name == b"location"), b"").decode("latin-1")
        text = f"{url} redirects to {_clip(location) or 'another address'}; use that address as --base-url."
    elif status == 402 or code == "insufficient_quota":
        text = f"{url} says that the account has no budget left ({said})."
    elif status in (400, 422) and (field := _refused_field(hints, detail)):
        text = f"{url} refused the field {field!r} ({said}): {hints[field]}."
    else:
        systemic = False
        text = f"{url} answered {said}" if detail or not 400 <= status < 500 else _silent(url, status, beyond)
        text += missing_part_hint(detail) if status < 500 else ""
    retryable = status in TRANSIENT_STATUSES and not systemic and not refuses_image
    return ProviderError(
        text,
        systemic=systemic,
        http_status=status,
        retryable=retryable,
        retry_after=_retry_after(headers) if retryable else None,
    )


def _refused_field(hints: Mapping[str, str], detail: str) -> str | None:
    """Return the first field in `hints` that a refusal names. Return None if the refusal names none of them."""
    return next((name for name in hints if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", detail)), None)


def _silent(url: str, status: int, beyond: OptionalParts | None) -> str:
    """Return the error message for a refusal without a reason. The message lists the optional parts of the request."""
    names = (
        []
        if beyond is None
        else [*beyond.headers, *(name for name in beyond.fields if name not in REQUIRED_FIELDS)]
    )
    text = f"{url} answered HTTP {status} without a reason"
    if names:
        text += f"; sent beyond the minimum: {', '.join(names)}"
    if beyond is not None and beyond.omitted_parts:
        text += (
            f" (and refused without {', '.join(name for name in names if name in beyond.omitted_parts)}, too)"
        )
    return text


def refusal_reason(body: bytes) -> str:
    """Return the reason stated in the body of a refusal. Return "" if the body states none."""
    return error_detail(body)[1]


def error_from_object(error: dict[str, Any], url: str) -> ProviderError:
    """Return the error for an error object in a response with status 200. Such objects mostly come in streams."""
    code = str(error.get("code", error.get("status")))
    status = int(code) if re.fullmatch("[1-5][0-9][0-9]", code) else None
    detail = _clip(str(error.get("message") or error.get("detail") or error))
    retryable = status is None or status in TRANSIENT_STATUSES or status >= 500
    return ProviderError(
        f"{url} sent an error in its answer: {detail}", http_status=status, retryable=retryable
    )


def error_from_transport(
    error: TransportError, url: str, *, answered_before: bool, options: Mapping[str, str] = NO_HINTS
) -> ProviderError:
    """Return the error for a failed exchange.

    The error is not retryable if no connection could be opened to a server that has never answered.
    `options`: a mapping from kinds of failure to the option that sets the exceeded limit.
    """
    if error.kind in ("connect", "connect_timeout"):
        return ProviderError(
            f"Cannot connect to {url}: {error}. Is the server running, and is --base-url right?",
            systemic=True,
            retryable=answered_before,
        )
    text = f"{url}: {_clip(str(error))}"
    if error.kind == "stopped":
        return RunStopped(text)
    if error.kind in options:
        text += f" ({options[error.kind]} sets the limit)"
    return ProviderError(text, retryable=error.kind not in UNRETRIED_ERROR_KINDS)


def unreadable_response_error(error: Exception, url: str) -> ProviderError:
    """Return the error for an unreadable response. The error is retryable, because the cause may be temporary."""
    return ProviderError(f"{url}: {_clip(str(error))}", http_status=200, retryable=True)


def describe_status(status: int, body: bytes) -> str:
    """Return a text with the status of a response and the reason that the body states."""
    detail = error_detail(body)[1]
    return f"HTTP {status}: {detail}" if detail else f"HTTP {status}"


def error_detail(body: bytes) -> tuple[str | None, str]:
    """Return (code, message) from the body of an error. The code is None if the body has none.

    Known formats: OpenAI's, Google's, FastAPI's `detail`, a bare `message`, plain text.
    """
    try:
        answer = msgspec.json.decode(body)
    except DECODE_ERRORS:
        return None, _clip(body[: 4 * MAX_DETAIL_LENGTH].decode("utf-8", "replace"))
    if isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], dict):
        answer = answer[0]
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    if not isinstance(error, dict):
        return None, _clip(str(error or ""))
    message = error.get("message") or error.get("detail") or error or ""
    return error.get("code") if isinstance(error.get("code"), str) else None, _clip(str(message))


def _retry_after(headers: Headers) -> float | None:
    for name, value in headers:
        if name == b"retry-after":
            return parse_retry_after(value.decode("latin-1"))
    return None


def _clip(text: str) -> str:
    """Return a redacted text as one line of at most `MAX_DETAIL_LENGTH` characters, without control characters."""
    return one_line(
        SECRETS.redact(text), MAX_DETAIL_LENGTH
    )  # clipping first could leave the beginning of a key


class RetryPolicy(Record, frozen=True):
    """The number of retries, and the waits before them in seconds.

    `retries`: the maximum number of attempts after the first. `max_rate_limit_wait`: the longest wait that a
    server may ask for (Retry-After), and also the longest time that a trial may wait for rate limits in
    total. If a server asks for a longer wait, the request fails. A rate limit with a permitted wait does not
    count as a failed attempt (see the module `rate_limits`).

    Without Retry-After the wait doubles from `first` (from 1 s after a rate limit) up to `max_delay`. Up to
    half of the wait is taken off at random, so that many clients do not come back at once.
    """

    retries: int = 5
    first_delay: float = 0.25
    max_delay: float = 30.0
    max_rate_limit_wait: float = 600.0

    def delay(self, error: ProviderError, attempt: int) -> float | None:
        """Return the seconds to wait before attempt `attempt + 1`. Return None if the request must not be retried."""
        if not error.retryable or attempt > self.retries:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.max_rate_limit_wait else None
        first = max(self.first_delay, 1.0) if error.http_status == 429 else self.first_delay
        ceiling = min(first * 2 ** (attempt - 1), self.max_delay)
        return float(ceiling * random.uniform(0.5, 1.0))


def parse_retry_after(value: str, now: float | None = None) -> float | None:
    """Return the seconds to wait according to a Retry-After header: a number or an HTTP date (RFC 9110 10.2.3).

    Return 0 for a date in the past. Return None if the value is neither a number nor a date.
    """
    value = value.strip()
    try:
        seconds = float(value)
        return seconds if seconds >= 0 else None
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
