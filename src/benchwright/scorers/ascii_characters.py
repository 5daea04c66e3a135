"""Mapping from full-width characters, and from digits of other scripts, to ASCII. Each maps to one character."""

from __future__ import annotations

import unicodedata


def to_ascii(text: str) -> str:
    """Return the text with full-width characters and digits of other scripts replaced by ASCII."""
    return text if text.isascii() else "".join(map(_plain, text))


def _plain(sign: str) -> str:
    if sign.isascii():
        return sign
    if "\uff01" <= sign <= "\uff5e":
        return chr(ord(sign) - 0xFEE0)
    if sign == "\u3000":
        return " "
    return str(unicodedata.decimal(sign)) if unicodedata.category(sign) == "Nd" else sign
