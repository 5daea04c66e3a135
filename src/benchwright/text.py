"""Text: foreign text made safe for a terminal, put into one line, cut to a length."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Say = Callable[[str], None]
"""Where lines for the user go."""

_ESCAPE_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements, erasing
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard
)


FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a cell begins with that a spreadsheet takes for a formula (OWASP, "CSV Injection")."""


def no_formula(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: text that looks like one gets an apostrophe before it."""
    if isinstance(value, str) and value.lstrip(" ").startswith(FORMULA):
        return f"'{value}"
    return value


def plain(text: str) -> str:
    """Foreign text as one line that cannot steer a terminal.

    Escape sequences are taken out. Every other character that cannot be seen (controls and line ends, format
    and bidirectional characters, lone surrogates, private and unassigned ones, odd spaces) becomes a space.
    """
    if text.isprintable():
        return text
    left = _ESCAPE_SEQUENCES.sub("", text)
    return "".join(character if character.isprintable() else " " for character in left)


def plain_lines(text: str) -> str:
    """Like `plain`, but line ends are kept, and a tab becomes four spaces."""
    return "\n".join(plain(line.replace("\t", "    ")) for line in text.split("\n"))


def one_line(text: str, most: int | None = None) -> str:
    """Foreign text as `plain` makes it, its white space collapsed, and at most so many characters of it."""
    if most is None:
        return " ".join(plain(text).split())
    start = text[: 16 * most]  # a long text is not read to its end
    line = " ".join(plain(start).split())
    return shortened(line if start == text else f"{line}…", most)


def last_line(text: str, most: int) -> str:
    """The last line with something to see in it, as `one_line` makes it; empty where there is none."""
    lines = (one_line(line, most) for line in reversed(text.splitlines()))
    return next(filter(None, lines), "")


def error_line(error: BaseException, most: int | None = None) -> str:
    """An exception as "Type: text" in one line, or as its type where it says nothing; cut as by `one_line`."""
    text = str(error).strip()
    return one_line(f"{type(error).__name__}: {text}" if text else type(error).__name__, most)


def shortened(text: str, most: int, ending: str = "…") -> str:
    """The text, or where it has more than `most` characters its beginning and the ending, `most` together."""
    return text if len(text) <= most else text[: most - len(ending)] + ending
