"""Parser of Gemini's URLs, which hold facts that other dialects have in the body: the model, and whether to stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

GENERATE_SUFFIX = ":generateContent"
STREAM_SUFFIX = ":streamGenerateContent?alt=sse"
ARRAY_STREAM_SUFFIX = ":streamGenerateContent"
"""Path suffix for a stream that is one JSON array instead of server-sent events."""
COUNT_TOKENS_SUFFIX = ":countTokens"

URL_FIELDS = ("model", "stream", "alt")
"""Fields that are added to a body from its URL, for internal use only."""

_ADDRESS = re.compile(
    rb"(?:/+v1)*/+v1(?:(?:alpha|beta)\d*)?/+models/+(.+):(generateContent|streamGenerateContent|countTokens)/*"
)


class GeminiUrl(NamedTuple):
    """Parsed URL of a request.

    `path`: WHOLE for any request for an answer, or COUNT. `alt`: `sse` if server-sent events are requested.
    """

    path: str
    model: str
    stream: bool
    alt: str

    def add_to_body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request body's fields with those from the URL added, as other dialects have them in the body."""
        return {**fields, "model": self.model, "stream": self.stream, "alt": self.alt}


def parse_url(path: bytes, query: bytes) -> GeminiUrl | None:
    """Return the parsed address of a request; None if path and query are not Gemini's."""
    known = _ADDRESS.fullmatch(path)
    if known is None:
        return None
    method = f":{known[2].decode()}"
    alt = "sse" if b"alt=sse" in query.split(b"&") else "json"
    model = unquote(known[1].decode("latin-1"), errors="replace")
    return GeminiUrl(
        COUNT_TOKENS_SUFFIX if method == COUNT_TOKENS_SUFFIX else GENERATE_SUFFIX,
        model,
        method == ARRAY_STREAM_SUFFIX,
        alt,
    )


def url_suffix(stream: bool, alt: str) -> str:
    """Return the end of the URL for an answer in this form: streamed or not, and the value of `alt`."""
    if not stream:
        return GENERATE_SUFFIX
    return STREAM_SUFFIX if alt == "sse" else ARRAY_STREAM_SUFFIX


def url_prefix(prefix: str, model: str) -> str:
    """Return the beginning of Gemini's URLs at a server whose base URL has the path `prefix`.

    For the base URL of Google's chat completions (`/v1beta/openai`), it is Google's own, else beside `/v1`.
    """
    root = prefix.removesuffix("/openai")
    beta = root if root != prefix else f"{prefix.removesuffix('/v1')}/v1beta"
    return f"{beta}/models/{quote(model, safe='/:@')}"
