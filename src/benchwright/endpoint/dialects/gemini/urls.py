"""Parser of Gemini's URLs. They hold facts that other dialects put into the body: the model, and whether to stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

GENERATE_SUFFIX = ":generateContent"
STREAM_SUFFIX = ":streamGenerateContent?alt=sse"
ARRAY_STREAM_SUFFIX = ":streamGenerateContent"
"""Path suffix of requests for a stream in the form of one JSON array instead of server-sent events."""
COUNT_TOKENS_SUFFIX = ":countTokens"

URL_FIELDS = ("model", "stream", "alt")
"""Fields that are added to a request's body from its URL, for internal use only."""

_ADDRESS = re.compile(
    rb"(?:/+v1)*/+v1(?:(?:alpha|beta)\d*)?/+models/+(.+):(generateContent|streamGenerateContent|countTokens)/*"
)


class GeminiUrl(NamedTuple):
    """The parsed URL of a request.

    `path`: `GENERATE_SUFFIX` for a request for an answer, streamed or not; `COUNT_TOKENS_SUFFIX` for a token
    count. `alt`: "sse" if the stream is to be server-sent events.
    """

    path: str
    model: str
    stream: bool
    alt: str

    def add_to_body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a request body with those from the URL added.

        Other dialects have all of them in the body.
        """
        return {**fields, "model": self.model, "stream": self.stream, "alt": self.alt}


def parse_url(path: bytes, query: bytes) -> GeminiUrl | None:
    """Return the parsed URL of a request. Return None if path and query are not those of a Gemini URL."""
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
    """Return the end of the URL of a request.

    `stream`: True if the answer is to be streamed. `alt`: the form of the stream.
    """
    if not stream:
        return GENERATE_SUFFIX
    return STREAM_SUFFIX if alt == "sse" else ARRAY_STREAM_SUFFIX


def url_prefix(prefix: str, model: str) -> str:
    """Return the beginning of Gemini's URL paths at a server whose base URL has the path `prefix`.

    If `prefix` is that of Google's chat completions (`/v1beta/openai`), Gemini's paths begin with `/v1beta`.
    At other servers, `/v1beta` takes the place of a final `/v1`.
    """
    root = prefix.removesuffix("/openai")
    beta = root if root != prefix else f"{prefix.removesuffix('/v1')}/v1beta"
    return f"{beta}/models/{quote(model, safe='/:@')}"
