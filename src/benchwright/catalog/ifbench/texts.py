"""Text normalization shared by several rules."""

from __future__ import annotations

import string
import unicodedata

MARKS = string.punctuation
"""The punctuation of ASCII. The official code takes no other characters for punctuation."""

_DELETED = str.maketrans("", "", MARKS)


def without_marks(text: str) -> str:
    """Return the text without any of the marks: "1-2" becomes "12"."""
    return text.translate(_DELETED)


def trimmed(text: str) -> str:
    """Return the text without marks and spaces at its ends."""
    return text.strip(f"{MARKS} ")


def as_ascii(text: str) -> str:
    """Return the text without accents, and without characters that are not ASCII even then."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
