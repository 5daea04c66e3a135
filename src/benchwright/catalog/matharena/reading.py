"""What MathArena makes of an answer before it is compared (parser.py): one expression, or a list of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchwright.catalog.matharena.boxes import last_box

_UNICODE = str.maketrans(
    {"√": r"\sqrt", "×": r"\cdot ", "\u202f": " ", "−": "-", "–": "-", "π": r"\pi ", "·": r"\cdot "}
)
_DROPPED = (
    *(
        r"\;",
        r"\:",
        r"\,",
        r"\!",
        r"\left",
        r"\right",
        r"\Bigl",
        r"\Bigr",
        r"\bigl",
        r"\bigr",
        r"\Big",
        r"\big",
    ),
    *(r"\Large", r"\large", r"\hline", r"\vline", r"\displaystyle", "$", r"^\circ", r"^{\circ}"),
)
_REPLACED = (
    ("[", "("),
    ("]", ")"),
    (r"\{", "("),
    (r"\}", ")"),
    (r"\(", "("),
    (r"\)", ")"),
    ("\\ ", " "),
    (r"\quad", " "),
)
_ALIGNED = re.compile(r"\\(?:begin|end)\{align[^}]*\}|&|\\\\(?![a-zA-Z(])")
_TEXT = re.compile(r"\\text\{.*?\}")
_ROMAN = re.compile(r"\\mathrm\{(.*?)\}")
_WORD = re.compile(r"(?:\\text\s*\{\s*)?\b(?:and|or)\b(?:\s*\})?", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")
_BARE_COMMAND = re.compile(r"(?<![\\a-zA-Z])(?=(?:[dt]?frac|binom|sqrt)[{(]|pi\b)")
_BARE_ROOT = re.compile(r"\\sqrt\s*([^\s{}]*)")

DEEPEST = 5
"""How deeply lists may be nested; what is deeper is one expression, which has no value."""

Answer = str | list["Answer"]
"""An expression, or a list of answers, as MathArena reads tuples, sets and enumerations."""


def boxed_answer(text: str, *, several: bool) -> str | None:
    """What is in the last box, or in all boxes on its line; None without a box."""
    return last_box(text.translate(_UNICODE), several=several)


def read_answer(stated: str, *, several: bool) -> Answer:
    """The expression, or the list of them, that a boxed text states; `several`: more than one answer is expected."""
    answer = _split(_without_outer_brackets(_plain(stated.translate(_UNICODE), several)))
    while isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    return answer


def _plain(text: str, several: bool) -> str:
    """The text without what is only layout; of an equation what stands behind the last sign."""
    for mark in _DROPPED:
        text = text.replace(mark, "")
    for mark, sign in _REPLACED:
        text = text.replace(mark, sign)
    text = _ALIGNED.sub("", text) if r"\begin{align" in text else text
    text = text.replace("{,}", "").removesuffix(".")
    text = _with_commas(text) if several else _THOUSANDS.sub("", text)
    text = _BARE_COMMAND.sub(r"\\", text)
    if "\\sqrt " in text:  # MathArena loses a group in braces here, so do we
        text = _BARE_ROOT.sub(r"\\sqrt{\1}", text)
    text = _ROMAN.sub(r" \1 ", _TEXT.sub("", text)).rpartition("=")[2]
    if several:
        text = text.rpartition(r"\in")[2]
    if r"\approx" in text:
        text = text.partition(r"\approx")[0].removesuffix("(")
    return text.strip().removeprefix(r"\n").removesuffix(r"\n").strip()


def _with_commas(text: str) -> str:
    """Words and semicolons between answers as commas; none beside a comma that is there."""
    text = _WORD.sub(",", text).replace(";", ",")
    return re.sub(r",(?:\s*,)+", ",", text)


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
        begin += len(text[begin:end]) - len(text[begin:end].lstrip())
        end -= len(text[begin:end]) - len(text[begin:end].rstrip())
    return text[begin:end]


def _split(text: str, depth: int = 0) -> Answer:
    """The text itself, or its parts between commas that are in no bracket; parts in brackets are lists, too."""
    parts = [part.strip() for part in _parts(text.strip(", \n"))]
    if len(parts) == 1:
        return parts[0] or []
    if depth == DEEPEST:
        return text
    return [_part(part, depth) for part in parts]


def _part(text: str, depth: int) -> Answer:
    inner = _without_outer_brackets(text)
    return text if inner == text else _split(inner, depth + 1)


def _parts(text: str) -> Iterator[str]:
    depth = begin = 0
    for place, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        if sign == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]
