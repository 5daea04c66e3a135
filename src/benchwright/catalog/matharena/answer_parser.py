"""MathArena's parser of answers (parser.py): from the text of an answer to an expression or a list.

The steps and their order are those of MathArena's normalize_string and ParseList. Information that they lose
is lost here, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchwright.catalog.matharena.boxes import find_last_box

_UNICODE = (
    *(("⎧", r"\boxed{"), ("⎫", "}"), ("\n│", r"\boxed{"), ("│", "}"), ("\n┃", r"\boxed{"), ("┃", "}")),
    *(("√", r"\sqrt"), ("×", r"\cdot"), ("\u202f", " "), ("−", "-"), ("π", r"\pi")),
)
_SPACES = (r"\;", r"\:", r"\,", r"\!")
_SIZES = (r"\left", r"\right", r"\Bigl", r"\Bigr", r"\bigl", r"\bigr", r"\Big", r"\big", r"\Large", r"\large")
_REPLACED = (
    *(("[", "("), ("]", ")"), (r"\{", "("), (r"\}", ")"), ("$", ""), ("\\ ", " ")),
    *((r"\hline", ""), (r"\vline", ""), (r"\quad", " "), ("−", "-"), ("–", "-"), ("·", r" \cdot ")),
    *((r"^\circ", " "), (r"^{\circ}", " "), (r"\displaystyle", ""), (r"\(", "("), (r"\)", ")"), ("{,}", "")),
)
_ALIGNED = re.compile(r"\\begin\{align[^}]*\}(.*?)\\end\{align[^}]*\}", re.DOTALL)
_TEXT = re.compile(r"\\text\{.*?\}")
_ROMAN = re.compile(r"\\mathrm\{(.*?)\}")
_WORD = re.compile(r"(?:\\text\s*\{\s*)?(?:and|or)(?:\s*\})?", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")
_BARE_ROOT = re.compile(r"\\sqrt\s*([^\s{}]*)")
_LINE_BREAK = r"\n"
r"""The two characters `\n`, which separate answers even where they begin a LaTeX command such as `\neq`."""

CLOSING_BRACKETS = {"(": ")", "{": "}", "[": "]"}

MAX_NESTING = 50
"""Maximum depth of nested lists. A more deeply nested list is read as one expression."""

ParsedAnswer = str | list["ParsedAnswer"]
"""An expression, or a list of answers. MathArena parses tuples, sets and enumerations as lists."""


def find_boxed_answer(text: str, *, several: bool) -> str | None:
    """Return the content of the last box. Return None if there is no box.

    Boxes may be drawn with line characters. `several`: more than one answer is expected; the result is then
    the contents of all boxes on the last box's line.
    """
    return find_last_box(convert_to_latex(text), several=several)


def convert_to_latex(text: str) -> str:
    """Return the text with a few Unicode characters replaced by LaTeX commands."""
    return _replaced(text, _UNICODE)


def read_answer(stated: str, *, several: bool) -> ParsedAnswer | None:
    """Parse a boxed text into an expression or a list of answers. Return None if its brackets do not match.

    `several`: more than one answer is expected.
    """
    answers = _listed(f"({_without_outer_brackets(_plain(stated, several))})")
    return answers[0] if answers is not None and len(answers) == 1 else answers


def _replaced(text: str, replacements: tuple[tuple[str, str], ...]) -> str:
    for old, new in replacements:
        text = text.replace(old, new)
    return text


def _plain(text: str, several: bool) -> str:
    """Return the text without layout commands.

    If the text is an equation, return only the part after its last equals sign.
    """
    text = _replaced(text, tuple((mark, "") for mark in _SPACES + _SIZES))
    text = _ALIGNED.sub(lambda found: found[1].replace("&", "").replace(r"\\", ""), text)
    text = _replaced(text, _REPLACED).removesuffix(".")
    text = _with_commas(text).replace(";", ",") if several else _THOUSANDS.sub("", text)
    if "\\sqrt " in text:  # MathArena loses a group in braces here, and so do we
        text = _BARE_ROOT.sub(r"\\sqrt{\1}", text)
    text = _ROMAN.sub(r" \1 ", _TEXT.sub("", text)).rpartition("=")[2]
    if several:
        text = text.rpartition(r"\in")[2]
    if r"\approx" in text:
        text = text.partition(r"\approx")[0].removesuffix("(")
    return _stripped(text)


def _with_commas(text: str) -> str:
    """Replace "and" and "or" between answers by commas. Where a comma is next to such a word, remove the word."""

    def comma(word: re.Match[str]) -> str:
        beside = text[: word.start()].rstrip()[-1:], text[word.end() :].lstrip()[:1]
        return "" if "," in beside else ","

    return _WORD.sub(comma, text)


def _stripped(text: str) -> str:
    text = text.strip()
    while text.startswith(_LINE_BREAK):
        text = text[2:]
    while text.endswith(_LINE_BREAK):
        text = text[:-2]
    while text.startswith("\\ "):
        text = text[2:]
    return text


def _without_outer_brackets(text: str) -> str:
    """Return the text without the pairs of round brackets that enclose the whole text."""
    closing: dict[int, int] = {}
    open_ones: list[int] = []
    for place, sign in enumerate(text):
        if sign == "(":
            open_ones.append(place)
        elif sign == ")" and open_ones:
            closing[open_ones.pop()] = place
    begin, end = 0, len(text)
    while closing.get(begin) == end - 1:
        begin, end = begin + 1, end - 1
    return text[begin:end]


def _listed(text: str, depth: int = 0) -> list[ParsedAnswer] | None:
    """Split a bracketed text at commas into its answers. Return None if its brackets do not match.

    A text that begins with an opening bracket and ends with a closing bracket counts as a list, even if these
    two are no pair, as in `(1+x)(2)`.
    """
    text = text.strip().strip(",")
    if _is_one_bracket(text):
        text = text[1:-1]
    text = _stripped(text)
    mark = _LINE_BREAK if _LINE_BREAK in text else ","
    answers: list[ParsedAnswer] = []
    while text:
        parts = text.split(mark)
        if depth <= MAX_NESTING and text.startswith("(") and (count := _list_end(parts, mark)):
            answers.append(_listed(_stripped(mark.join(parts[:count])), depth + 1) or [])
        elif count := next(_balanced_ends(parts, "({"), 0):
            answers.append(_stripped(mark.join(parts[:count])))
        else:
            return None
        text = _stripped(mark.join(parts[count:]))
    return answers


def _is_one_bracket(text: str) -> bool:
    """Return True if the first bracket of the text is not closed before the last character."""
    depth = 0
    for sign in text[:-1]:
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return False
    return True


def _list_end(parts: list[str], mark: str) -> int:
    """Return how many of the first parts form a list. Return 0 if the parts do not begin with a list.

    `parts`: the pieces of a text between separators. `mark`: the separator.
    """
    for count in _balanced_ends(parts, "("):
        last = parts[count - 1].strip().strip(",") or mark.join(parts[:count]).strip().strip(",")
        if last.endswith(")"):
            return count
    return 0


def _balanced_ends(parts: list[str], brackets: str) -> Iterator[int]:
    """Yield each number n such that the brackets of every kind are balanced in the first n parts.

    `parts`: the pieces of a text between separators. `brackets`: an opening bracket for each kind.
    """
    depths = dict.fromkeys(brackets, 0)
    for count, part in enumerate(parts, 1):
        for opening in depths:
            depths[opening] += part.count(opening) - part.count(CLOSING_BRACKETS[opening])
        if not any(depths.values()):
            yield count
