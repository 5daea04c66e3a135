"""Asks the endpoints of a run, before its first trial, for what it needs of them; the answers are kept with the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from benchwright.app.endpoint_card import examination_of
from benchwright.app.prepared import RunRequest
from benchwright.app.probe import not_listed, probe_endpoints
from benchwright.endpoint.card import Card, Examination, card_of
from benchwright.endpoint.card.needs import Needs, identify, is_met, look_for, shortcomings
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.card.prober import Unanswered
from benchwright.endpoint.card.servers import SIMULATED
from benchwright.endpoint.lite_llm import LITELLM
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.runs.cards import read_cards, write_cards
from benchwright.text import Say, plain

SECONDS = 10.0
"""How long one request of a probe may take; what is not known by then is not told."""

WITHOUT = "(--no-probe starts without asking.)"


async def probe_run(request: RunRequest, directory: Path, targets: Sequence[Target], say: Say) -> None:
    """Looks whether each endpoint is there, lists the model, and has what the run needs; says what is missing.

    What an earlier session of the run has seen to be there is not asked again. Targets that LiteLLM asks are left out.
    A simulated endpoint does what it was told, so that nothing more is asked of it, and nothing kept.

    Raises:
        UserError: Nobody can be reached at an endpoint, or it lacks what every request of the run needs.
    """
    kept = read_cards(directory)
    stream = request.settings.stream
    for target in targets:
        if target.base_url == LITELLM:
            continue
        known = examination_of(target, request.access[target.slot], SECONDS)
        known.findings = dict(kept[target.slot].findings) if target.slot in kept else {}
        try:
            await _look_for_model(known, target, say)
            if known.server.name == SIMULATED:
                continue
            needs = request.needs()
            left = {
                need: always
                for need, always in needs.items()
                if not is_met(known.findings, need, stream=stream)
            }
            await look_for(known, left, stream=stream)
        finally:
            known.prober.client.close()
        kept[target.slot] = card = _what_is_known(card_of(known))
        write_cards(directory, kept)
        _tell(target, card, needs, stream, say)
    await probe_endpoints(request.plan.helpers, request.access, say)


async def _look_for_model(known: Examination, target: Target, say: Say) -> None:
    """Finds out who the server is; says that it does not list the model, if it does not.

    Raises:
        UserError: Nobody can be reached.
    """
    try:
        await identify(known)
    except Unanswered as reason:
        if reason.unreachable is not None:
            raise UserError(f"{reason.unreachable} {WITHOUT}") from None
    if known.models and target.model not in known.models:
        say(not_listed(target, known.models))


def _what_is_known(card: Card) -> Card:
    """Returns the card without the lines that nobody has looked at."""
    known = {key: found for key, found in card.findings.items() if found.outcome != UNKNOWN_OUTCOME}
    return replace(card, findings=known)


def _tell(target: Target, card: Card, needs: Needs, stream: bool, say: Say) -> None:
    """Says what is missing.

    Raises:
        UserError: It is something that every request needs.
    """
    for text, fatal in shortcomings(card.findings, needs, stream=stream):
        told = plain(f"{target.model} at {target.base_url}: {text}")
        if fatal:
            raise UserError(f"{told} {WITHOUT}")
        say(f"Warning: {told}")
