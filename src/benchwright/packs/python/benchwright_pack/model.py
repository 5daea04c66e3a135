"""The model of the running scenario: its endpoint, and functions that send requests to the model."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from .inside.calls import in_thread
from .inside.cell import CELL, Cell

RETRYABLE = frozenset({408, 409, 425, 429})
REQUEST_SECONDS = 300.0

Json = dict[str, Any]


class ModelError(Exception):
    """Raised for a failed request to the model. `status`: None if no response arrived."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Endpoint(NamedTuple):
    """Settings with which an OpenAI-compatible client uses the running scenario's model."""

    base_url: str
    api_key: str
    model: str


def endpoint() -> Endpoint:
    """Return the endpoint of the running scenario. The endpoint's key identifies the scenario's requests.

    Raises:
        LookupError: If no scenario is running, or the provider of its model is unknown.
    """
    cell = _cell()
    model = cell.input["model"]
    for provider in cell.context["providers"]:
        if provider["id"] == model["provider"]:
            key = cell.token or _secret(cell.context, provider["id"])
            return Endpoint(provider["baseUrl"].rstrip("/"), key, model["model"])
    raise LookupError(f'Provider "{model["provider"]}" was not found.')


def chat(messages: list[Json], **fields: Any) -> Json:
    """Send one chat completion request to the model, and return the server's whole response.

    `fields`: other fields of the request's body. They override the scenario's generation settings.

    Raises:
        ModelError: If the server returned an error or no response.
        LookupError: If no scenario is running.
    """
    cell, target = _cell(), endpoint()
    settings = {name: value for name, value in cell.input["generation"].items() if value is not None}
    seconds = float(settings.pop("request_timeout_seconds", REQUEST_SECONDS))
    body = {"model": target.model, "messages": messages, **settings, **fields}
    headers = {"content-type": "application/json", "authorization": f"Bearer {target.api_key}"}
    request = Request(f"{target.base_url}/chat/completions", json.dumps(body).encode(), headers)
    try:
        with _open(request, timeout=seconds) as response:
            answer: Json = json.loads(response.read())
    except HTTPError as error:
        text = error.read(2000).decode("utf-8", "replace").strip()
        _note(cell, error.code, blank=not text, message=f"HTTP {error.code}")
        raise ModelError(f"HTTP {error.code}: {text or 'an empty body'}", error.code) from None
    except (OSError, ValueError) as error:
        _note(cell, None, blank=False, message=str(error))
        raise ModelError(f"no answer from the model's server: {error}") from None
    cell.trouble = None
    return answer


async def chat_async(messages: list[Json], **fields: Any) -> Json:
    """Send one request to the model from an async function, and return the server's response, as `chat` does."""
    answer: Json = await in_thread(lambda: chat(messages, **fields))
    return answer


_open = build_opener(ProxyHandler({})).open


def _cell() -> Cell:
    cell = CELL.get()
    if cell is None:
        raise LookupError("no scenario is running: call the model inside run_scenario")
    return cell


def _secret(context: Json, provider: str) -> str:
    values = [item.get("value") for item in context["secrets"] if item["providerId"] == provider]
    return str(next(filter(None, values), "EMPTY"))


def _note(cell: Cell, status: int | None, *, blank: bool, message: str) -> None:
    retryable = status is None or status in RETRYABLE or status >= 500
    cell.trouble = {"status": status, "blank": blank, "retryable": retryable, "message": message[:500]}
