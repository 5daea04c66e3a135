"""Error bodies of each dialect."""

from __future__ import annotations

from typing import Any

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}

_STATES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "PERMISSION_DENIED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}


def messages_error(status: int, message: str) -> dict[str, Any]:
    """Return an error body of Messages. Its error type follows from the HTTP status."""
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def openai_error(
    message: str, kind: str, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """Return an error body of chat completions and Responses."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def gemini_error(status: int, message: str) -> dict[str, Any]:
    """Return an error body of Gemini. The `status` in the body follows from the HTTP status.

    Source: `google.rpc.Status` and google/rpc/code.proto (googleapis/googleapis).
    """
    state = _STATES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    return {"error": {"code": status, "message": message, "status": state}}
