"""Parser and evaluator of LaTeX expressions. Nothing is executed.

The grammar is that of sympy's LaTeX parser (parsing/latex/LaTeX.g4, version 1.14). MathArena uses that parser
if Python cannot parse the rewritten answer. As in sympy, the longest expression at the beginning of the text
counts. The rest is ignored if its first token is known to the lexer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from benchwright.catalog.matharena.token_cursor import NoExpressionError, TokenCursor, UnreadableExpression
from benchwright.catalog.matharena.tokens import (
    ARROW_TOKEN,
    NO_EXPRESSION_TOKEN,
    RELATION_TOKENS,
    UNDEFINED_TOKEN,
    UNKNOWN_TOKEN,
    is_name_token,
    matrices_are_closed,
    tokenize,
)
from benchwright.catalog.matharena.values import (
    COMPLEX_FUNCTIONS,
    NAMED_CONSTANTS,
    NoValueError,
    Value,
    absolute_value,
    add,
    apply_named_function,
    binomial_coefficient,
    complex_conjugate,
    divide,
    factorial,
    logarithm,
    multiply,
    raise_to_power,
    to_real_number,
)

_CLOSING = {"(": ")", "{": "}", "[": "]"}
_NO_FACTOR = frozenset(
    (*"+-*/^_!,.:'=)}]", *RELATION_TOKENS, NO_EXPRESSION_TOKEN, ARROW_TOKEN, "floored", "ceiled")
)
_NO_SCRIPT = frozenset((*_CLOSING, *COMPLEX_FUNCTIONS, "|", "sqrt", "overline", "floor", "ceiling", "limit"))
_THREE_DIGITS = re.compile(r"[0-9]{3}(?:\.[0-9]+)?$")
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}


def evaluate_expression(text: str, symbols: Mapping[str, Value]) -> Value:
    """Return the value of an expression. `symbols`: mapping from letters other than e, i and π to their values.

    Raises:
        UnreadableExpression: If the text is not an expression.
        NoValueError: If the value is undefined, too large or not computed here, or the text is a comparison.
    """
    if not matrices_are_closed(text):
        raise UnreadableExpression("a matrix without end")
    return _Reader(tokenize(text), symbols).whole()


class _Reader(TokenCursor):
    """A recursive descent parser. Each method reads one kind of expression and returns its value."""

    def whole(self) -> Value:
        """Read the longest expression that begins at the start of the text, and return its value.

        Raises:
            NoValueError: If a part has no value.
        """
        value = self._sum()
        compared = 1
        while self.next_token in RELATION_TOKENS:
            self._take()
            self._sum()
            self._without_value("a comparison")
            compared += 1
        if compared > 2 and any(map(is_name_token, self._signs)):
            raise UnreadableExpression("two comparisons with letters are neither true nor false")
        if self._lacking is not None:
            raise NoValueError(self._lacking)
        return value

    def _sum(self) -> Value:
        """Read terms separated by + and -, and return their sum."""
        total = self._product(self._factors)
        while self.next_token in ("+", "-"):
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
        """Read factors separated by * and /, and return the result. Adjacent factors are multiplied first."""

        def behind_operator() -> Value:
            self._take()
            return self._signed(factors)

        value = self._signed(factors)
        while (operator := self.next_token) in ("*", "/"):
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
        while self.next_token in ("+", "-"):
            negative ^= self._take() == "-"
        value = factors()
        return self._computed(multiply, Fraction(-1), value) if negative else value

    def _factors(self) -> Value:
        """Read adjacent factors.

        An x between two factors without letters is a multiplication sign.
        """
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
            any(map(is_name_token, self._signs[begin:end]))
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
        while self._begins_a_factor() and self.next_token not in (*COMPLEX_FUNCTIONS, "sqrt", "overline"):
            factor = self._where_readable(self._powers)
            if factor is None:
                break
            value = self._computed(multiply, value, factor)
        return value

    def _begins_a_factor(self) -> bool:
        return (
            self.next_token is not None
            and self.next_token not in _NO_FACTOR
            and not (self.next_token == "|" and self._in_bars)
        )

    def _powers(self) -> Value:
        """Read a factor with the exponents and factorial signs after it.

        Exponents are applied from left to right.
        """
        with self._deeper():
            value = self._atom()
            while self.next_token == "^" and (exponent := self._where_readable(self._script)) is not None:
                value = self._computed(raise_to_power, value, exponent)
                self._skip_index()
            while self.next_token == "!":
                self._take()
                value = self._computed(factorial, value)
            return value

    def _script(self) -> Value:
        """Read the exponent or index after `^` or `_`.

        It is a group in braces, a number, a letter, a fraction or a binomial.
        """
        self._take()
        if self.next_token == "{":
            return self._group()
        if self.next_token in _NO_SCRIPT:
            raise NoExpressionError("no group, number or letter")
        return self._atom(applied=False)

    def _atom(self, *, applied: bool = True) -> Value:
        sign = self.next_token
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
            return self._computed(binomial_coefficient, above, self._braces())
        if sign == "sqrt":
            return self._root()
        if sign == "overline":
            return self._computed(complex_conjugate, self._braces())
        if sign in COMPLEX_FUNCTIONS:
            return self._function(sign)
        if sign == "limit":
            return self._limit()
        return self._number(sign) if sign[0].isdecimal() else self._name(sign, applied)

    def _enclosed(self, closing: str) -> Value:
        with self._within(bars=closing == "|"):
            value = self._sum()
            self._expect(closing)
        return value

    def _number(self, sign: str) -> Value:
        """Read a number.

        Commas may separate groups of three digits, unless the number is an argument of a function.
        """
        while not self._listing and self.next_token == "," and _THREE_DIGITS.match(self._behind()):
            self._take()
            sign += self._take()
        if sign[0] == "0" and len(sign) > 1 and sign.isdecimal():
            raise UnreadableExpression("a number that begins with 0")
        if self.next_token == "." and sign.isdecimal():
            return self._digits_before_point(sign)
        return Fraction(sign)

    def _digits_before_point(self, sign: str) -> Value:
        """Read a whole number followed by a point without decimals. The text after the point is ignored.

        As in sympy, the value is the product of all digits but the last.
        """
        if UNKNOWN_TOKEN in self._signs[self._place : self._place + 2]:
            raise UnreadableExpression("a sign that is not known")
        if len(sign) == 1:
            raise NoExpressionError("a point without digits")
        self._signs = self._signs[: self._place]
        return Fraction(math.prod(map(int, sign[:-1])))

    def _limit(self) -> Value:
        """Read a limit.

        A limit has a value only if its expression does not contain the letter that approaches a value.
        """
        self._expect("_")
        self._expect("{")
        letter = self._take()
        self._expect(ARROW_TOKEN)
        lacking = self._lacking
        self._sum()
        self._lacking = lacking
        if self.next_token == "^":
            self._take()
            if self._take() not in ("+", "-"):
                raise NoExpressionError("no direction")
        self._expect("}")
        begin = self._place
        value = self._product(self._factors)
        if letter in self._signs[begin : self._place]:
            return self._without_value("not computed")
        return value

    def _name(self, sign: str, applied: bool) -> Value:
        if sign == UNDEFINED_TOKEN:
            return self._without_value("not computed")
        if sign not in self._symbols and sign not in NAMED_CONSTANTS:
            raise NoExpressionError(f"unknown: {sign!r}")
        if self._skip_index() or self.next_token == "'":
            return self._without_value("a letter of its own")
        if applied and self.next_token == "(" and self._where_readable(self._arguments) is not None:
            return self._without_value("a function that is not known")
        return self._symbols[sign] if sign in self._symbols else NAMED_CONSTANTS[sign]

    def _skip_index(self) -> bool:
        """Skip an index (`_…`), which has no meaning here. Return True if there was an index.

        If no index follows `_`, raise `UnreadableExpression`, or in nested expressions `NoExpressionError`.
        """
        if self.next_token != "_":
            return False
        if self._where_readable(self._script) is None:
            raise (UnreadableExpression if self._depth <= 1 else NoExpressionError)(
                "an index without braces, number or letter"
            )
        return True

    def _arguments(self) -> Value:
        self._take()
        with self._within(listing=True):
            value = self._sum()
            while self.next_token == ",":
                self._take()
                self._sum()
            self._expect(")")
        return value

    def _group(self) -> Value:
        return self._enclosed(_CLOSING[self._take()])

    def _braces(self) -> Value:
        if self.next_token != "{":
            raise NoExpressionError("no group in braces")
        return self._group()

    def _digit_or_group(self) -> Value:
        """Read the numerator or denominator of a fraction: a group in braces, or one digit."""
        sign = self.next_token or ""
        if not sign[:1].isdecimal():
            return self._braces()
        if len(sign) > 1:
            self._signs = [*self._signs[: self._place], sign[1:], *self._signs[self._place + 1 :]]
        else:
            self._take()
        return Fraction(sign[0])

    def _root(self) -> Value:
        degree = self._group() if self.next_token == "[" else Fraction(2)
        return self._computed(raise_to_power, self._braces(), self._computed(divide, Fraction(1), degree))

    def _function(self, name: str) -> Value:
        base: Value | None = None
        exponent: Value = Fraction(1)
        while self.next_token in ("_", "^"):
            if self.next_token == "_":
                base = self._script()
            else:
                exponent = self._script()
        if exponent == -1 and name in _INVERSES:
            name, exponent = _INVERSES[name], Fraction(1)
        argument = self._where_readable(self._group) if self.next_token == "(" else None
        if argument is None:
            argument = self._product(self._factors_without_functions)
        if base is None:
            value = self._computed(partial(apply_named_function, name), argument)
        else:
            value = self._computed(logarithm, argument, base)
        return value if exponent == 1 else self._computed(raise_to_power, value, exponent)


_ENCLOSED: Mapping[str, tuple[str, Callable[[Value], Value]]] = {
    "|": ("|", absolute_value),
    "floor": ("floored", lambda value: Fraction(math.floor(to_real_number(value)))),
    "ceiling": ("ceiled", lambda value: Fraction(math.ceil(to_real_number(value)))),
}
