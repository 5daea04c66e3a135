"""`check`: `benchwright check` from Python."""

from __future__ import annotations

from typing import Unpack

from benchwright.access_settings import AccessSettings
from benchwright.api.arguments import AccessArguments, make_settings
from benchwright.api.jobs import run_job, run_job_async
from benchwright.app.access import access_from_settings
from benchwright.app.endpoint_card import prepare_examination, run_examination
from benchwright.endpoint.card import REQUEST_SECONDS, Card, make_card
from benchwright.endpoint.default_server import default_server
from benchwright.endpoint.providers import find_access, find_target
from benchwright.errors import UserError


def check(
    model: str,
    base_url: str | None = None,
    *,
    api_key: str | None = None,
    request_seconds: float = REQUEST_SECONDS,
    **access: Unpack[AccessArguments],
) -> Card:
    """Find out what an endpoint can do, with at most 40 short requests, and return its card.

    Each of `card.findings` (`"tools"` and others) has a state (yes, no, partly, unknown), an outcome, and the
    consequence for evaluations. docs/check.md lists the keys and outcomes. It may be called while an event
    loop runs, as in a notebook.

    Args:
        model: Name of the model as the server lists it.
        base_url: Address of the endpoint, by default $OPENAI_BASE_URL, else http://localhost:8000/v1.
        api_key: API key, which is stored nowhere. By default $BENCHWRIGHT_API_KEY or $OPENAI_API_KEY.
        request_seconds: Maximum seconds for one request.
        **access: `headers`, `headers_env`, `ca_file`, `client_cert` and `client_key`, as for `evaluate`.

    Raises:
        UserError: If the address is invalid or cannot be reached.
    """
    return run_job(lambda _: _card(model, base_url, api_key, request_seconds, access), progress=False)


async def check_async(
    model: str,
    base_url: str | None = None,
    *,
    api_key: str | None = None,
    request_seconds: float = REQUEST_SECONDS,
    **access: Unpack[AccessArguments],
) -> Card:
    """Examine an endpoint and return its card, as `check` does, without blocking the caller's event loop."""
    return await run_job_async(
        lambda _: _card(model, base_url, api_key, request_seconds, access), progress=False
    )


async def _card(
    model: str, base_url: str | None, api_key: str | None, seconds: float, access: AccessArguments
) -> Card:
    given = access_from_settings(make_settings(AccessSettings, access, None), api_key)
    target = find_target(model, base_url or default_server().base_url, access=given)
    known = prepare_examination(target, find_access(given, target, lambda _: None), seconds)
    await run_examination(known)
    if known.unreachable is not None:
        raise UserError(str(known.unreachable))
    return make_card(known)
