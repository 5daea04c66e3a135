"""Settings in programs' requests. The user's settings are merged in, and the result is returned for the record.

The user's settings win over the program's. Only objects that hold a setting are decoded, so all other values
of the program stay byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

import msgspec

from benchwright.endpoint.dialects import Dialect
from benchwright.endpoint.dialects.gemini.field_names import to_snake_case
from benchwright.records import DECODE_ERRORS

SettingPath = tuple[str, ...]
"""Path to a setting in a request: the names of the nested fields, from the outermost field to the setting's own."""

MAX_TOKENS_FIELD = "max_tokens"
_LIMITS = frozenset({MAX_TOKENS_FIELD, "max_completion_tokens", "max_output_tokens", "maxOutputTokens"})
_ALSO_CALLED = {MAX_TOKENS_FIELD: "max_completion_tokens", "max_completion_tokens": MAX_TOKENS_FIELD}
_EXCLUDED_BY = {"thinkingLevel": "thinkingBudget"}
"""Mapping from a field to another field that a server refuses in the same object."""

_BUDGET = ("thinking", "budget_tokens")
MIN_THINKING_BUDGET = 1_024

_READ = {
    name: (name,)
    for name in (
        *("temperature", "top_p", "top_k", "min_p", MAX_TOKENS_FIELD, "max_completion_tokens", "seed"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "reasoning_effort"),
    )
}
"""Settings that are recorded with a request: a mapping from the name in chat completions to the possible paths."""

_decode = msgspec.json.Decoder().decode


class RelaySettings(NamedTuple):
    """Settings of a target for the requests of a program.

    `overridable_names`: the names of settings for which the program's value wins.
    """

    setting_values: Mapping[str, Any]
    overridable_names: Set[str] = frozenset()

    def merge_into(self, fields: Mapping[str, Any], dialect: Dialect | None) -> dict[str, Any]:
        """Return a request's fields with the target's settings merged in, as far as the dialect has these settings.

        `dialect`: None for chat completions. A token limit is an upper bound: if the program sets a smaller
        limit, that limit stays.
        """
        merged = dict(fields)
        for name, value in self.setting_values.items():
            path = (name,) if dialect is None else dialect.setting_paths.get(name)
            if path is not None and (name in _LIMITS or not self._yields(name, fields, path)):
                _set(merged, path, value)
        if MAX_TOKENS_FIELD in self.setting_values:
            _fit_thinking(merged)
        return merged

    def added_setting_names(self, fields: Mapping[str, Any]) -> set[str]:
        """Return the names of the settings that Benchwright adds to a chat completion with these fields."""
        return {name for name in self.setting_values if not self._yields(name, fields, (name,))}

    def _yields(self, name: str, fields: Mapping[str, Any], path: SettingPath) -> bool:
        return name in self.overridable_names and _has(fields, path)


def sent_settings(dialect: Dialect | None, fields: Mapping[str, Any]) -> dict[str, int | float | str]:
    """Return the settings in a request: a mapping from the setting's name in chat completions to its value.

    `dialect`: None for a chat completion.
    """
    paths = (
        _READ
        if dialect is None
        else {name: dialect.setting_paths[name] for name in _READ if name in dialect.setting_paths}
    )
    found = ((name, _value(fields, path)) for name, path in paths.items())
    sent = {name: value for name, value in found if isinstance(value, float | int | str)}
    limit = sent.pop("max_completion_tokens", None)
    return sent if limit is None else {**sent, MAX_TOKENS_FIELD: limit}


def _set(fields: dict[str, Any], path: SettingPath, value: Any) -> None:
    name, *inner = path
    written = _written(fields, name) or [name]
    if inner:
        held = _object(fields.get(written[0]))
        _set(held, tuple(inner), value)
        fields[written[0]] = held
        return
    if name in _EXCLUDED_BY:
        for other in _names(_EXCLUDED_BY[name]):
            fields.pop(other, None)
    for one in written:
        fields[one] = _lower(fields.get(one), value) if name in _LIMITS else value


def _fit_thinking(fields: dict[str, Any]) -> None:
    """Lower the thinking budget in Messages below the token limit. If the limit is too low for that, turn thinking off.

    Anthropic's API refuses a budget below 1,024 tokens, and a budget that is not below `max_tokens`.
    """
    limit, budget = (_value(fields, path) for path in ((MAX_TOKENS_FIELD,), _BUDGET))
    if type(limit) is not int or type(budget) is not int or budget < limit:
        return
    thinking = _object(fields[_BUDGET[0]])
    fits = limit > MIN_THINKING_BUDGET
    fields[_BUDGET[0]] = {**thinking, _BUDGET[1]: limit - 1} if fits else {"type": "disabled"}


def _written(fields: Mapping[str, Any], name: str) -> list[str]:
    """Return the spellings (camelCase, snake_case) of a field's name that occur in `fields`."""
    return [one for one in _names(name) if one in fields]


def _names(name: str) -> Iterable[str]:
    return dict.fromkeys((name, _ALSO_CALLED.get(name, to_snake_case(name))))


def _lower(own: Any, limit: Any) -> Any:
    value = _plain(own)
    return min(value, limit) if type(value) is int and type(limit) is int else limit


def _has(fields: Mapping[str, Any], path: SettingPath) -> bool:
    holder = _value(fields, path[:-1])
    return isinstance(holder, Mapping) and bool(_written(holder, path[-1]))


def _value(fields: Mapping[str, Any], path: SettingPath) -> Any:
    held: Any = fields
    for name in path:
        if not isinstance(held, Mapping):
            return None
        held = next((held[one] for one in _written(held, name)), None)
        held = _plain(held)
    return held


def _object(value: Any) -> dict[str, Any]:
    """Return a copy of a nested object's fields. Return {} if the value is not an object.

    No server would accept a request with such a value.
    """
    plain = _plain(value)
    return dict(plain) if isinstance(plain, dict) else {}


def _plain(value: Any) -> Any:
    if not isinstance(value, msgspec.Raw):
        return value
    try:
        return _decode(value)
    except DECODE_ERRORS:
        return None
