"""What MathArena makes of an answer before it is compared (parser.py): one expression, or a list of them.

The steps and their order are those of its normalize_string and ParseList, with what they lose on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchwright.catalog.matharena.boxes import last_box

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
"""The two characters, which stand between answers, too; also where a command begins with them."""

CLOSING = {"(": ")", "{": "}", "[": "]"}

DEEPEST = 50
"""How deeply lists are nested; what is deeper is one expression."""

Answer = str | list["Answer"]
"""An expression, or a list of answers, as MathArena reads tuples, sets and enumerations."""


def boxed_answer(text: str, *, several: bool) -> str | None:
    """What is in the last box, or in all boxes on its line; None without a box. Boxes may be drawn with lines."""
    return last_box(in_latex(text), several=several)


def in_latex(text: str) -> str:
    """The text with commands for a few signs."""
    return _replaced(text, _UNICODE)


def read_answer(stated: str, *, several: bool) -> Answer | None:
    """The expression, or the list of them, that a boxed text states; `several`: more than one answer is expected.

    None where its brackets are such that there is none.
    """
    answers = _listed(f"({_without_outer_brackets(_plain(stated, several))})")
    return answers[0] if answers is not None and len(answers) == 1 else answers


def _replaced(text: str, replacements: tuple[tuple[str, str], ...]) -> str:
    for old, new in replacements:
        text = text.replace(old, new)
    return text


def _plain(text: str, several: bool) -> str:
    """The text without what is only layout; of an equation what stands behind the last sign."""
    text = _replaced(text, tuple((mark, "") for mark in _SPACES + _SIZES))
    text = _ALIGNED.sub(lambda found: found[1].replace("&", "").replace(r"\\", ""), text)
    text = _replaced(text, _REPLACED).removesuffix(".")
    text = _with_commas(text).replace(";", ",") if several else _THOUSANDS.sub("", text)
    if "\\sqrt " in text:  # MathArena loses a group in braces here, so do we
        text = _BARE_ROOT.sub(r"\\sqrt{\1}", text)
    text = _ROMAN.sub(r" \1 ", _TEXT.sub("", text)).rpartition("=")[2]
    if several:
        text = text.rpartition(r"\in")[2]
    if r"\approx" in text:
        text = text.partition(r"\approx")[0].removesuffix("(")
    return _stripped(text)


def _with_commas(text: str) -> str:
    """Words between answers as commas; nothing in their place beside a comma that is there."""

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
    """The text without round brackets that close at its very end."""
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


def _listed(text: str, depth: int = 0) -> list[Answer] | None:
    """The answers between commas of a text in brackets; None where one cannot be told from the next.

    What begins with a bracket and ends with one is a list, also where these are not a pair: `(1+x)(2)` is one.
    """
    text = text.strip().strip(",")
    if _is_one_bracket(text):
        text = text[1:-1]
    text = _stripped(text)
    mark = _LINE_BREAK if _LINE_BREAK in text else ","
    answers: list[Answer] = []
    while text:
        parts = text.split(mark)
        if depth <= DEEPEST and text.startswith("(") and (count := _list_end(parts, mark)):
            answers.append(_listed(_stripped(mark.join(parts[:count])), depth + 1) or [])
        elif count := next(_balanced_ends(parts, "({"), 0):
            answers.append(_stripped(mark.join(parts[:count])))
        else:
            return None
        text = _stripped(mark.join(parts[count:]))
    return answers


def _is_one_bracket(text: str) -> bool:
    """Whether the first bracket of a text is open up to its last sign."""
    depth = 0
    for sign in text[:-1]:
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return False
    return True


def _list_end(parts: list[str], mark: str) -> int:
    """How many parts make up a list that begins with the first; 0 where none does."""
    for count in _balanced_ends(parts, "("):
        last = parts[count - 1].strip().strip(",") or mark.join(parts[:count]).strip().strip(",")
        if last.endswith(")"):
            return count
    return 0


def _balanced_ends(parts: list[str], brackets: str) -> Iterator[int]:
    """How many parts have as many closing brackets as opening ones, for each kind by itself."""
    depths = dict.fromkeys(brackets, 0)
    for count, part in enumerate(parts, 1):
        for opening in depths:
            depths[opening] += part.count(opening) - part.count(CLOSING[opening])
        if not any(depths.values()):
            yield count
