"""The capabilities that a run needs from its endpoint, and a few probes that check them before the first trial."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from enum import StrEnum

from benchwright.endpoint.card import generation, identity, likelihoods, request_fields, tools
from benchwright.endpoint.card.examination import CHAT, COMPLETIONS, Examination
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.card.probes import Probe, run_probe
from benchwright.endpoint.card.records import CARD_LINES, Finding, State


class Need(StrEnum):
    """A capability of the endpoint that a run needs."""

    TOOLS = "tools"
    IMAGES = "images"
    LOGPROBS = "logprobs"
    JSON_SCHEMA = "json_schema"
    USAGE = "usage"


Needs = Mapping[Need, bool]
"""The needs of a run: a mapping from a need to True if every request of the run depends on it.

If such a need is not met, nothing works.
"""


async def _look_at_whole_usage(known: Examination) -> None:
    await generation.probe_chat(known)
    await generation.probe_usage(known)


async def _look_at_streamed_usage(known: Examination) -> None:
    """Record whether a stream reports its usage. If not, also record whether responses without a stream report it."""
    await generation.probe_streaming(known)
    outcome = known.outcome("usage_in_stream")
    if known.streamed is not None and outcome not in ("reported", UNKNOWN_OUTCOME):
        await _look_at_whole_usage(known)
        generation.record_usage_in_stream(known, known.streamed, refused=outcome == "refused")


async def _look_at_logprobs(known: Examination) -> None:
    await likelihoods.probe_completions(known)
    if known.outcome("completions") == "answers":
        await likelihoods.probe_logprobs(known)


STREAMED_USAGE_PROBE = Probe(("usage_in_stream",), _look_at_streamed_usage)

NEED_PROBES: Mapping[Need, Probe] = {
    Need.TOOLS: Probe(("tools",), tools.probe_one_tool_call),
    Need.IMAGES: Probe(("images",), request_fields.probe_images),
    Need.LOGPROBS: Probe(("completions", "logprobs"), _look_at_logprobs),
    Need.JSON_SCHEMA: Probe(("json_schema",), request_fields.probe_json_schema),
    Need.USAGE: Probe(("usage",), _look_at_whole_usage),
}

HARMLESS_OUTCOMES = frozenset({"called_oddly"})
"""Names of outcomes that deviate from the API's reference but do not affect a run."""

FATAL_OUTCOMES = frozenset({"refused", "none", "chat", "no_chat"})
"""Names of outcomes with which no request that has the need can work.

The server refuses such a request, or ignores what the request asks for.
"""


async def identify_server(known: Examination) -> None:
    """Identify the server, its models and the context window, with at most two requests.

    Raises:
        ProbeUnanswered: If there was no response in time, or if the server cannot be reached.
    """
    await identity.probe_models(known)
    if known.outcome("server") == UNKNOWN_OUTCOME:
        await identity.probe_version(known, guess=False)


async def check_needs(known: Examination, needs: Needs, *, stream: bool) -> None:
    """Run the probes for the needs of a run concurrently, and record their findings."""
    known.path = COMPLETIONS if Need.LOGPROBS in needs else CHAT
    await asyncio.gather(*(run_probe(known, find_probe(need, stream=stream)) for need in needs))


def find_probe(need: Need, *, stream: bool) -> Probe:
    """Return the probe that checks a need. `stream`: True if the run streams its responses."""
    return STREAMED_USAGE_PROBE if need is Need.USAGE and stream else NEED_PROBES[need]


def unmet_needs(findings: Mapping[str, Finding], needs: Needs, *, stream: bool) -> Iterator[tuple[str, bool]]:
    """Yield (message, is fatal) for each need that is not met.

    The message says what is missing and gives advice. `is fatal` is True if no request works without the
    need.
    """
    for need, always in needs.items():
        for key in find_probe(need, stream=stream).card_line_keys:
            found = findings.get(key)
            if found is not None and found.outcome != UNKNOWN_OUTCOME and not _is_enough(found):
                text = f"{CARD_LINES[key].title}: {found.said.rstrip('.')}. {found.follows}".strip()
                yield text, always and found.outcome in FATAL_OUTCOMES
                break


def is_need_met(findings: Mapping[str, Finding], need: Need, *, stream: bool) -> bool:
    """Return True if an endpoint is known to meet a need.

    Return False if it does not meet the need, or if this is unknown.
    """
    found = [findings.get(key) for key in find_probe(need, stream=stream).card_line_keys]
    return all(each is not None and _is_enough(each) for each in found)


def _is_enough(found: Finding) -> bool:
    return found.state is State.YES or found.outcome in HARMLESS_OUTCOMES
