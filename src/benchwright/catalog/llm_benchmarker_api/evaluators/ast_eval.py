"""Parses function calls in text, and compares them with expected calls. Nothing is ever evaluated."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Call = dict[str, Any]
"""A function call as a mapping: its `name`, and its `arguments` by their names."""

MAX_CHARACTERS = 50_000
"""Maximum length in characters of a text that is parsed as Python. Hostile texts take long to parse."""

_JSON_BLOCK = re.compile(r"```json\s*\n?([^`]*)```", re.IGNORECASE)
_NOT_PARSED = (ValueError, SyntaxError, RecursionError, MemoryError)


def parse_function_call(text: str) -> list[Call]:
    """Return the calls in a text, each `{"name": ..., "arguments": {...}}`. Return [] if there are none.

    The text is parsed in these ways, until one succeeds: as JSON, by its first JSON code block, as one Python
    call, as several Python calls. JSON calls may be in OpenAI's form (`function`, `arguments`), with
    `parameters`, or in BFCL's form (`{"name": {arguments}}`). Positional Python arguments are named `arg0`,
    `arg1`, …; arguments that are not literals are kept as source text.
    """
    text = text.strip()
    block = _JSON_BLOCK.search(text)
    for written in (text, *([block[1]] if block else [])):
        calls = _json_calls(written)
        if calls:
            return calls
    return _python_calls(text) or _python_calls(f"[{text}]")


def compare_function_calls(
    predicted: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]
) -> tuple[bool, dict[str, Any]]:
    """Return True if both lists contain the same calls in any order, and the details of the comparison.

    Two calls are the same if their names and their normalised arguments are equal. The details have
    `predicted_count` and `expected_count`. If the lists differ, they also have a `reason`, or as `unmatched`
    a call that has no equal.
    """
    details: dict[str, Any] = {"predicted_count": len(predicted), "expected_count": len(expected)}
    if len(predicted) != len(expected):
        return False, details | {"reason": f"{len(predicted)} calls instead of {len(expected)}"}
    left = [_normal_call(call) for call in expected]
    for call in predicted:
        normal = _normal_call(call)
        match = next((index for index, other in enumerate(left) if _same(normal, other)), None)
        if match is None:
            return False, details | {
                "reason": f"no such call is expected: {normal[0]}",
                "unmatched": dict(call),
            }
        del left[match]
    return True, details


def normalize_value(value: Any) -> Any:
    """Return the value with sorted keys at all levels. A text that is JSON is replaced by the JSON value."""
    if isinstance(value, Mapping):
        return {key: normalize_value(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [normalize_value(item) for item in value]
    if isinstance(value, str):
        try:
            return normalize_value(json.loads(value, parse_constant=_refuse))
        except _NOT_PARSED:
            return value
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not valid JSON")


def _normal_call(call: Mapping[str, Any]) -> tuple[Any, Any]:
    return call.get("name"), normalize_value(call.get("arguments") or {})


def _same(one: Any, other: Any) -> bool:
    """Return True if two values are equal. Unlike in Python, True differs from 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _json_calls(text: str) -> list[Call]:
    try:
        value = json.loads(text)
    except _NOT_PARSED:
        return []
    items = value if isinstance(value, list) else [value]
    return [call for item in items if isinstance(item, dict) for call in _calls_of(item)]


def _calls_of(item: dict[str, Any]) -> Iterator[Call]:
    if isinstance(item.get("function"), dict):
        item = item["function"]
    if isinstance(item.get("name"), str):
        arguments = item.get("arguments", item.get("parameters"))
        yield {"name": item["name"], "arguments": _arguments(arguments)}
    elif all(isinstance(arguments, dict) for arguments in item.values()):
        yield from ({"name": name, "arguments": arguments} for name, arguments in item.items())


def _arguments(given: Any) -> Any:
    """Return arguments as values. If they are JSON text, as OpenAI sends it, the text is parsed."""
    if isinstance(given, str):
        try:
            return json.loads(given)
        except _NOT_PARSED:
            return given
    return {} if given is None else given


def _python_calls(text: str) -> list[Call]:
    if len(text) > MAX_CHARACTERS:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
        nodes = body.elts if isinstance(body, ast.List | ast.Tuple) else [body]
        if len(nodes) == 1 and isinstance(nodes[0], ast.List | ast.Tuple):
            nodes = nodes[0].elts
        return [_python_call(node) for node in nodes]
    except _NOT_PARSED:
        return []


def _python_call(node: ast.expr) -> Call:
    if not isinstance(node, ast.Call):
        raise ValueError("no call")
    arguments = {f"arg{index}": _literal(value) for index, value in enumerate(node.args)}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ValueError("arguments that are not named")
        arguments[keyword.arg] = _literal(keyword.value)
    return {"name": ast.unparse(node.func), "arguments": arguments}


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return ast.unparse(node)
