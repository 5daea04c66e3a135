"""The list of all probes, their execution, and the card made from their findings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from benchwright.endpoint.accumulator import MALFORMED_RESPONSE_ERRORS
from benchwright.endpoint.card import (
    generation,
    identity,
    likelihoods,
    load_behaviour,
    request_fields,
    routes,
    thinking,
    tools,
)
from benchwright.endpoint.card.examination import Examination
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.card.prober import ProbeUnanswered
from benchwright.endpoint.card.records import CARD_LINES, Card, Finding, State
from benchwright.text import one_line


class Probe(NamedTuple):
    """A function (`run_probe`) that examines the lines of the card with the keys in `card_line_keys`."""

    card_line_keys: tuple[str, ...]
    run: Callable[[Examination], Awaitable[None]]


PROBES = (
    Probe(("models",), identity.probe_models),
    Probe(("chat",), generation.probe_chat),
    Probe(("completions",), likelihoods.probe_completions),
    Probe(("usage",), generation.probe_usage),
    Probe(("server",), identity.probe_version),
    Probe(("context",), identity.record_missing_context),
    Probe(("metrics",), identity.probe_metrics),
    Probe(("streaming", "usage_in_stream"), generation.probe_streaming),
    Probe(("reasoning",), thinking.probe_thinking),
    Probe(("finish_reasons",), generation.probe_finish_reasons),
    Probe(("reasoning_switch",), thinking.probe_thinking_switch),
    Probe(("tools", "several_tools"), tools.probe_tool_calls),
    Probe(("streamed_tools",), tools.probe_streamed_calls),
    Probe(("logprobs",), likelihoods.probe_logprobs),
    Probe(("prompt_logprobs",), likelihoods.probe_prompt_logprobs),
    Probe(("logprobs_agree",), likelihoods.probe_logprob_agreement),
    Probe(("sampling",), request_fields.probe_sampling),
    Probe(("seed",), request_fields.probe_seeds),
    Probe(("stop",), request_fields.probe_stop_strings),
    Probe(("output_limit",), request_fields.probe_token_limit),
    Probe(("json_schema",), request_fields.probe_json_schema),
    Probe(("images",), request_fields.probe_images),
    Probe(("n",), request_fields.probe_several_answers),
    Probe(("messages",), partial(routes.probe_dialect, key="messages")),
    Probe(("responses",), partial(routes.probe_dialect, key="responses")),
    Probe(("gemini",), partial(routes.probe_dialect, key="gemini")),
    Probe(("embeddings",), routes.probe_embeddings),
    Probe(("token_counting",), likelihoods.probe_token_counting),
    Probe(("prompt_cache",), load_behaviour.probe_prompt_cache),
    Probe(("long_prompts",), load_behaviour.probe_long_prompts),
    Probe(("parallel",), load_behaviour.probe_concurrency),
)
"""All probes, in the order of execution.

Thinking is turned off as early as possible. Slow probes come last.
"""


async def run_probes(known: Examination) -> None:
    """Run all probes, one after the other. Stop if the server cannot be reached."""
    for probe in PROBES:
        known.looking_for = ", ".join(CARD_LINES[key].title for key in probe.card_line_keys)
        await run_probe(known, probe)
        if known.unreachable is not None:
            break


async def run_probe(known: Examination, probe: Probe) -> None:
    """Run one probe. Record each of the probe's lines that gets no finding as unknown, with the reason."""
    try:
        await probe.run(known)
        why = "not told"
    except ProbeUnanswered as reason:
        why = str(reason)
        if not known.findings:
            known.unreachable = reason.unreachable
    except MALFORMED_RESPONSE_ERRORS as error:
        why = one_line(f"the answer cannot be read: {error}", 120)
    for key in probe.card_line_keys:
        if key not in known.findings:
            known.record_unknown(key, why)


def make_card(known: Examination, unseen: str = "not looked for") -> Card:
    """Return the card with the findings so far. `unseen`: the reason that is given in lines that were not examined."""
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
            key: known.findings.get(key) or Finding(State.UNKNOWN, UNKNOWN_OUTCOME, unseen)
            for key in CARD_LINES
        },
        late=prober.late,
    )
