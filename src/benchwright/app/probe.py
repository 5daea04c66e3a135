"""Asks endpoints for their lists of models before the first trial, to find closed ports and misspelt names early."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchwright.endpoint.access import Access
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL
from benchwright.endpoint.server_info import SHORT_TIMEOUTS, list_models
from benchwright.errors import ProviderError, UserError
from benchwright.records import Target
from benchwright.suggestions import did_you_mean
from benchwright.text import Say, make_safe


async def probe_endpoints(targets: Iterable[Target], access: Mapping[str, Access], say: Say) -> None:
    """Ask each endpoint for its list of models, and warn of wanted models that are not in it.

    Many endpoints have no such list, so any other response is accepted. Targets that are reached through
    LiteLLM are not asked.

    Raises:
        UserError: If an endpoint cannot be reached.
    """
    known = [target for target in targets if target.base_url != LITELLM_BASE_URL]
    ways = dict.fromkeys((target.base_url, access[target.slot]) for target in known)
    listed = {(base_url, way): await _models(base_url, way) for base_url, way in ways}
    for target in known:
        models = listed[target.base_url, access[target.slot]]
        if models and target.model not in models:
            say(unlisted_model_warning(target, models))


async def _models(base_url: str, access: Access) -> Sequence[str]:
    try:
        return await list_models(base_url, access, SHORT_TIMEOUTS)
    except ProviderError as error:
        if error.systemic and error.http_status is None:
            raise UserError(f"{error} (--no-probe starts without asking.)") from None
        return []


def unlisted_model_warning(target: Target, models: Sequence[str]) -> str:
    """Return a warning that an endpoint does not list a model.

    The warning names the nearest and some other listed models.
    """
    shown = ", ".join(make_safe(name) for name in models[:5])
    more = f" and {len(models) - 5:,} more" if len(models) > 5 else ""
    hint = did_you_mean(target.model, models)
    model = make_safe(target.model)
    return f"Warning: {target.base_url} does not list the model {model!r}.{hint} It lists {shown}{more}."
