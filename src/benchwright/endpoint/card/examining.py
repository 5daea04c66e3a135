"""The list of all probes, their execution, and the card made from their findings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from benchwright.endpoint.accumulator import MALFORMED
from benchwright.endpoint.card import (
    fields,
    generating,
    identity,
    likelihoods,
    routes,
    thinking,
    tools,
    under_load,
)
from benchwright.endpoint.card.examination import Examination
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.card.prober import Unanswered
from benchwright.endpoint.card.records import LINES, Card, Finding, State
from benchwright.text import one_line


class Probe(NamedTuple):
    """A function (`find_out`) that examines some lines of the card."""

    lines: tuple[str, ...]
    run: Callable[[Examination], Awaitable[None]]


PROBES = (
    Probe(("models",), identity.look_at_models),
    Probe(("chat",), generating.ask_chat),
    Probe(("completions",), likelihoods.ask_completions),
    Probe(("usage",), generating.look_at_usage),
    Probe(("server",), identity.look_at_version),
    Probe(("context",), identity.look_at_context),
    Probe(("metrics",), identity.look_at_metrics),
    Probe(("streaming", "usage_in_stream"), generating.ask_streamed),
    Probe(("reasoning",), thinking.look_for_thinking),
    Probe(("finish_reasons",), generating.look_at_ends),
    Probe(("reasoning_switch",), thinking.look_for_switch),
    Probe(("tools", "several_tools"), tools.ask_for_calls),
    Probe(("streamed_tools",), tools.ask_for_streamed_calls),
    Probe(("logprobs",), likelihoods.ask_for_generated),
    Probe(("prompt_logprobs",), likelihoods.ask_for_prompt),
    Probe(("logprobs_agree",), likelihoods.compare_both),
    Probe(("sampling",), fields.ask_with_sampling),
    Probe(("seed",), fields.ask_with_seeds),
    Probe(("stop",), fields.ask_with_stop),
    Probe(("output_limit",), fields.ask_with_limit),
    Probe(("json_schema",), fields.ask_with_schema),
    Probe(("images",), fields.ask_about_image),
    Probe(("n",), fields.ask_for_several),
    Probe(("messages",), partial(routes.ask_in_dialect, key="messages")),
    Probe(("responses",), partial(routes.ask_in_dialect, key="responses")),
    Probe(("gemini",), partial(routes.ask_in_dialect, key="gemini")),
    Probe(("embeddings",), routes.ask_for_embeddings),
    Probe(("token_counting",), likelihoods.count_tokens),
    Probe(("prompt_cache",), under_load.look_for_cache),
    Probe(("long_prompts",), under_load.look_for_cuts),
    Probe(("parallel",), under_load.ask_side_by_side),
)
"""All probes, in the order of execution. Thinking is turned off as early as possible; slow probes come last."""


async def examine(known: Examination) -> None:
    """Run all probes, one after the other; stop if the server cannot be reached."""
    for probe in PROBES:
        known.looking_for = ", ".join(LINES[key].title for key in probe.lines)
        await find_out(known, probe)
        if known.unreachable is not None:
            break


async def find_out(known: Examination, probe: Probe) -> None:
    """Run one probe. Its lines that get no finding are recorded as unknown, with the reason."""
    try:
        await probe.run(known)
        why = "not told"
    except Unanswered as reason:
        why = str(reason)
        if not known.findings:
            known.unreachable = reason.unreachable
    except MALFORMED as error:
        why = one_line(f"the answer cannot be read: {error}", 120)
    for key in probe.lines:
        if key not in known.findings:
            known.record_unknown(key, why)


def card_of(known: Examination, unseen: str = "not looked for") -> Card:
    """Return the card with the findings so far. `unseen`: the reason given in lines that were not examined."""
    if known.unreachable is not None:
        unseen = "nobody is there"
    target, prober = known.prober.client.target, known.prober
    return Card(
        base_url=target.base_url,
        model=target.model,
        checked_at=prober.begun_at,
        requests=prober.requests,
        seconds=round(prober.elapsed, 2),
        findings={
            key: known.findings.get(key) or Finding(State.UNKNOWN, UNKNOWN_OUTCOME, unseen) for key in LINES
        },
        late=prober.late,
    )
