"""Handles text from outside (models, files): makes it safe for a terminal, puts it on one line, or truncates it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Say = Callable[[str], None]
"""Type: callback that receives lines of text for the user."""

_ESCAPE_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements, erasing
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard
)


def say_once(say: Say) -> Say:
    """Return a callback that passes each line on to `say` only once."""
    passed = set[str]()

    def say_new(line: str) -> None:
        if line not in passed:
            passed.add(line)
            say(line)

    return say_new


FORMULA_PREFIXES = tuple("=+-@\t\r\n＝＋－＠")
"""Characters that make spreadsheets treat a cell as a formula if the cell begins with one (OWASP, "CSV Injection")."""


def escape_formula(value: Any) -> Any:
    """Return a value for a cell that no spreadsheet treats as a formula.

    Text that begins like a formula gets a leading apostrophe.
    """
    if isinstance(value, str) and value.lstrip(" ").startswith(FORMULA_PREFIXES):
        return f"'{value}"
    return value


def make_safe(text: str) -> str:
    """Return text from outside as one line that cannot control a terminal.

    Escape sequences are removed. Every other invisible character (controls and line ends, format and
    bidirectional characters, lone surrogates, private and unassigned ones, unusual spaces) becomes a space.
    """
    if text.isprintable():
        return text
    left = _ESCAPE_SEQUENCES.sub("", text)
    return "".join(character if character.isprintable() else " " for character in left)


def make_lines_safe(text: str) -> str:
    """Return text from outside as lines that cannot control a terminal, as `make_safe` does.

    Line ends stay, and a tab becomes four spaces.
    """
    return "\n".join(make_safe(line.replace("\t", "    ")) for line in text.split("\n"))


def one_line(text: str, most: int | None = None) -> str:
    """Return text from outside as one line. The text is made safe by `make_safe`, and white space is collapsed.

    The line is truncated to `most` characters. If `most` is None, it is not truncated.
    """
    if most is None:
        return " ".join(make_safe(text).split())
    start = text[: 16 * most]  # a long text is not read to its end
    line = " ".join(make_safe(start).split())
    return truncate(line if start == text else f"{line}…", most)


def last_line(text: str, most: int) -> str:
    """Return the last line that has visible text, formatted as by `one_line`. Empty if there is no such line."""
    lines = (one_line(line, most) for line in reversed(text.splitlines()))
    return next(filter(None, lines), "")


def error_line(error: BaseException, most: int | None = None) -> str:
    """Return an exception as "Type: text" on one line. If the exception has no text, return only the type.

    The line is truncated to `most` characters, as by `one_line`.
    """
    text = str(error).strip()
    return one_line(f"{type(error).__name__}: {text}" if text else type(error).__name__, most)


def truncate(text: str, most: int, ending: str = "…") -> str:
    """Return the text. If it is longer than `most` characters, truncate it to that length, including the ending."""
    return text if len(text) <= most else text[: most - len(ending)] + ending
