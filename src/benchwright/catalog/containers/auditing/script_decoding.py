"""Decodes texts that a command hides from readers: base64, hexadecimal digits, escaped characters."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

MAX_SCRIPT_CHARACTERS = 1 << 20
"""Maximum length in characters of a script that is searched for encoded texts."""

_DECODES_BASE64 = re.compile(r"base64|b64decode|\batob\b")
_DECODES_HEX = re.compile(r"xxd\s+-\S*r|fromhex|unhexlify")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:\n[A-Za-z0-9+/_-]+)*={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){4,}")
_ESCAPED = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\[0-3][0-7]{2}){4,}")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\([0-3][0-7]{2})")


def decoded_texts(script: str) -> Iterator[str]:
    """Yield the texts that the script would decode when it runs. Results that are not text are skipped."""
    if len(script) > MAX_SCRIPT_CHARACTERS:
        return
    if _DECODES_BASE64.search(script):
        for found in _BASE64.finditer(script):
            yield from _text(_from_base64(found[0])) or _text(_from_base64(found[0].rpartition("\n")[0]))
    if _DECODES_HEX.search(script):
        for found in _HEX.finditer(script):
            yield from _text(bytes.fromhex(found[0]))
    if _ESCAPED.search(script):
        yield _ESCAPE.sub(_character, script)


def _from_base64(blob: str) -> bytes:
    plain = blob.replace("\n", "").rstrip("=")
    try:
        return base64.b64decode(
            plain + "=" * (-len(plain) % 4), altchars=b"-_" if set(plain) & set("-_") else None
        )
    except binascii.Error:
        return b""


def _text(content: bytes) -> list[str]:
    """Return the decoded text in a list of length 1. Return [] if the content is not printable text."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return []
    return [text] if text.strip() and all(one.isprintable() or one in "\n\t\r" for one in text) else []


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16) if found[1] else int(found[2], 8))
