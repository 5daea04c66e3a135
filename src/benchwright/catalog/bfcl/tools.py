"""Functions' documents (JSON descriptions) as the model sees them: with a language hint, or as tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from benchwright.catalog.bfcl.categories import Language
from benchwright.catalog.bfcl.parameter_types import JSON_TYPES

_LANGUAGE_HINTS = {
    "python": " Note that the provided function is in Python 3 syntax.",
    "java": " Note that the provided function is in Java 8 SDK syntax.",
    "javascript": " Note that the provided function is in JavaScript syntax.",
}
_LANGUAGE_NAMES = {"java": "Java", "javascript": "JavaScript"}
_LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def tool_name(name: str) -> str:
    """Return a function's name as a tool name of OpenAI-style interfaces: `math_sqrt` for `math.sqrt`."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]


def with_language_hint(functions: Iterable[dict[str, Any]], language: Language) -> list[dict[str, Any]]:
    """Return the functions' documents with BFCL's hint on the programming language.

    For Java and JavaScript, the types of all parameters become text.
    """
    return [_hinted(function, language) for function in functions]


def _hinted(function: dict[str, Any], language: Language) -> dict[str, Any]:
    shown = {**function, "description": function["description"] + _LANGUAGE_HINTS[language]}
    if language != "python":
        parameters = function["parameters"]
        properties = {
            name: _as_text(parameter, _LANGUAGE_NAMES[language])
            for name, parameter in parameters["properties"].items()
        }
        shown["parameters"] = {**parameters, "properties": properties}
    return shown


def _as_text(parameter: dict[str, Any], language: str) -> dict[str, Any]:
    declared = parameter.get("type", "any")
    hint = f" This is {language} {declared} type parameter in string representation."
    if declared == "any":
        hint = f" This parameter can be of any type of {language} object in string representation."
    shown = {**parameter, "type": "string"}
    if declared in ("ArrayList", "Array", "array") and "items" in shown:
        elements = shown.pop("items").get("type", "any")
        hint += f" The list elements are of type {elements}; they are not in string representation."
    if declared == "dict" and "properties" in shown:
        schema = json.dumps(shown.pop("properties"))
        hint += (
            " The dictionary entries have the following schema; they are not in string representation. "
            + schema
        )
    return {**shown, "description": parameter.get("description", "") + hint}


def functions_as_tools(functions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the functions' documents as tools in the OpenAI format, with JSON Schema types."""
    return [{"type": "function", "function": _as_tool(function)} for function in functions]


def _as_tool(function: dict[str, Any]) -> dict[str, Any]:
    parameters = function["parameters"]
    properties = _properties(parameters["properties"])
    return {
        **function,
        "name": tool_name(function["name"]),
        "parameters": {**parameters, "type": "object", "properties": properties},
    }


def _properties(properties: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: _property(declared) for name, declared in properties.items()}


def _property(declared: dict[str, Any]) -> dict[str, Any]:
    shown = {**declared, "type": _json_type(declared)}
    if declared.get("type") == "float":
        shown["format"] = "float"
        shown["description"] = declared.get("description", "") + " This is a float type value."
    if shown["type"] in ("array", "object"):
        if "properties" in declared:
            shown["properties"] = _properties(declared["properties"])
        elif "items" in declared:
            shown["items"] = _items(declared["items"])
    return shown


def _items(items: dict[str, Any]) -> dict[str, Any]:
    shown = {**items, "type": _json_type(items)}
    if shown["type"] == "array" and "items" in items:
        shown["items"] = {**items["items"], "type": _json_type(items["items"])}
    elif shown["type"] == "object" and "properties" in items:
        shown["properties"] = _properties(items["properties"])
    return shown


def _json_type(declared: dict[str, Any]) -> str:
    return JSON_TYPES.get(declared.get("type", "any"), "string")
