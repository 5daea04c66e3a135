"""Reasoning effort: the request fields that set it, in the style of each server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

from benchwright.config import ModelEntry, Models, ThinkingSettings
from benchwright.endpoint.access import Access
from benchwright.endpoint.reasoning_effort import (
    REQUEST_STYLES,
    DetectedStyle,
    ReasoningSettings,
    body_fields,
    style_of_host,
    style_of_server,
)
from benchwright.errors import ProviderError, UserError
from benchwright.records import Target
from benchwright.runs.journal import encode_json

THINKING_STYLE_OPTION = "--thinking-style"


class SentReasoningFields(NamedTuple):
    """The request fields that are sent to set the reasoning effort.

    `style`: the server's naming of these fields. `by`: how the style was chosen.
    """

    fields: Mapping[str, Any]
    style: str
    by: str

    @property
    def description(self) -> str:
        """The fields that are sent, in one line for people."""
        return f"sent for thinking: {encode_json(self.fields).decode()} (style {self.style}, by {self.by})"


def reasoning_settings_for_model(
    thinking: ThinkingSettings, entry: ModelEntry | None = None
) -> ReasoningSettings:
    """Return the reasoning effort that the user wants for a model. A model's own setting replaces the shared one."""
    if entry is None or (entry.reasoning_effort is None and entry.thinking_budget is None):
        return ReasoningSettings(thinking.reasoning_effort, thinking.thinking_budget)
    return ReasoningSettings(entry.reasoning_effort, entry.thinking_budget)


def find_sent_fields(
    thinking: ThinkingSettings, entry: ModelEntry | None, target: Target, access: Access
) -> SentReasoningFields | None:
    """Return the reasoning fields that are sent to a target. None if the user set no effort.

    If the user names no style, the style is detected from the address. If the address does not tell, the server is
    asked for its models, which generates no tokens.

    Raises:
        UserError: If the style cannot be determined, or has no field for the wanted effort.
    """
    wanted = reasoning_settings_for_model(thinking, entry)
    if wanted == ReasoningSettings():
        return None
    given = (entry.thinking_style if entry is not None else None) or thinking.thinking_style
    found = (
        DetectedStyle(given, THINKING_STYLE_OPTION)
        if given is not None
        else _find_style(target.base_url, access)
    )
    return SentReasoningFields(body_fields(found.style, wanted), found.style, found.evidence)


@lru_cache(maxsize=64)
def _find_style(base_url: str, access: Access) -> DetectedStyle:
    told = f"give {THINKING_STYLE_OPTION}, one of {', '.join(REQUEST_STYLES)}."
    found = style_of_host(base_url)
    if found is None:
        try:
            with ThreadPoolExecutor(1) as thread:  # a loop may be running here
                found = thread.submit(lambda: asyncio.run(style_of_server(base_url, access))).result()
        except ProviderError as error:
            raise UserError(
                f"How {base_url} takes thinking options cannot be found out: {error} Or {told}"
            ) from None
    if found is None:
        raise UserError(
            f"{base_url} does not say which server it is, so how it takes thinking options is unknown: {told}"
        )
    return found


def refusal_hints(thinking: ThinkingSettings, tried: Models, target: Target) -> dict[str, str]:
    """Return advice by field name: what to do if a server refuses a body field that an option set."""
    return {name: hint for name, hint in _hints(thinking, tried).items() if _has_field(target.settings, name)}


def _hints(thinking: ThinkingSettings, tried: Models) -> dict[str, str]:
    hints: dict[str, str] = {}
    for entry in (None, *tried):
        wanted = reasoning_settings_for_model(thinking, entry)
        if wanted != ReasoningSettings():
            option = "--reasoning-effort" if wanted.effort else "--thinking-budget"
            told = f"{option} sent it; {THINKING_STYLE_OPTION} says how, and without {option} nothing is sent"
            hints |= dict.fromkeys(_field_names(), told)
    if thinking.sends_recommended_settings:
        hints |= dict.fromkeys(("top_k", "min_p", "top_p"), "--recommended sent it; leave that out")
    return hints


def _has_field(fields: Mapping[str, Any], name: str) -> bool:
    return name in fields or any(
        _has_field(value, name) for value in fields.values() if isinstance(value, Mapping)
    )


def _field_names() -> tuple[str, ...]:
    return (
        *(
            "reasoning_effort",
            "reasoning",
            "thinking_token_budget",
            "chat_template_kwargs",
            "thinking_budget",
        ),
        *("enable_thinking", "thinking_config", "thinking", "extra_body"),
    )
