"""Gemini's addresses, which say what other dialects say in the body: the model, and whether the answer is a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

WHOLE = ":generateContent"
STREAM = ":streamGenerateContent?alt=sse"
ARRAY = ":streamGenerateContent"
"""A stream that is one JSON array in place of events."""
COUNT = ":countTokens"

OF_THE_ADDRESS = ("model", "stream", "alt")
"""Fields that a body has from its address, in here only."""

_ADDRESS = re.compile(
    rb"(?:/+v1)*/+v1(?:(?:alpha|beta)\d*)?/+models/+(.+):(generateContent|streamGenerateContent|countTokens)/*"
)


class Address(NamedTuple):
    """What is asked of a model: `path` is WHOLE for an answer in any form, or COUNT; `alt` is `sse` for events."""

    path: str
    model: str
    stream: bool
    alt: str

    def in_body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a body with what the address says: as other dialects ask."""
        return {**fields, "model": self.model, "stream": self.stream, "alt": self.alt}


def address_of(path: bytes, query: bytes) -> Address | None:
    """The address in a request's path and query; None where they are none of Gemini's."""
    known = _ADDRESS.fullmatch(path)
    if known is None:
        return None
    method = f":{known[2].decode()}"
    alt = "sse" if b"alt=sse" in query.split(b"&") else "json"
    model = unquote(known[1].decode("latin-1"), errors="replace")
    return Address(COUNT if method == COUNT else WHOLE, model, method == ARRAY, alt)


def path_of(stream: bool, alt: str) -> str:
    """The end of the address at which an answer comes in this form."""
    if not stream:
        return WHOLE
    return STREAM if alt == "sse" else ARRAY


def place(prefix: str, model: str) -> str:
    """What stands before the end of an address, where a server's base URL has this path.

    It is Google's own for their chat completions (`/v1beta/openai`), else beside `/v1`.
    """
    root = prefix.removesuffix("/openai")
    beta = root if root != prefix else f"{prefix.removesuffix('/v1')}/v1beta"
    return f"{beta}/models/{quote(model, safe='/:@')}"
