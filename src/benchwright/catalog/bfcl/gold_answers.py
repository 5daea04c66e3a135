"""Builds right calls from the possible answers."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from benchwright.catalog.bfcl.call_checker import ExpectedCall
from benchwright.catalog.bfcl.calls import Call
from benchwright.catalog.bfcl.categories import Category, Language
from benchwright.catalog.bfcl.parameter_types import JAVASCRIPT_TYPES
from benchwright.catalog.bfcl.value_checker import OPTIONAL_ARGUMENT_MARK

_JAVA_CLASSES = {
    "String": "String",
    "integer": "Integer",
    "long": "Long",
    "double": "Double",
    "char": "Character",
}


def gold_calls(
    category: Category, functions: Sequence[dict[str, Any]], answers: Sequence[ExpectedCall]
) -> list[Call]:
    """Return calls with the first allowed value of every required parameter.

    For Java and JavaScript, values are source text.
    """
    documents = {function["name"]: function["parameters"] for function in functions}
    return [_gold_call(category.language, documents, answer) for answer in answers]


def _gold_call(language: Language, documents: dict[str, Any], answer: ExpectedCall) -> Call:
    ((name, possible),) = answer.items()
    document = documents[name]
    arguments = {}
    for parameter, values in possible.items():
        if OPTIONAL_ARGUMENT_MARK in values and parameter not in document.get("required", ()):
            continue
        declared = document["properties"].get(parameter, {})
        value = _plain(next((one for one in values if one != OPTIONAL_ARGUMENT_MARK), OPTIONAL_ARGUMENT_MARK))
        arguments[parameter] = value if language == "python" else _source(language, declared, value)
    return Call(name, arguments)


def _plain(value: Any) -> Any:
    """Return an allowed value as the value of an argument in a call.

    In a dictionary, each key gets the first of its allowed values. Keys that may be omitted are left out. In
    a list, this is done with each dictionary. Other values are returned unchanged.
    """
    if isinstance(value, dict):
        return {
            key: next((one for one in values if one != OPTIONAL_ARGUMENT_MARK), OPTIONAL_ARGUMENT_MARK)
            for key, values in value.items()
            if OPTIONAL_ARGUMENT_MARK not in values
        }
    return (
        [_plain(one) if isinstance(one, dict) else one for one in value] if isinstance(value, list) else value
    )


def _source(language: Language, declared: dict[str, Any], value: Any) -> str:
    """Return a value as source text of Java or JavaScript. `declared`: the description of the parameter."""
    kind = declared.get("type", "any")
    element = declared.get("items", {}).get("type", "any")
    if isinstance(value, str):
        return value
    if language == "javascript":
        return _javascript(kind, element, value)
    return _java(kind, element, value)


def _javascript(kind: str, element: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and kind == "Bigint":
        return f"{value}n"
    if isinstance(value, float) and JAVASCRIPT_TYPES.get(kind) is int:
        return f"{value:g}"
    return json.dumps(value)


def _java(kind: str, element: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        parts = ", ".join(_java_element(kind, element, one) for one in value)
        if kind == "Array":
            return f"new {element}[]{{{parts}}}"
        return (
            f"new ArrayList<{_JAVA_CLASSES.get(element, 'Object')}>(Arrays.asList({parts}))"
            if value
            else ("new ArrayList<>()")
        )
    if isinstance(value, dict):
        puts = " ".join(
            f'put("{key}", {_java_element("HashMap", "any", one)});' for key, one in value.items()
        )
        return f"new HashMap<String, Object>() {{{{ {puts} }}}}"
    return f"{value}{ {'long': 'L', 'float': 'f'}.get(kind, '') }"


def _java_element(kind: str, element: str, value: Any) -> str:
    if isinstance(value, str):
        quote = "'" if element == "char" else '"'
        return (
            value
            if kind == "Array" or (kind == "ArrayList" and element == "any")
            else f"{quote}{value}{quote}"
        )
    return _java(element, "any", value)


def unmatchable_reason(
    category: Category, functions: Sequence[dict[str, Any]], answers: Sequence[ExpectedCall]
) -> str | None:
    """Return the reason why the official rules accept no call for these possible answers.

    Return None if they accept one.
    """
    documents = {function["name"]: function["parameters"] for function in functions}
    for answer in answers:
        ((name, possible),) = answer.items()
        properties = documents[name]["properties"]
        for parameter in documents[name].get("required", ()):
            if parameter not in possible:
                return f"{parameter!r} is required, and has no possible value"
        for parameter, values in possible.items():
            if OPTIONAL_ARGUMENT_MARK in values:
                continue
            if parameter not in properties:
                return f"{parameter!r} must be given, and is not a parameter of the function"
            if not values:
                return f"{parameter!r} must be given, and has no possible value"
            if category.language == "java" and _unreadable_elements(properties[parameter], values):
                return f"the elements of {parameter!r} are read as text, and the possible ones are none"
    return None


def _unreadable_elements(declared: dict[str, Any], values: Sequence[Any]) -> bool:
    untyped = declared.get("items", {}).get("type") == "any"
    return untyped and all(
        isinstance(value, list) and any(not isinstance(one, str) for one in value) for value in values
    )


def gold_calls_by_turn(
    functions: Sequence[dict[str, Any]], answers: Sequence[Sequence[str]]
) -> list[list[Call]]:
    """Return the expected calls of a multi-turn task: a list for each turn.

    Positional arguments get their names from the functions' documents.
    """
    names = {function["name"]: list(function["parameters"]["properties"]) for function in functions}
    return [[_named(source, names) for source in turn] for turn in answers]


def _named(source: str, names: dict[str, list[str]]) -> Call:
    node = ast.parse(source, mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError(f"no call: {source}")
    given = {keyword.arg or "**": keyword.value for keyword in node.keywords}
    given |= dict(zip(names.get(node.func.id, []), node.args, strict=False))
    return Call(node.func.id, {name: ast.literal_eval(value) for name, value in given.items()})


def calls_as_message(calls: Sequence[Call], spelled: Any) -> dict[str, Any]:
    """Build an assistant message with these calls as tool calls.

    `spelled`: converts a function's name to its form in the calls (with `_` for `.`).
    """
    tool_calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": spelled(call.name), "arguments": json.dumps(call.arguments)},
        }
        for number, call in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def calls_as_text(calls: Sequence[Call], language: Language) -> str:
    """Return the calls as text, in the form that a prompt model uses.

    A prompt model gets functions in its prompt, not as tools. In Java and JavaScript, all values are text, as
    the functions' documents require.
    """
    written = [
        f"{call.name}({', '.join(f'{name}={_written(language, value)}' for name, value in call.arguments.items())})"
        for call in calls
    ]
    return f"[{', '.join(written)}]"


def _written(language: Language, value: Any) -> str:
    if language == "python":
        return repr(value)
    mark = next((mark for mark in ('"', "'") if mark not in str(value)), "")
    return f"{mark}{value}{mark}"
