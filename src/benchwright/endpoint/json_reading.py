r"""Decoders of JSON as servers send it. A document is decoded strictly. If that fails, it is decoded leniently.

Some servers send JSON that RFC 8259 forbids: unpaired surrogates (a surrogate pair cut in two, as `\ud83d` in
one event and `\ude00` in the next, or as the bytes of CESU-8), bytes that are not UTF-8, NaN and Infinity,
and line ends within a string. A text keeps its unpaired surrogates until its pieces are joined. Then
`join_surrogates` turns each pair into a character.
"""

from __future__ import annotations

import codecs
from typing import Any

import msgspec

from benchwright.records import DECODE_ERRORS

REPLACEMENT_CHARACTER = "\ufffd"
"""Character that replaces an incomplete character (U+FFFD)."""

_BYTES_OF_A_HALF = 3
_ERRORS = "benchwright.halves"

_decode = msgspec.json.Decoder().decode


def read_json(data: bytes | str) -> Any:
    """Return the decoded value of a JSON document.

    If strict decoding fails, the document is decoded leniently, and NaN becomes None.

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
    """Return the text that UTF-8 bytes encode.

    Unpaired surrogates (CESU-8) are kept. Other invalid bytes become U+FFFD.
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
    """Decode the bytes of an unpaired surrogate (CESU-8), or replace other invalid bytes by U+FFFD.

    Used as an error handler of `codecs`.
    """
    assert isinstance(error, UnicodeDecodeError)
    end = error.start + _BYTES_OF_A_HALF
    try:
        return error.object[error.start : end].decode("utf-8", "surrogatepass"), end
    except UnicodeDecodeError:
        return REPLACEMENT_CHARACTER, error.end


codecs.register_error(_ERRORS, _keep_halves)


def join_surrogates(text: str) -> str:
    """Return a text with each surrogate pair joined to a character. An unpaired surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class SurrogateJoiner:
    """Decoder that joins surrogate pairs across the pieces of a streamed text."""

    def __init__(self) -> None:
        self._first = ""

    def add(self, text: str) -> str:
        """Add a piece of the text. Return the characters that are complete with this piece.

        A high surrogate at the end of the piece is kept until the next piece arrives.
        """
        text = self._first + text
        self._first = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return join_surrogates(text.removesuffix(self._first))

    def end(self) -> str:
        """End the text. Return U+FFFD if an unpaired high surrogate is left over. Return "" otherwise."""
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
