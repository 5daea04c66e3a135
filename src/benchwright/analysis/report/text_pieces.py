"""Shortens long texts for display.

The result is a list of pieces, in which the extracted answer is a piece of its own.
"""

from __future__ import annotations

import re

from benchwright.analysis.report.records import TextPiece, TextPieces
from benchwright.formats import count_with_noun

MAX_TEXT_LENGTH = 4_000
"""Maximum number of characters shown of one text."""

CONTEXT_CHARACTERS = 120
"""Number of characters that are shown around the extracted answer, if it is in the omitted middle of a text."""


def shorten_to_pieces(
    text: str, most: int = MAX_TEXT_LENGTH, span: tuple[int, int] | None = None
) -> TextPieces:
    """Return a text as pieces. If it is longer than `most` characters, passages in its middle are omitted.

    The beginning, the end and the surroundings of `span` (the extracted answer) are kept. A note replaces each
    omitted passage.
    """
    kept = [(0, len(text))]
    if len(text) > most:
        kept = [(0, most * 2 // 3), (len(text) - most // 3, len(text))]
        if span is not None:
            span = span[0], min(span[1], span[0] + most // 3)
            kept.append((max(0, span[0] - CONTEXT_CHARACTERS), min(len(text), span[1] + CONTEXT_CHARACTERS)))
    pieces: TextPieces = []
    end = 0
    for low, high in sorted(kept):
        if low > end:
            pieces.append(TextPiece("cut", f"{count_with_noun(low - end, 'character')} cut"))
        pieces += _marked(text, max(low, end), high, span)
        end = max(end, high)
    return pieces


def _marked(text: str, low: int, high: int, span: tuple[int, int] | None) -> TextPieces:
    """Return text[low:high] as pieces. The passage inside `span` is a separate piece."""
    start, end = (min(max(place, low), max(high, low)) for place in span or (low, low))
    found = [
        TextPiece("text", text[low:start]),
        TextPiece("span", text[start:end]),
        TextPiece("text", text[end:high]),
    ]
    return [piece for piece in found if piece.text]


def find_span(text: str, span: str | None) -> tuple[int, int] | None:
    """Return the position of an extracted answer in a text.

    None if there is no answer, or it does not occur in the text. If it occurs several times, the last position
    is returned, preferably one at word boundaries.
    """
    if not span:
        return None
    words = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(span)}(?!\w)", text)]
    start = words[-1] if words else text.rfind(span)
    return None if start < 0 else (start, start + len(span))
