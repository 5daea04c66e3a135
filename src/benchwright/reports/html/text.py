"""Makes text from outside safe for a page: hidden characters become visible, and long text is shortened."""

from __future__ import annotations

import unicodedata

from benchwright.text import truncate

ZERO_WIDTH_JOINERS = "\u200c\u200d"
"""Zero-width joiner and non-joiner. They are kept, because some scripts and emoji need them."""


def visible_text(text: str) -> str:
    """Mark the characters of a text that are invisible or affect their neighbours. Return the text.

    Each such character is replaced by its code point (⟨U+202E⟩). The characters are control characters other than line
    ends and tabs, format characters (including bidirectional marks), surrogates, and private and unassigned code
    points.
    """
    if text.isprintable():
        return text
    return "".join(map(_seen, text.replace("\r\n", "\n")))


def one_line(text: str, most: int = 160) -> str:
    """Return the beginning of a text as one line of at most `most` characters.

    Hidden characters become visible; see `visible_text`.
    """
    return truncate(visible_text(" ".join(text[: 4 * most].split())), most)


def _seen(character: str) -> str:
    if character.isprintable() or character in "\n\t" or character in ZERO_WIDTH_JOINERS:
        return character
    if unicodedata.category(character) == "Zs":
        return character
    return f"⟨U+{ord(character):04X}⟩"
