"""Tokenizer of a text with numbers. LaTeX and Markdown source is read as it would be rendered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from benchwright.scorers.ascii_characters import to_ascii
from benchwright.scorers.numbers.digits import BLANK_CHARACTERS, DIGITS_PATTERN
from benchwright.scorers.numbers.number_words import word_set

MONTH_PATTERN = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_TOKEN = re.compile(
    rf"""
    (?P<date> (?<![\w.,]) (?: [0-9]{{4}}([-/.])[0-9]{{1,2}}\2[0-9]{{1,2}} | [0-9]{{1,2}}([-/.])[0-9]{{1,2}}\3[0-9]{{4}}
        | [0-9]{{1,2}}/[0-9]{{1,2}}/[0-9]{{2}} ) (?![\w/]|[-.,][0-9])
      | \b[0-9]{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{MONTH_PATTERN}(?:,?\s[0-9]{{4}}\b)?
      | \b{MONTH_PATTERN}\s(?:[0-9]{{1,2}}(?:st|nd|rd|th)?\b(?!,[0-9])(?:,?\s[0-9]{{4}}\b)?|[0-9]{{4}}\b) )
  | (?P<time> (?<![\w.,:]) [0-9]{{1,2}} (?: :[0-9]{{2}}(?::[0-9]{{2}})?(?:\s?[aApP]\.?[mM]\b\.?)?(?![:\w])
        | \s?(?:[ap]m\b|[ap]\.m\.|[AP]M\b|[AP]\.M\.|o['\u2019]clock) ) )
  | (?P<repeating> [0-9]+\.[0-9]* (?: \\overline\{{[0-9]+\}} | \([0-9]+\)(?!\w) ) )
  | (?P<number> {DIGITS_PATTERN} )
  | (?P<raised> [\u207a\u207b]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+ )
  | (?P<vulgar> [¼½¾⅐-⅞] )
  | (?P<space> \s+ | <<[^<>\n]{{1,200}}>> | \\[,;:!\ ] | [{BLANK_CHARACTERS}] )
  | (?P<power> (?<=[0-9)])\*\*(?=[0-9(-]) )
  | (?P<emphasis> \*\*+ | (?<!\w)__+ | __+(?!\w) | `+ | (?<!\S)\*(?=[\w$(-]) | (?<=[\w%.)])\*(?=\W|\Z)(?!\s?[0-9(]) )
  | (?P<math> \\[()\[\]] | \$\$ )
  | (?P<set> \\[{{}}] )
  | (?P<command> \\[A-Za-z]+ \*? )
  | (?P<escaped> \\[%$] )
  | (?P<times> (?: (?<=[0-9)\]}}%$]) | (?<=[0-9)\]}}%$]\s) ) [xX] (?=\s?(?:[0-9$(\\]|\.[0-9])) )
  | (?P<dots> \.\.\.+ | … )
  | (?P<word> [^\W\d_]\w*[0-9]\w*(?:\.[0-9]+)* | [^\W\d_]+(?:['\u2019][^\W\d_]+)? )
  | (?P<newline> \n )
  | (?P<sign> . )""",
    re.VERBOSE | re.DOTALL,
)
_COMMANDS = {
    **dict.fromkeys(("times", "cdot", "ast"), "×"),
    **dict.fromkeys(("approx", "simeq", "cong", "sim", "approxeq"), "≈"),
    **dict.fromkeys(("le", "leq", "leqslant"), "≤"),
    **dict.fromkeys(("ge", "geq", "geqslant"), "≥"),
    **dict.fromkeys(("ne", "neq"), "≠"),
    **dict.fromkeys(("dots", "ldots", "cdots"), "…"),
    "lt": "<",
    "gt": ">",
    "div": "÷",
    "pm": "±",
    "pi": "π",
    "circ": "°",
    "degree": "°",
    "infty": "∞",
    "cent": "¢",
    "pounds": "£",
    "euro": "€",
    "lbrace": "(",
    "rbrace": ")",
}
_SHOWN = word_set("text textbf textit textrm mathrm mathbf mathit mbox operatorname emph boxed fbox bm rm")
_KEPT = word_set("frac dfrac tfrac cfrac sqrt overline binom")
_LAYOUT = word_set(
    "left right big Big bigl bigr Bigl Bigr displaystyle quad qquad thinspace hspace space begin end aligned "
    "align therefore because implies Rightarrow rightarrow to large Large huge limits"
)
_SIGNS = {
    "\u2212": "-",
    "*": "×",
    "·": "×",
    "⋅": "×",
    "∙": "×",
    "⁄": "/",
    "≃": "≈",
    "≅": "≈",
    "〜": "~",
    "º": "°",
}
_DOLLARS = re.compile(r"(?<![\\$\w])\$(?![\s$])((?:[^$\n\\]|\\.){1,400}?)(?<![\s\\])\$(?![$0-9])")
_PROSE = re.compile(r"(?<!\\)\b[a-z]{3,}\s+[a-z]{2,}\b")


class Token(NamedTuple):
    """A token of a text, from `start` to `end`.

    `kind`: number, repeating, vulgar, raised, date, time, word, command, group, dots or sign. `is_after_blank`:
    True if white space precedes it. `is_in_formula`: True if it is part of a formula. `is_bold`: True if it is in bold
    type.
    """

    kind: str
    text: str
    start: int
    end: int
    is_after_blank: bool = False
    is_in_formula: bool = False
    is_bold: bool = False


def tokens_of(text: str, *, math: bool = False) -> list[Token]:
    """Return the tokens of a text, in time linear in its length. `math`: the whole text is a formula."""
    return list(_tokens(to_ascii(text), math))


def _tokens(text: str, math: bool) -> Iterator[Token]:
    dollars = (
        {edge for found in _formulas(text) for edge in (found.start(), found.end() - 1)}
        if "$" in text
        else set()
    )
    inside, blank, bold = math, False, False
    braces: list[bool] = []
    for found in _TOKEN.finditer(text):
        kind, piece, start = found.lastgroup or "", found[0], found.start()
        if kind in ("space", "math") or start in dollars:
            if kind == "math" or start in dollars:
                inside = math or (piece in ("\\(", "\\[") if piece[0] == "\\" else not inside)
            blank = blank or kind == "space"
            if "\n" in piece:
                bold = False
                yield Token("sign", "\n", start, found.end(), blank, inside)
            continue
        if kind == "emphasis":
            bold = bold != (piece in ("**", "__"))
            continue
        shown = _shown(kind, piece, text, start, braces)
        if shown is not None:
            yield Token(*shown, start, found.end(), blank, inside, bold)
            blank = False


def _formulas(text: str) -> Iterator[re.Match[str]]:
    return (found for found in _DOLLARS.finditer(text) if not _PROSE.search(found[1]))


def _shown(kind: str, piece: str, text: str, start: int, braces: list[bool]) -> tuple[str, str] | None:
    """Return (kind, text) of the token as which a piece of LaTeX or Markdown source is rendered.

    Return None if the piece renders as nothing. `braces`: a stack with one entry per open brace: True if the
    brace yields a token, False if it only delimits the argument of a LaTeX command.
    """
    if kind == "sign" and piece in "{}":
        if piece == "{":
            braces.append(not _shows_group(text, start))
            return ("group", "{") if braces[-1] else None
        return ("group", "}") if not braces or braces.pop() else None
    if kind == "command":
        return _command(piece[1:].rstrip("*"))
    if kind in ("times", "power"):
        return "sign", "×" if kind == "times" else "^"
    if piece == "π":
        return "sign", piece
    if kind == "set":
        return "sign", "(" if piece == "\\{" else ")"
    if kind == "escaped":
        return "sign", piece[1]
    return kind, _SIGNS.get(piece, piece) if kind == "sign" else piece


def _shows_group(text: str, brace: int) -> bool:
    r"""Return True if a brace delimits the argument of a LaTeX command that only shows it, such as \text{km}."""
    name = _NAME_BEFORE.search(text, max(0, brace - 20), brace)
    return name is not None and (name[1] in _SHOWN or name[1] in _LAYOUT)


_NAME_BEFORE = re.compile(r"\\([A-Za-z]+)\*?\Z")


def _command(name: str) -> tuple[str, str] | None:
    if name in _COMMANDS:
        return "sign", _COMMANDS[name]
    if name in _KEPT:
        return "command", name
    return None if name in _SHOWN or name in _LAYOUT else ("word", name)
