"""Calls written in Java or JavaScript: `Name.method(first="a", second=new int[]{1, 2})`.

The official code uses full parsers of both languages here, but only to find the call and its arguments. This
one looks at quotation marks, brackets and commas, and so reads some values that are no Java or JavaScript
(`value=John Doe`). It keeps the `{{ put(…); }}` of a HashMap, which the official code loses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchwright.catalog.bfcl.calls import Call, DecodingError
from benchwright.catalog.bfcl.categories import Language

_NAME = re.compile(r"\s*([A-Za-z_$][\w$]*(?:\s*\.\s*[A-Za-z_$][\w$]*)*)\s*\(")
_ARGUMENT = re.compile(r"\s*([A-Za-z_$][\w$]*)\s*=(?!=)\s*")
_TYPE_ARGUMENTS = re.compile(r"(?<=\w)<[\w\s,.?\[\]]*(?:<[\w\s,.?\[\]]*>[\w\s,.?\[\]]*)*>")
_VALUE_END = re.compile(r"[\w$\"'`)\]}]$")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_QUOTES = {"java": "\"'", "javascript": "\"'`"}


def source_calls(text: str, language: Language) -> list[Call]:
    """The first call of a source text, its named arguments as they are written; quotation marks are taken off.

    The official parser looks at the first call only, too; what is no named argument is left out.

    Raises:
        Undecodable: there is no call, or it is not closed.
    """
    found = _NAME.match(text)
    if found is None:
        raise DecodingError("the answer is no call")
    arguments: dict[str, str] = {}
    for part in _parts(text[found.end() :], _QUOTES[language]):
        named = _ARGUMENT.match(part)
        if named is None:
            continue
        if named[1] in arguments:
            raise DecodingError(f"the argument {named[1]!r} is given twice")
        value = part[named.end() :].strip()
        if not _VALUE_END.search(value):
            raise DecodingError(f"the argument {named[1]!r} has no value: {value!r}")
        arguments[named[1]] = _unquoted(value)
    return [Call(re.sub(r"\s", "", found[1]), arguments)]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _parts(text: str, quotes: str) -> Iterator[str]:
    """What stands between the commas up to the closing parenthesis; brackets and quoted text are kept whole."""
    open_pairs: list[str] = []
    quote = ""
    start = position = 0
    while position < len(text):
        mark = text[position]
        if quote:
            if mark == "\\":
                position += 1
            elif mark == quote:
                quote = ""
        elif mark in quotes:
            quote = mark
        elif mark == "<" and (types := _TYPE_ARGUMENTS.match(text, position)):
            position = types.end() - 1
        elif mark in _PAIRS:
            open_pairs.append(_PAIRS[mark])
        elif open_pairs and mark == open_pairs[-1]:
            open_pairs.pop()
        elif not open_pairs and mark in ",)":
            yield text[start:position]
            start = position + 1
            if mark == ")":
                _check_end(text[position + 1 :])
                return
        position += 1
    raise DecodingError("the call is not closed")


def _check_end(rest: str) -> None:
    """A statement may end behind the call; anything else makes the whole no call."""
    if rest.strip() and not rest.lstrip().startswith(";"):
        raise DecodingError("there is text after the call")
