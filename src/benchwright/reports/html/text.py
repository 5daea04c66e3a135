"""Foreign text for a page: every character to be seen, and none of it too long."""

from __future__ import annotations

import re
import unicodedata

from benchwright.reports.html.records import Piece, Pieces

LONGEST = 4_000
"""Characters of one text that are shown."""

AROUND = 120
"""Characters that are shown around a marked span which lies in what is cut out."""

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


def _seen(character: str) -> str:
    if character.isprintable() or character in "\n\t" or character in JOINERS:
        return character
    if unicodedata.category(character) == "Zs":
        return character
    return f"⟨U+{ord(character):04X}⟩"


def cut(text: str, most: int = LONGEST, span: tuple[int, int] | None = None) -> Pieces:
    """The beginning, the end and whatever surrounds the span, with a word on what is left out between them."""
    kept = [(0, len(text))]
    if len(text) > most:
        kept = [(0, most * 2 // 3), (len(text) - most // 3, len(text))]
        if span is not None:
            span = span[0], min(span[1], span[0] + most // 3)
            kept.append((max(0, span[0] - AROUND), min(len(text), span[1] + AROUND)))
    pieces: Pieces = []
    end = 0
    for low, high in sorted(kept):
        if low > end:
            pieces.append(Piece("cut", f"{low - end:,} characters cut"))
        pieces += _marked(text, max(low, end), high, span)
        end = max(end, high)
    return pieces


def _marked(text: str, low: int, high: int, span: tuple[int, int] | None) -> Pieces:
    """text[low:high] with the part in it that the span covers apart."""
    start, end = (min(max(place, low), max(high, low)) for place in span or (low, low))
    found = [Piece("text", text[low:start]), Piece("span", text[start:end]), Piece("text", text[end:high])]
    return [piece for piece in found if piece.text]


def find_span(text: str, span: str | None) -> tuple[int, int] | None:
    """Where what was taken as the answer stands in a text: the last place, one between words first."""
    if not span:
        return None
    words = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(span)}(?!\w)", text)]
    start = words[-1] if words else text.rfind(span)
    return None if start < 0 else (start, start + len(span))
