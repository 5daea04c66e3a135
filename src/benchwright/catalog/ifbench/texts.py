"""What several rules do to a text before they look at it."""

from __future__ import annotations

import string
import unicodedata

MARKS = string.punctuation
"""The punctuation of ASCII, which is all that the official code takes for punctuation."""

_DELETED = str.maketrans("", "", MARKS)


def without_marks(text: str) -> str:
    """The text without any of the marks: "1-2" becomes "12"."""
    return text.translate(_DELETED)


def trimmed(text: str) -> str:
    """The text without marks and spaces at its ends."""
    return text.strip(f"{MARKS} ")


def as_ascii(text: str) -> str:
    """The text with letters instead of accented ones, and without what has no such letter."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
