"""Reads LaTeX expressions into values. Nothing is executed; the time is linear in the text.

As in sympy's reader of LaTeX, which MathArena uses, what stands behind the longest beginning that is an expression is
overlooked, as long as all of its signs are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from benchwright.catalog.matharena.values import (
    CONSTANTS,
    FUNCTIONS,
    NoValue,
    Value,
    absolute,
    add,
    binomial,
    bounded,
    divide,
    factorial,
    floating,
    multiply,
    power,
)

LONGEST = 4_000
"""Characters of an expression that is read; a longer one has no value."""

DEEPEST = 60
"""How deeply brackets may be nested."""

_TOKEN = re.compile(r"\s*(\d+\.?\d*|\.\d+|\\[a-zA-Z]+|[a-zA-Z]|\\[{}|]|\S)")
_SPLIT_NUMBER = re.compile(r"(?<=\d)\s+(?=\d)")
_NAME = re.compile(r"[a-zA-Z]|\\[a-zA-Z]+")
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_UNKNOWN = re.compile(r"[^A-Za-z0-9\s\\+\-*/(){}\[\]|.,_^:<>=!']|\\(?![A-Za-z{}|,:;!*\-./\"(=])")
_LEADING_ZERO = re.compile(r"0+[0-9]")
_SPACING = frozenset((r"\displaystyle", r"\overline", r"\qquad", r"\thinspace"))
_RELATIONS = frozenset("<>")
_NO_PART = "->"
"""Stands for commands that are no part of an expression."""
_ALIASES = {
    **dict.fromkeys((r"\dfrac", r"\tfrac", r"\frac"), "frac"),
    **dict.fromkeys((r"\binom", r"\dbinom", r"\tbinom"), "binom"),
    **dict.fromkeys((r"\cdot", r"\times", r"\ast"), "*"),
    **dict.fromkeys((r"\div", ":"), "/"),
    **dict.fromkeys((r"\le", r"\leq", r"\leqq", r"\leqslant"), "<"),
    **dict.fromkeys((r"\ge", r"\geq", r"\geqq", r"\geqslant"), ">"),
    **dict.fromkeys(
        (r"\to", r"\rightarrow", r"\Rightarrow", r"\longrightarrow", r"\Longrightarrow"), _NO_PART
    ),
    **dict.fromkeys((r"\langle", r"\rangle"), _NO_PART),
    r"\sqrt": "sqrt",
    **{rf"\{name}": name for name in (*FUNCTIONS, "pi")},
}
_OPENING = {"(": ")", "{": "}", "[": "]"}
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}


class _Unreadable(NoValue):
    """What follows is not an expression; what stands before it may be one."""


def value_of(text: str, symbols: Mapping[str, Value]) -> Value:
    """The value of an expression in which letters stand for these values, beside e, i and π.

    A comparison has a value that equals nothing: not a number.

    Raises:
        NoValue: it is not an expression that is known here, or its value is undefined or too large.
    """
    if len(text) > LONGEST or _UNKNOWN.search(text) or not _balanced(text):
        raise NoValue("too long, a sign that is not known, or brackets that are not closed")
    if is_plain(text):
        return bounded(Fraction(text.strip()))
    reader = _Reader(_tokens(text), symbols)
    value = reader.sum()
    return complex("nan") if reader.next in _RELATIONS else value


def _balanced(text: str) -> bool:
    return all(text.count(opening) == text.count(_OPENING[opening]) for opening in "({")


def is_plain(text: str) -> bool:
    """Whether a text is a number by itself, as 12, -1.5 and 7e1."""
    return _PLAIN.fullmatch(text.strip()) is not None


def letters_in(text: str) -> frozenset[str]:
    """What stands for something unknown in an expression: letters, and commands that are not known here."""
    return frozenset(one for one in _tokens(text) if _NAME.fullmatch(one)) - CONSTANTS.keys()


def _tokens(text: str) -> list[str]:
    text = _SPLIT_NUMBER.sub("", text.strip())
    found = (_ALIASES.get(token, token) for token in _TOKEN.findall(text))
    return ["i" if token == "I" else token for token in found if token not in _SPACING]


class _Reader:
    """Reads tokens from left to right; each method reads one kind of expression and gives its value."""

    def __init__(self, tokens: list[str], symbols: Mapping[str, Value]) -> None:
        self._tokens = tokens
        self._symbols = symbols
        self._place = 0
        self._depth = 0

    @property
    def next(self) -> str | None:
        """The token that comes next; None at the end."""
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NoValue("nested too deeply")
        yield
        self._depth -= 1

    def _where_readable(self, part: Callable[[], Value]) -> Value | None:
        """What `part` reads from here; None, and nothing is taken, where there is no expression."""
        before = self._place, self._depth
        try:
            return part()
        except _Unreadable:
            self._place, self._depth = before
            return None

    def _take(self) -> str:
        token = self.next
        if token is None:
            raise _Unreadable("it ends too early")
        self._place += 1
        return token

    def _expect(self, token: str) -> None:
        if (taken := self._take()) != token:
            raise _Unreadable(f"{taken!r} instead of {token!r}")

    def sum(self) -> Value:
        """Terms with + and - between them."""
        total = self._product()
        while self.next in ("+", "-"):
            term = self._where_readable(self._signed_term)
            if term is None:
                break
            total = add(total, term)
        return total

    def _signed_term(self) -> Value:
        sign = self._take()
        term = self._product()
        return term if sign == "+" else multiply(Fraction(-1), term)

    def _product(self) -> Value:
        """Factors with * and / between them; what stands side by side is multiplied first."""
        value = self._signed()
        while (operator := self.next) in ("*", "/"):
            factor = self._where_readable(self._behind_operator)
            if factor is None:
                break
            value = multiply(value, factor) if operator == "*" else divide(value, factor)
        return value

    def _behind_operator(self) -> Value:
        self._take()
        return self._signed()

    def _signed(self) -> Value:
        negative = False
        while self.next in ("+", "-"):
            negative ^= self._take() == "-"
        value = self._side_by_side()
        return multiply(Fraction(-1), value) if negative else value

    def _side_by_side(self) -> Value:
        value = self._powers()
        while self._begins_a_factor():
            factor = self._where_readable(self._powers)
            if factor is None:
                break
            value = multiply(value, factor)
        return value

    def _begins_a_factor(self) -> bool:
        token = self.next
        if token is None:
            return False
        if token[0].isdecimal():
            return not self._tokens[self._place - 1][0].isdecimal()
        return (
            token in _OPENING
            or token in ("frac", "binom", "sqrt")
            or token in FUNCTIONS
            or self._is_name(token)
        )

    def _is_name(self, token: str) -> bool:
        return token in CONSTANTS or token in self._symbols

    def _powers(self) -> Value:
        """A factor with what stands behind it: ! and exponents, of which the last is raised first."""
        with self._deeper():
            value = self._atom()
            while self.next == "!":
                self._take()
                value = factorial(value)
            return self._raised(value)

    def _raised(self, value: Value) -> Value:
        exponent = self._where_readable(self._exponent) if self.next == "^" else None
        return value if exponent is None else power(value, exponent)

    def _exponent(self) -> Value:
        self._take()
        negative = self.next == "-"
        if negative:
            self._take()
        value = self._powers()
        return multiply(Fraction(-1), value) if negative else value

    def _atom(self) -> Value:
        token = self.next
        if token in _OPENING:
            return self._group()
        self._take()
        if token == "|":
            value = absolute(self.sum())
            self._expect("|")
            return value
        if token == "frac":
            above = self._argument()
            return divide(above, self._argument())
        if token == "binom":
            above = self._argument()
            return binomial(above, self._argument())
        if token == "sqrt":
            return self._root()
        if token in FUNCTIONS:
            return self._function(token)
        return self._number_or_name(token or "")

    def _number_or_name(self, token: str) -> Value:
        if _LEADING_ZERO.match(token):
            raise NoValue("a number that begins with 0")
        if token[:1].isdecimal() or (token.startswith(".") and len(token) > 1):
            return Fraction(token.rstrip("."))
        if token in self._symbols:
            return self._symbols[token]
        if token in CONSTANTS:
            return CONSTANTS[token]
        raise _Unreadable(f"unknown: {token!r}")

    def _group(self) -> Value:
        closing = _OPENING[self._take()]
        value = self.sum()
        self._expect(closing)
        return value

    def _argument(self) -> Value:
        """What a command takes: a group in braces, or the next sign; of a number its first digit."""
        token = self.next or ""
        if token.isdecimal() and len(token) > 1:
            self._tokens[self._place] = token[1:]
            return Fraction(token[0])
        with self._deeper():
            return self._atom()

    def _root(self) -> Value:
        degree: Value = Fraction(2)
        if (self.next or "").isdecimal():
            return power(Fraction(self._take()), Fraction(1, 2))
        if self.next == "[" or (self.next == "(" and self._degree_in_round_brackets()):
            degree = self._group()
        if self.next != "{":
            raise _Unreadable("a root without braces")
        return power(self._argument(), divide(Fraction(1), degree))

    def _degree_in_round_brackets(self) -> bool:
        """Whether a number in round brackets, which were square ones, is followed by a group in braces."""
        return self._tokens[self._place + 2 : self._place + 4] == [")", "{"]

    def _function(self, name: str) -> Value:
        base: Value | None = None
        exponent: Value = Fraction(1)
        while self.next in ("_", "^"):
            if self._take() == "_":
                base = self._argument()
            else:
                exponent = self._signed_argument()
        if exponent == -1 and name in _INVERSES:
            name, exponent = _INVERSES[name], Fraction(1)
        argument = self._function_argument()
        if base is None:
            value: Value = floating(FUNCTIONS[name], argument)
        else:
            value = divide(floating(FUNCTIONS["log"], argument), floating(FUNCTIONS["log"], base))
        return value if exponent == 1 else power(value, exponent)

    def _signed_argument(self) -> Value:
        if self.next == "-":
            self._take()
            return multiply(Fraction(-1), self._argument())
        return self._argument()

    def _function_argument(self) -> Value:
        """A group, or all factors that follow up to the next function: sin 2x cos x is sin(2x) cos(x)."""
        if self.next in _OPENING:
            return self._group()
        negative = self.next == "-"
        if negative:
            self._take()
        value = self._powers()
        while self._begins_a_factor() and self.next not in FUNCTIONS and self.next not in _OPENING:
            value = multiply(value, self._powers())
        return multiply(Fraction(-1), value) if negative else value
