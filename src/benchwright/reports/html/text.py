"""Foreign text for a page: every character to be seen, and none of it too long."""

from __future__ import annotations

import unicodedata

from benchwright.text import shortened

JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners, without which some scripts and emoji fall apart."""


def shown(text: str) -> str:
    """The text with each character told by its number that cannot be seen or steers those around it.

    These are controls other than line ends and tabs, format characters (bidirectional marks among them),
    surrogates, and what stands for nothing.
    """
    if text.isprintable():
        return text
    return "".join(map(_seen, text.replace("\r\n", "\n")))


def one_line(text: str, most: int = 160) -> str:
    """The beginning of a text in one line, as `shown` makes it."""
    return shortened(shown(" ".join(text[: 4 * most].split())), most)


def _seen(character: str) -> str:
    if character.isprintable() or character in "\n\t" or character in JOINERS:
        return character
    if unicodedata.category(character) == "Zs":
        return character
    return f"⟨U+{ord(character):04X}⟩"
