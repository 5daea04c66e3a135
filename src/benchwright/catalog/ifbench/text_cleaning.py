"""Text normalization that several rules of IFBench share."""

from __future__ import annotations

import string
import unicodedata

PUNCTUATION = string.punctuation
"""ASCII punctuation. The official code treats no other characters as punctuation."""

_DELETED = str.maketrans("", "", PUNCTUATION)


def without_punctuation(text: str) -> str:
    """Return the text without ASCII punctuation: "1-2" becomes "12"."""
    return text.translate(_DELETED)


def strip_punctuation(text: str) -> str:
    """Return the text without ASCII punctuation and white space at both ends."""
    return text.strip(f"{PUNCTUATION} ")


def to_ascii(text: str) -> str:
    """Return the text without accents. Characters that are still not ASCII are removed."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
