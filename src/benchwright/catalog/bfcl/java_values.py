"""Parses values in Java syntax by BFCL's rules (bfcl_eval, java_type_converter.py).

A value that cannot be parsed as the wanted type remains a string, which the check of its type then rejects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchwright.catalog.bfcl.parameter_types import MAX_SOURCE_LENGTH

_WHOLE = re.compile(r"^-?\d+$")
_LONG = re.compile(r"^-?\d+[lL]$")
_DOUBLE = re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$")
_FLOAT = re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$")
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_LIST_BLOCK = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{")
_ADD = re.compile(r"add\((.+?)\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_MAP_BLOCK = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{", re.DOTALL)
_KEY_END = re.compile(r"\",\s*")


def parse_java_value(text: str, wanted: str, element: str | None = None) -> Any:
    """Parse the source text of a value. `wanted`: its declared type. `element`: the declared type of its elements.

    Raises:
        NotImplementedError: If BFCL has no rule for the type (Set, Hashtable, Queue, Stack).
    """
    match wanted:
        case "byte" | "short" | "integer":
            return int(text) if _WHOLE.match(text) else text
        case "long":
            return int(text.rstrip("\n")[:-1]) if _LONG.match(text) else text
        case "float":
            return float(text.rstrip("\n")[:-1]) if _FLOAT.match(text) else text
        case "double":
            return float(text) if _DOUBLE.match(text) else text
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "char" | "String" | "any":
            return text
    if len(text) > MAX_SOURCE_LENGTH:
        return text
    match wanted:
        case "Array":
            return _array(text, element)
        case "ArrayList":
            return _list(text, element)
        case "HashMap":
            return _map(text)
    raise NotImplementedError(f"no rule for values of the Java type {wanted}")


def _array(text: str, element: str | None) -> Any:
    found = _ARRAY.search(text)
    if found is None:
        return text
    parts = (part.strip() for part in found[1].split(","))
    return [parse_java_value(part, element) if element else _untyped(part) for part in parts if part]


def _list(text: str, element: str | None) -> Any:
    if found := _AS_LIST.search(text):
        return [_element(part.strip(), element) for part in found[1].split(",")]
    block = _list_block(text)
    if block is not None:
        return [_element(part.strip(), element) for part in _ADD.findall(block)]
    return [] if _LIST.search(text) else text


def _list_block(text: str) -> str | None:
    """Return the text inside `{{ … }}` after a constructor. Return None if there is no such text.

    The text has at least one character.
    """
    for opening in _LIST_BLOCK.finditer(text):
        start = opening.end()
        inner = start + len(text[start:]) - len(text[start:].lstrip())
        for begin in (inner, start):
            end = text.find("}}", begin + 1)
            if end >= 0:
                return text[begin:end]
    return None


def _element(text: str, element: str | None) -> Any:
    if element in ("char", "String"):
        return text[1:-1]
    return parse_java_value(text, element) if element else _untyped(text)


def _map(text: str) -> Any:
    opening = _MAP_BLOCK.search(text)
    end = text.find("}", opening.end()) if opening else -1
    if opening is None or end < 0:
        return {} if _MAP.search(text) else text
    return {key: _untyped(value.strip()) for key, value in _puts(text[opening.end() : end])}


def _puts(block: str) -> Iterator[tuple[str, str]]:
    """Yield (key, value) for every `put("key", value)` in a block. Key and value contain no line break."""
    at = 0
    while (start := block.find('put("', at)) >= 0:
        line_end = _or_end(block.find("\n", start), block)
        for key_end in _KEY_END.finditer(block, start + 5):
            if key_end.start() > line_end:
                break
            close = block.find(")", key_end.end())
            if 0 <= close < _or_end(block.find("\n", key_end.end()), block):
                yield block[start + 5 : key_end.start()], block[key_end.end() : close]
                at = close + 1
                break
        at = max(at, start + 1)


def _or_end(position: int, text: str) -> int:
    return len(text) if position < 0 else position


def _untyped(text: str) -> Any:
    """Parse a value that has no declared type. The form of the text decides its type."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(text[:-1])
    return parse_number_or_text(text)


def parse_number_or_text(text: str) -> Any:
    """Return the text as an int or a float if it is a number. Return other text unchanged."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
