"""The card of an endpoint as plain data: a finding for each line."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from benchwright.records import Amount, Record, WallClockNs


class State(StrEnum):
    """State of a finding.

    The feature works as in the API's reference, does not work, works differently, or its state is unknown.
    """

    YES = "yes"
    NO = "no"
    PARTLY = "partly"
    UNKNOWN = "unknown"


class Finding(Record, frozen=True):
    """The finding for one line of a card.

    `outcome`: the name of one of the line's outcomes (docs/check.md), or `unknown`. `said`: the outcome in a
    few words; if the outcome is unknown, the reason. `follows`: the consequences for evaluations. `detail`:
    the values that replace the placeholders in the texts of the outcome.
    """

    state: State
    outcome: str
    said: str
    follows: str = ""
    detail: dict[str, Any] = {}


class CardLine(NamedTuple):
    """A line of the card. `group`: the heading under which the line is shown. `title`: the name of the line."""

    group: str
    title: str


SERVER, ROUTES, ANSWERS, FIELDS = "Server", "Routes", "Answers", "Request fields"
TOOLS, THINKING, LIKELIHOODS, LOAD = "Tool calls", "Thinking", "Log-probabilities", "Load"

CARD_LINES: Mapping[str, CardLine] = {
    "server": CardLine(SERVER, "server"),
    "models": CardLine(SERVER, "list of models"),
    "context": CardLine(SERVER, "context window"),
    "long_prompts": CardLine(SERVER, "long prompts"),
    "metrics": CardLine(SERVER, "metrics"),
    "chat": CardLine(ROUTES, "chat completions"),
    "completions": CardLine(ROUTES, "completions"),
    "messages": CardLine(ROUTES, "Messages (Anthropic)"),
    "responses": CardLine(ROUTES, "Responses (OpenAI)"),
    "gemini": CardLine(ROUTES, "Gemini (Google)"),
    "embeddings": CardLine(ROUTES, "embeddings"),
    "streaming": CardLine(ANSWERS, "streaming"),
    "usage": CardLine(ANSWERS, "usage"),
    "usage_in_stream": CardLine(ANSWERS, "usage in streams"),
    "finish_reasons": CardLine(ANSWERS, "finish reasons"),
    "token_counting": CardLine(ANSWERS, "counting tokens"),
    "output_limit": CardLine(FIELDS, "output limit"),
    "stop": CardLine(FIELDS, "stop"),
    "n": CardLine(FIELDS, "n"),
    "seed": CardLine(FIELDS, "seed"),
    "sampling": CardLine(FIELDS, "sampling"),
    "json_schema": CardLine(FIELDS, "JSON schema"),
    "images": CardLine(FIELDS, "images"),
    "tools": CardLine(TOOLS, "tool calls"),
    "several_tools": CardLine(TOOLS, "several at once"),
    "streamed_tools": CardLine(TOOLS, "in streams"),
    "reasoning": CardLine(THINKING, "where it comes"),
    "reasoning_switch": CardLine(THINKING, "how it is switched"),
    "logprobs": CardLine(LIKELIHOODS, "generated tokens"),
    "prompt_logprobs": CardLine(LIKELIHOODS, "prompt tokens"),
    "logprobs_agree": CardLine(LIKELIHOODS, "agreement"),
    "prompt_cache": CardLine(LOAD, "prompt cache"),
    "parallel": CardLine(LOAD, "parallel requests"),
}
"""All lines of a card in the order in which they are shown: a mapping from the line's key to the line."""


class Card(Record, frozen=True):
    """The capabilities of an endpoint: one finding per key of `CARD_LINES`.

    `checked_at`: the time of the examination (wall clock, ns). `requests`: the number of requests sent.
    `seconds`: the duration of the examination. `late`: the number of requests that had no response in time.
    """

    base_url: str
    model: str
    checked_at: WallClockNs
    requests: Amount = 0
    seconds: float = 0.0
    findings: dict[str, Finding] = {}
    late: Amount = 0
