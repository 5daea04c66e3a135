"""The card of an endpoint as plain data: a finding for each line."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from benchwright.records import Amount, Moment, Record


class State(StrEnum):
    """State of a finding: it works as in the API's reference, does not work, works differently, or is unknown."""

    YES = "yes"
    NO = "no"
    PARTLY = "partly"
    UNKNOWN = "unknown"


class Finding(Record, frozen=True):
    """The finding for one line of a card.

    `outcome`: the name of one of the line's outcomes (docs/check.md), or `unknown`. `said`: the outcome in a
    few words; if it is unknown, the reason. `follows`: the consequences for evaluations. `detail`: the values
    that were put into these texts.
    """

    state: State
    outcome: str
    said: str
    follows: str = ""
    detail: dict[str, Any] = {}


class Line(NamedTuple):
    """A line of the card. `group`: the heading under which it is shown. `title`: its name."""

    group: str
    title: str


SERVER, ROUTES, ANSWERS, FIELDS = "Server", "Routes", "Answers", "Request fields"
TOOLS, THINKING, LIKELIHOODS, LOAD = "Tool calls", "Thinking", "Log-probabilities", "Load"

LINES: Mapping[str, Line] = {
    "server": Line(SERVER, "server"),
    "models": Line(SERVER, "list of models"),
    "context": Line(SERVER, "context window"),
    "long_prompts": Line(SERVER, "long prompts"),
    "metrics": Line(SERVER, "metrics"),
    "chat": Line(ROUTES, "chat completions"),
    "completions": Line(ROUTES, "completions"),
    "messages": Line(ROUTES, "Messages (Anthropic)"),
    "responses": Line(ROUTES, "Responses (OpenAI)"),
    "gemini": Line(ROUTES, "Gemini (Google)"),
    "embeddings": Line(ROUTES, "embeddings"),
    "streaming": Line(ANSWERS, "streaming"),
    "usage": Line(ANSWERS, "usage"),
    "usage_in_stream": Line(ANSWERS, "usage in streams"),
    "finish_reasons": Line(ANSWERS, "finish reasons"),
    "token_counting": Line(ANSWERS, "counting tokens"),
    "output_limit": Line(FIELDS, "output limit"),
    "stop": Line(FIELDS, "stop"),
    "n": Line(FIELDS, "n"),
    "seed": Line(FIELDS, "seed"),
    "sampling": Line(FIELDS, "sampling"),
    "json_schema": Line(FIELDS, "JSON schema"),
    "images": Line(FIELDS, "images"),
    "tools": Line(TOOLS, "tool calls"),
    "several_tools": Line(TOOLS, "several at once"),
    "streamed_tools": Line(TOOLS, "in streams"),
    "reasoning": Line(THINKING, "where it comes"),
    "reasoning_switch": Line(THINKING, "how it is switched"),
    "logprobs": Line(LIKELIHOODS, "generated tokens"),
    "prompt_logprobs": Line(LIKELIHOODS, "prompt tokens"),
    "logprobs_agree": Line(LIKELIHOODS, "agreement"),
    "prompt_cache": Line(LOAD, "prompt cache"),
    "parallel": Line(LOAD, "parallel requests"),
}
"""All lines of a card by their keys, in the order in which they are shown."""


class Card(Record, frozen=True):
    """The capabilities of an endpoint: one finding per key of `LINES`.

    `checked_at`: the time of the examination (wall clock, ns). `requests`: the number of requests sent, in
    `seconds`. `late`: how many of them had no response in time.
    """

    base_url: str
    model: str
    checked_at: Moment
    requests: Amount = 0
    seconds: float = 0.0
    findings: dict[str, Finding] = {}
    late: Amount = 0
