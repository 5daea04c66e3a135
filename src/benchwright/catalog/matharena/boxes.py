r"""Boxed answers in a text: `\boxed{…}` or `\fbox{…}`, with any braces inside, found in linear time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_OPENING = re.compile(r"(?:boxed|fbox)\{")
_INNER = re.compile(r"\\(?:boxed|fbox)\{")
_BRACE = re.compile(r"[{}]")
_DIGITS = re.compile(r"\d+")


def find_boxed_contents(text: str) -> list[str]:
    """Return the contents of the outermost boxes of a text. A box without a closing brace does not count.

    A box is also recognized without the backslash before `boxed`.
    """
    closing = _partners(text)
    found: list[str] = []
    end = 0
    for opening in _OPENING.finditer(text):
        brace = opening.end() - 1
        if opening.start() >= end and brace in closing:
            end = closing[brace] + 1
            found.append(text[brace + 1 : closing[brace]])
    return found


def find_last_box(text: str, *, several: bool = False) -> str | None:
    """Return the content of the last box, without boxes directly inside it. Return None if there is no box.

    `several`: more than one answer is expected. Then the contents of all boxes on the last box's line are
    joined by commas (MathArena, parser.py, find_last_boxed_content).
    """
    found = find_boxed_contents(text)
    if not found:
        return None
    if several and len(found) > 1:
        on_line = next(filter(None, map(find_boxed_contents, reversed(text.split("\n")))), found[-1:])
        return _unboxed(",".join(on_line))
    return _unboxed(found[-1])


def find_last_integer(text: str) -> str | None:
    """Return the last run of digits that is a separate word. Return None if there is none.

    Superscript digits do not count.
    """
    last = None
    for found in _DIGITS.finditer(text):
        if not any(
            map(
                _is_in_word,
                text[max(0, found.start() - 1) : found.start()] + text[found.end() : found.end() + 1],
            )
        ):
            last = found[0]
    return last


def _is_in_word(sign: str) -> bool:
    kind = unicodedata.category(sign)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc")


def _partners(text: str) -> dict[int, int]:
    """Return a mapping from the position of each opening brace to the position of its closing brace.

    Opening braces that are not closed are left out.
    """
    open_ones: list[int] = []
    closing: dict[int, int] = {}
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            open_ones.append(brace.start())
        elif open_ones:
            closing[open_ones.pop()] = brace.start()
    return closing


def _unboxed(text: str) -> str:
    """Remove boxes in a text, and keep their contents. As in MathArena's code, a box inside such a box stays."""
    closing = _partners(text)
    dropped: set[int] = set()
    end = 0
    for box in _INNER.finditer(text):
        if box.start() >= end and box.end() - 1 in closing:
            end = closing[box.end() - 1]
            dropped.update(_places(box, closing))
    return "".join(character for place, character in enumerate(text) if place not in dropped)


def _places(box: re.Match[str], closing: dict[int, int]) -> Iterator[int]:
    yield from range(box.start(), box.end())
    yield closing[box.end() - 1]
