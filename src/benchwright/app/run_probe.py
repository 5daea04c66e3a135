"""Checks, before a run's first trial, that its endpoints support what the run needs.

The findings are stored with the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from benchwright.app.endpoint_card import prepare_examination
from benchwright.app.prepared_run import RunRequest
from benchwright.app.probe import probe_endpoints, unlisted_model_warning
from benchwright.endpoint.card import Card, Examination, make_card
from benchwright.endpoint.card.needs import Needs, check_needs, identify_server, is_need_met, unmet_needs
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.card.prober import ProbeUnanswered
from benchwright.endpoint.card.servers import SIMULATED
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.runs.cards import read_cards, write_cards
from benchwright.text import Say, make_safe

REQUEST_TIMEOUT = 10.0
"""Maximum seconds for one request of a check. A feature whose request takes longer counts as unknown."""

NO_PROBE_HINT = "(--no-probe starts without asking.)"


async def probe_run(request: RunRequest, directory: Path, targets: Sequence[Target], say: Say) -> None:
    """Check that each endpoint is reachable, lists the model, and has the features that the run needs.

    Missing features are reported. Features that an earlier session of the run has checked are not checked again.
    Targets that are reached through LiteLLM are skipped. For a simulated endpoint, no features are checked and
    nothing is stored.

    Raises:
        UserError: If an endpoint cannot be reached, or lacks something that every request of the run needs.
    """
    kept = read_cards(directory)
    stream = request.settings.execution.stream
    for target in targets:
        if target.base_url == LITELLM_BASE_URL:
            continue
        known = prepare_examination(target, request.access[target.slot], REQUEST_TIMEOUT)
        known.findings = dict(kept[target.slot].findings) if target.slot in kept else {}
        try:
            await _look_for_model(known, target, say)
            if known.server.name == SIMULATED:
                continue
            needs = request.find_needs()
            left = {
                need: always
                for need, always in needs.items()
                if not is_need_met(known.findings, need, stream=stream)
            }
            await check_needs(known, left, stream=stream)
        finally:
            known.prober.client.close()
        kept[target.slot] = card = _what_is_known(make_card(known))
        write_cards(directory, kept)
        _tell(target, card, needs, stream, say)
    await probe_endpoints(request.plan.helper_targets, request.access, say)


async def _look_for_model(known: Examination, target: Target, say: Say) -> None:
    """Identify the endpoint's server, and warn if it does not list the model.

    Raises:
        UserError: If the endpoint cannot be reached.
    """
    try:
        await identify_server(known)
    except ProbeUnanswered as reason:
        if reason.unreachable is not None:
            raise UserError(f"{reason.unreachable} {NO_PROBE_HINT}") from None
    if known.models and target.model not in known.models:
        say(unlisted_model_warning(target, known.models))


def _what_is_known(card: Card) -> Card:
    """Return a card that has only the examined lines of the given card."""
    known = {key: found for key, found in card.findings.items() if found.outcome != UNKNOWN_OUTCOME}
    return replace(card, findings=known)


def _tell(target: Target, card: Card, needs: Needs, stream: bool, say: Say) -> None:
    """Report the features that the run needs and the endpoint lacks.

    Raises:
        UserError: If every request of the run needs one of the missing features.
    """
    for text, fatal in unmet_needs(card.findings, needs, stream=stream):
        told = make_safe(f"{target.model} at {target.base_url}: {text}")
        if fatal:
            raise UserError(f"{told} {NO_PROBE_HINT}")
        say(f"Warning: {told}")
