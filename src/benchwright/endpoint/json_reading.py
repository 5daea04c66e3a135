"""JSON as servers send it: decoded strictly, and leniently if that fails.

Servers in the field send what RFC 8259 forbids: halves of a character (a surrogate pair cut in two, as
`\\ud83d` in one event and `\\ude00` in the next, or as the bytes of CESU-8), bytes that are not UTF-8, NaN
and Infinity, and line ends within a string. A text keeps the halves until its pieces are joined;
`join_surrogates` then turns them into characters.
"""

from __future__ import annotations

import codecs
from typing import Any

import msgspec

from benchwright.records import DECODE_ERRORS

REPLACEMENT_CHARACTER = "\ufffd"
"""Replacement for an incomplete character (U+FFFD)."""

_BYTES_OF_A_HALF = 3
_ERRORS = "benchwright.halves"

_decode = msgspec.json.Decoder().decode


def read_json(data: bytes | str) -> Any:
    """Return the decoded value of a JSON document.

    If strict decoding fails, it is decoded leniently: NaN becomes None.

    Raises:
        DecodeError, UnicodeError, RecursionError: If the document cannot be decoded leniently either.
    """
    try:
        return _decode(data)
    except RecursionError:
        raise
    except DECODE_ERRORS as strict:
        return _read_leniently(data, strict)


def decode_leniently(data: bytes) -> str:
    """Return the text in UTF-8 bytes.

    Halves of characters (CESU-8) are kept; other invalid bytes become U+FFFD.
    """
    return data.decode("utf-8-sig", _ERRORS)


def _read_leniently(data: bytes | str, strict: Exception) -> Any:
    import json

    text = data if isinstance(data, str) else decode_leniently(data)
    try:
        return json.loads(text, strict=False, parse_constant=_NO_NUMBERS.get)
    except json.JSONDecodeError:
        raise strict from None


_NO_NUMBERS = {"NaN": None, "Infinity": float("inf"), "-Infinity": float("-inf")}


def _keep_halves(error: UnicodeError) -> tuple[str, int]:
    """Decode the bytes of a half of a character (CESU-8); replace other invalid bytes by U+FFFD.

    Used as an error handler by `codecs`.
    """
    assert isinstance(error, UnicodeDecodeError)
    end = error.start + _BYTES_OF_A_HALF
    try:
        return error.object[error.start : end].decode("utf-8", "surrogatepass"), end
    except UnicodeDecodeError:
        return REPLACEMENT_CHARACTER, error.end


codecs.register_error(_ERRORS, _keep_halves)


def join_surrogates(text: str) -> str:
    """Return a text with halves of characters joined; a half by itself becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class SurrogateJoiner:
    """Decoder that joins halves of characters across the pieces of a streamed text."""

    def __init__(self) -> None:
        self._first = ""

    def add(self, text: str) -> str:
        """Return the whole characters that are available with this piece.

        A first half at its end is kept until the second arrives.
        """
        text = self._first + text
        self._first = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return join_surrogates(text.removesuffix(self._first))

    def end(self) -> str:
        """End the stream: return U+FFFD if an unpaired high surrogate is left over, else ""."""
        return REPLACEMENT_CHARACTER if self._first else ""


def join_surrogates_in_json(value: Any) -> Any:
    """Return a JSON value with `join_surrogates` applied to all its strings."""
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, dict):
        return {join_surrogates(key): join_surrogates_in_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [join_surrogates_in_json(item) for item in value]
    return value
