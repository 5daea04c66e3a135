"""Tokens of LaTeX expressions, as sympy's lexer distinguishes them (parsing/latex/LaTeX.g4)."""

from __future__ import annotations

import re

from benchwright.catalog.matharena.values import COMPLEX_FUNCTIONS, NAMED_CONSTANTS

RELATION_TOKENS = frozenset("<>")
NO_EXPRESSION_TOKEN = "->"
"""The token for LaTeX commands with which no expression can begin."""

UNKNOWN_TOKEN = "?"
"""The token for text that sympy's lexer does not know."""

ARROW_TOKEN = "to"
"""The token for the arrow in a limit (x → 0)."""

UNDEFINED_TOKEN = "undefined"
"""The token for LaTeX commands whose value is not computed here, such as integrals and infinity."""

_SKIPPED = re.compile(
    r"\\(?:(?:thin|med|thick)space|neg(?:thin|med|thick)space|qq?uad|left|right|vrule|vcenter|vbox|vskip|vspace|hfil)"
    r'(?![a-zA-Z])|\\[*\-./"(=,:;!]'
)
_INDEX = re.compile(r"_([0-9]+)")
_SPLIT_NUMBER = re.compile(r"(?<=\d)[ \t\r\n]+(?=\d)|(?<=\d)[ \t\r\n]*(\.)[ \t\r\n]*(?=\d)")
_SIGN = re.compile(r"[ \t\r\n]*([0-9]+\.[0-9](?=[0-9]+\.[0-9])|[0-9]+(?:\.[0-9]+)?|\\[a-zA-Z]+|[^ \t\r\n])")
_KNOWN = re.compile(r"[A-Za-z0-9+\-*/(){}\[\]|.,_^:<>=!'][0-9.]*|\\[a-zA-Z]+")
_NAME = re.compile(r"[a-zA-Z]|\\[a-zA-Z]+|pi")
_MATRIX_END = re.compile(r"\\(begin|end)\{([pbv]matrix)\}")
_ALIASES = {
    **dict.fromkeys((r"\dfrac", r"\tfrac", r"\frac"), "frac"),
    **dict.fromkeys((r"\binom", r"\dbinom", r"\tbinom"), "binom"),
    **dict.fromkeys((r"\cdot", r"\times"), "*"),
    **dict.fromkeys((r"\div", ":"), "/"),
    **dict.fromkeys((r"\le", r"\leq", r"\leqq", r"\leqslant"), "<"),
    **dict.fromkeys((r"\ge", r"\geq", r"\geqq", r"\geqslant"), ">"),
    **dict.fromkeys(
        (r"\to", r"\rightarrow", r"\Rightarrow", r"\longrightarrow", r"\Longrightarrow"), ARROW_TOKEN
    ),
    **dict.fromkeys((r"\langle", r"\rangle", r"\sum", r"\prod", r"\mathit"), NO_EXPRESSION_TOKEN),
    **dict.fromkeys((r"\int", r"\infty"), UNDEFINED_TOKEN),
    r"\lim": "limit",
    r"\sqrt": "sqrt",
    r"\overline": "overline",
    r"\lfloor": "floor",
    r"\lceil": "ceiling",
    r"\rfloor": "floored",
    r"\rceil": "ceiled",
    "I": "i",
    **{rf"\{name}": name for name in (*COMPLEX_FUNCTIONS, "pi")},
}


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text: numbers, letters, LaTeX commands, and single characters.

    Commands with the same meaning become the same token. Unknown text becomes `UNKNOWN_TOKEN`.
    """
    text = _INDEX.sub(r"_{\1}", _SKIPPED.sub(" ", text))
    found = _SIGN.findall(_SPLIT_NUMBER.sub(r"\1", text.strip()))
    return [_ALIASES.get(sign, sign) if _KNOWN.fullmatch(sign) else UNKNOWN_TOKEN for sign in found]


def matrices_are_closed(text: str) -> bool:
    """Return True if each matrix in the text ends before the next matrix begins."""
    ends = _MATRIX_END.findall(text)
    begun, ended = ends[::2], ends[1::2]
    return [("begin", kind) for _, kind in ended] == begun and all(end == "end" for end, _ in ended)


def is_name_token(sign: str) -> bool:
    """Return True if a token is a letter, or a LaTeX command that counts as a letter."""
    return _NAME.fullmatch(sign) is not None


def find_letters(text: str) -> frozenset[str]:
    """Return the unknowns of an expression: letters, and LaTeX commands that this module does not know."""
    return frozenset(filter(is_name_token, tokenize(text))) - NAMED_CONSTANTS.keys()
