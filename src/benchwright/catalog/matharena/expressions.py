"""Reads LaTeX expressions into values. Nothing is executed.

The grammar is that of sympy's reader of LaTeX (parsing/latex/LaTeX.g4, version 1.14), which MathArena uses where Python
cannot read what it makes of an answer. As there, what stands behind the longest beginning that is an expression is
overlooked, as long as the sign right behind it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import partial

from benchwright.catalog.matharena.signs import (
    NO_PART,
    NO_SIGN,
    RELATIONS,
    UNDEFINED,
    is_name,
    matrices_are_closed,
    signs_of,
)
from benchwright.catalog.matharena.values import (
    CONSTANTS,
    FUNCTIONS,
    NoValue,
    Value,
    absolute,
    add,
    binomial,
    conjugate,
    divide,
    factorial,
    function_value,
    logarithm,
    multiply,
    power,
    real,
)

DEEPEST = 60
"""How deeply brackets may be nested."""

_CLOSING = {"(": ")", "{": "}", "[": "]"}
_NO_FACTOR = frozenset((*"+-*/^_!,.:'=)}]", *RELATIONS, NO_PART, "floored", "ceiled"))
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}


class Unreadable(Exception):
    """There is no expression."""


class _NotHere(Unreadable):
    """What follows is not an expression; what stands before it may be one."""


def value_of(text: str, symbols: Mapping[str, Value]) -> Value:
    """The value of an expression in which letters stand for these values, beside e, i and π.

    Raises:
        Unreadable: it is not an expression.
        NoValue: its value is undefined, too large or not computed here; so is that of a comparison.
    """
    if not matrices_are_closed(text):
        raise Unreadable("a matrix without end")
    return _Reader(signs_of(text), symbols).whole()


class _Reader:
    """Reads signs from left to right; each method reads one kind of expression and gives its value."""

    def __init__(self, signs: list[str], symbols: Mapping[str, Value]) -> None:
        self._signs = signs
        self._symbols = symbols
        self._place = 0
        self._depth = 0
        self._bars = 0
        self._lacking: str | None = None

    @property
    def next(self) -> str | None:
        """The sign that comes next; None at the end."""
        sign = self._signs[self._place] if self._place < len(self._signs) else None
        if sign == NO_SIGN:
            raise Unreadable("a sign that is not known")
        return sign

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NoValue("nested too deeply")
        yield
        self._depth -= 1

    def _where_readable(self, part: Callable[[], Value]) -> Value | None:
        """What `part` reads from here; None, and nothing is taken, where there is no expression."""
        before = self._place, self._depth, self._bars, self._lacking
        try:
            return part()
        except _NotHere:
            self._place, self._depth, self._bars, self._lacking = before
            return None

    def _computed(self, operation: Callable[..., Value], *values: Value) -> Value:
        """The result of an operation; where there is none, reading goes on and the whole has no value."""
        try:
            return operation(*values)
        except NoValue as reason:
            return self._without_value(str(reason))

    def _without_value(self, reason: str) -> Value:
        self._lacking = reason
        return Fraction(1)

    def _take(self) -> str:
        """The sign that comes next, which is behind then."""
        sign = self.next
        if sign is None:
            raise _NotHere("it ends too early")
        self._place += 1
        return sign

    def _expect(self, sign: str) -> None:
        if (taken := self._take()) != sign:
            raise _NotHere(f"{taken!r} instead of {sign!r}")

    def whole(self) -> Value:
        """The longest expression from the beginning.

        Raises:
            NoValue: some part of it has none.
        """
        value = self._sum()
        compared = 1
        while self.next in RELATIONS:
            self._take()
            self._sum()
            self._without_value("a comparison")
            compared += 1
        if compared > 2 and any(map(is_name, self._signs)):
            raise Unreadable("two comparisons with letters are neither true nor false")
        if self._lacking is not None:
            raise NoValue(self._lacking)
        return value

    def _sum(self) -> Value:
        """Terms with + and - between them."""
        total = self._product(self._factors)
        while self.next in ("+", "-"):
            term = self._where_readable(self._signed_term)
            if term is None:
                break
            total = self._computed(add, total, term)
        return total

    def _signed_term(self) -> Value:
        sign = self._take()
        term = self._product(self._factors)
        return term if sign == "+" else self._computed(multiply, Fraction(-1), term)

    def _product(self, factors: Callable[[], Value]) -> Value:
        """Factors with * and / between them; what stands side by side is multiplied first."""

        def behind_operator() -> Value:
            self._take()
            return self._signed(factors)

        value = self._signed(factors)
        while (operator := self.next) in ("*", "/"):
            factor = self._where_readable(behind_operator)
            if factor is None:
                break
            value = (
                self._computed(multiply, value, factor)
                if operator == "*"
                else self._computed(divide, value, factor)
            )
        return value

    def _signed(self, factors: Callable[[], Value]) -> Value:
        negative = False
        while self.next in ("+", "-"):
            negative ^= self._take() == "-"
        value = factors()
        return self._computed(multiply, Fraction(-1), value) if negative else value

    def _factors(self) -> Value:
        """Factors side by side; an x between two without letters is a sign of multiplication."""
        begins = [self._place]
        values = [self._powers()]
        while self._begins_a_factor():
            begin = self._place
            factor = self._where_readable(self._powers)
            if factor is None:
                break
            begins.append(begin)
            values.append(factor)
        named = [
            any(map(is_name, self._signs[begin:end]))
            for begin, end in zip(begins, [*begins[1:], self._place], strict=True)
        ]
        product = values[-1]
        for place in range(len(values) - 2, -1, -1):
            times = place > 0 and self._signs[begins[place] : begins[place + 1]] == ["x"]
            if not (times and not named[place - 1] and not named[place + 1]):
                product = self._computed(multiply, values[place], product)
        return product

    def _factors_without_functions(self) -> Value:
        value = self._powers()
        while self._begins_a_factor() and self.next not in (*FUNCTIONS, "sqrt", "overline"):
            factor = self._where_readable(self._powers)
            if factor is None:
                break
            value = self._computed(multiply, value, factor)
        return value

    def _begins_a_factor(self) -> bool:
        return self.next is not None and self.next not in _NO_FACTOR and not (self.next == "|" and self._bars)

    def _powers(self) -> Value:
        """A factor with what stands behind it: exponents, of which the first is raised first, and !."""
        with self._deeper():
            value = self._atom()
            while self.next == "^" and (exponent := self._where_readable(self._script)) is not None:
                value = self._computed(power, value, exponent)
                self._skip_index()
            while self.next == "!":
                self._take()
                value = self._computed(factorial, value)
            return value

    def _script(self) -> Value:
        """An exponent or an index behind its sign: a group in braces, or a number, letter, fraction or binomial."""
        self._take()
        if self.next == "{":
            return self._group()
        if (
            self.next in _CLOSING
            or self.next in FUNCTIONS
            or self.next in ("|", "sqrt", "overline", "floor", "ceiling")
        ):
            raise _NotHere("no group, number or letter")
        return self._atom(applied=False)

    def _atom(self, *, applied: bool = True) -> Value:
        sign = self.next
        if sign in _CLOSING:
            return self._group()
        sign = self._take()
        if sign in _ENCLOSED:
            closing, function = _ENCLOSED[sign]
            return self._computed(function, self._enclosed(closing))
        if sign == "frac":
            above = self._digit_or_group()
            return self._computed(divide, above, self._digit_or_group())
        if sign == "binom":
            above = self._braces()
            return self._computed(binomial, above, self._braces())
        if sign == "sqrt":
            return self._root()
        if sign == "overline":
            return self._computed(conjugate, self._braces())
        if sign in FUNCTIONS:
            return self._function(sign)
        return self._number(sign) if sign[0].isdecimal() else self._name(sign, applied)

    def _enclosed(self, closing: str) -> Value:
        outside, self._bars = self._bars, closing == "|"
        value = self._sum()
        self._bars = outside
        self._expect(closing)
        return value

    def _number(self, sign: str) -> Value:
        if sign[0] == "0" and len(sign) > 1 and sign.isdecimal():
            raise Unreadable("a number that begins with 0")
        if self.next == "." and sign.isdecimal():
            if NO_SIGN in self._signs[self._place : self._place + 2]:
                raise Unreadable("a sign that is not known")
            if self._place > 1:
                raise _NotHere("a point without digits")
            self._signs = self._signs[:1]
            return Fraction(sign[0])
        return Fraction(sign)

    def _name(self, sign: str, applied: bool) -> Value:
        if sign == UNDEFINED:
            return self._without_value("not computed")
        if sign not in self._symbols and sign not in CONSTANTS:
            raise _NotHere(f"unknown: {sign!r}")
        if self._skip_index() or self.next == "'":
            return self._without_value("a letter of its own")
        if applied and self.next == "(" and self._where_readable(self._arguments) is not None:
            return self._without_value("a function that is not known")
        return self._symbols[sign] if sign in self._symbols else CONSTANTS[sign]

    def _skip_index(self) -> bool:
        """Whether there is an index, which has no meaning here; a sign of one without it spoils the whole."""
        if self.next != "_":
            return False
        if self._where_readable(self._script) is None:
            raise (Unreadable if self._depth <= 1 else _NotHere)("an index without braces, number or letter")
        return True

    def _arguments(self) -> Value:
        self._take()
        value = self._sum()
        while self.next == ",":
            self._take()
            self._sum()
        self._expect(")")
        return value

    def _group(self) -> Value:
        return self._enclosed(_CLOSING[self._take()])

    def _braces(self) -> Value:
        if self.next != "{":
            raise _NotHere("no group in braces")
        return self._group()

    def _digit_or_group(self) -> Value:
        """Part of a fraction: a group in braces, or one digit."""
        sign = self.next or ""
        if not sign[:1].isdecimal():
            return self._braces()
        if len(sign) > 1:
            self._signs = [*self._signs[: self._place], sign[1:], *self._signs[self._place + 1 :]]
        else:
            self._take()
        return Fraction(sign[0])

    def _root(self) -> Value:
        degree = self._group() if self.next == "[" else Fraction(2)
        return self._computed(power, self._braces(), self._computed(divide, Fraction(1), degree))

    def _function(self, name: str) -> Value:
        base: Value | None = None
        exponent: Value = Fraction(1)
        while self.next in ("_", "^"):
            if self.next == "_":
                base = self._script()
            else:
                exponent = self._script()
        if exponent == -1 and name in _INVERSES:
            name, exponent = _INVERSES[name], Fraction(1)
        argument = self._where_readable(self._group) if self.next == "(" else None
        if argument is None:
            argument = self._product(self._factors_without_functions)
        if base is None:
            value = self._computed(partial(function_value, name), argument)
        else:
            value = self._computed(logarithm, argument, base)
        return value if exponent == 1 else self._computed(power, value, exponent)


_ENCLOSED: Mapping[str, tuple[str, Callable[[Value], Value]]] = {
    "|": ("|", absolute),
    "floor": ("floored", lambda value: Fraction(math.floor(real(value)))),
    "ceiling": ("ceiled", lambda value: Fraction(math.ceil(real(value)))),
}
