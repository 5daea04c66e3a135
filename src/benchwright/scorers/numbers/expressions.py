"""Parser that computes the value of a written arithmetic expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from benchwright.scorers.numbers.arithmetic import (
    PI,
    ExpressionValue,
    add_or_subtract,
    divide,
    factorial,
    multiply,
    negate,
    raise_to_power,
    root_of,
)
from benchwright.scorers.numbers.cursor import TokenCursor
from benchwright.scorers.numbers.numerals import (
    LETTER_EXPRESSION_KIND,
    is_at_currency,
    read_money,
    read_number,
    read_repeating_decimal,
    vulgar_fraction,
)
from benchwright.scorers.numbers.quantity import PERCENT_UNIT, Quantity
from benchwright.scorers.numbers.tokens import Token
from benchwright.scorers.numbers.units import CURRENCY_BY_SIGN, read_unit

MAX_NESTING = 20
"""Maximum nesting of brackets, powers and signs in an expression. More deeply nested expressions are not read."""

SUPERSCRIPT_TRANSLATION = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_TWO = Quantity(Fraction(2), True)


def read_expression(tokens: Sequence[Token], place: int) -> tuple[ExpressionValue, int] | None:
    """Return the value of the longest expression that begins at a token, and the position after the expression.

    Return None if no expression begins there.
    """
    expression = _Expression(tokens, place)
    value = expression.whole()
    return None if value is None else (value, expression.place)


class _Expression(TokenCursor):
    """A recursive descent parser of arithmetic: sums of products, products of powers. Any of them may have a sign.

    Each method moves the cursor past the tokens that it has read.
    """

    def __init__(self, tokens: Sequence[Token], place: int) -> None:
        super().__init__(tokens, place)
        self._depth = 0

    def whole(self) -> ExpressionValue | None:
        value = self._sum()
        if isinstance(value, Quantity) and value.unit is None:
            return value._replace(unit=read_unit(self))
        return value

    def _deeper(self, read: Callable[[], ExpressionValue | None]) -> ExpressionValue | None:
        if self._depth >= MAX_NESTING:
            return None
        self._depth += 1
        value = read()
        self._depth -= 1
        return value

    def _sum(self) -> ExpressionValue | None:
        value = self._product()
        while value is not None and (sign := self._plus_or_minus()):
            before = self.place
            self.place += 1
            other = self._product()
            if other is None:
                self.place = before
                break
            value = add_or_subtract(value, other, -1 if sign == "-" else 1)
        return value

    def _plus_or_minus(self) -> str | None:
        """Return the sign between two terms. Return None if there is no such sign.

        Outside of formulas, a hyphen without blanks between two numbers does not count, because it may mean
        "to".
        """
        token, after = self.peek(), self.peek(1)
        if token is None or after is None or token.kind != "sign" or token.text not in ("+", "-"):
            return None
        if token.is_in_formula or token.text == "+":
            return token.text
        if token.is_after_blank:
            return token.text if after.is_after_blank and after.text not in CURRENCY_BY_SIGN else None
        before = self.tokens[self.place - 1]
        return None if before.kind == after.kind == "number" else token.text

    def _product(self) -> ExpressionValue | None:
        value = self._signed()
        while value is not None:
            before, operation = self.place, self._operation(value)
            other = self._signed() if operation is not None else None
            if operation is None or other is None:
                self.place = before
                break
            value = operation(value, other)
        return value

    def _operation(
        self, left: ExpressionValue
    ) -> Callable[[ExpressionValue, ExpressionValue], ExpressionValue] | None:
        """Read the sign between two factors and return its operation. Return None if no factor follows.

        The sign × may be omitted. After a percentage or a number between 0 and 1, the word "of" may replace
        the sign.
        """
        token = self.peek()
        if token is None:
            return None
        if self.is_sign("×", "/", "÷"):
            self.place += 1
            return multiply if token.text == "×" else divide
        joined = not token.is_after_blank or token.is_in_formula
        if joined and self.is_sign("(", "√", "π", "sqrt", "frac", "dfrac"):
            return multiply
        part = isinstance(left, Quantity) and (
            left.unit == PERCENT_UNIT or (not left.is_whole and 0 < left.value < 1)
        )
        if part and self.is_word("of") and self.is_number(1):
            self.place += 1
            return multiply
        return None

    def _signed(self) -> ExpressionValue | None:
        token, after = self.peek(), self.peek(1)
        attached = after is not None and (not after.is_after_blank or after.is_in_formula)
        if not (self.is_sign("+", "-") and attached) and not self.is_word("minus", "negative"):
            return self._power()
        before = self.place
        self.place += 1
        value = self._deeper(self._signed)
        if value is None:
            self.place = before
        positive = token is not None and token.text == "+"
        return negate(value) if isinstance(value, Quantity) and not positive else value

    def _power(self) -> ExpressionValue | None:
        value = self._atom()
        while isinstance(value, Quantity) and (token := self.peek()) is not None:
            if token.kind == "raised" and not token.is_after_blank:
                self.place += 1
                value = raise_to_power(
                    value, Quantity(Fraction(int(token.text.translate(SUPERSCRIPT_TRANSLATION))), True)
                )
            elif self.is_sign("^") and not self.is_sign("°", ahead=1):
                before = self.place
                self.place += 1
                exponent = self._deeper(self._exponent)
                if exponent is None:
                    self.place = before
                    break
                value = raise_to_power(value, exponent)
            elif self.is_sign("!") and token.is_in_formula and not token.is_after_blank:
                self.place += 1
                value = factorial(value)
            else:
                break
        return value

    def _exponent(self) -> ExpressionValue | None:
        return self._group() or self._signed()

    def _atom(self) -> ExpressionValue | None:
        token = self.peek()
        if token is None:
            return None
        match token.kind:
            case "number":
                return read_number(self)
            case "repeating":
                self.place += 1
                return read_repeating_decimal(token.text)
            case "vulgar":
                self.place += 1
                return Quantity(vulgar_fraction(token.text), unit=read_unit(self))
            case "command" if token.text.endswith("frac"):
                return self._fraction()
        if self.is_sign("√", "sqrt") or self.is_word("sqrt"):
            return self._root()
        if self.is_sign("π"):
            self.place += 1
            return Quantity(PI)
        return read_money(self) if is_at_currency(self) else self._group()

    def _group(self) -> ExpressionValue | None:
        """Read an expression in brackets or braces and return its value.

        Return None if there are no brackets or braces.
        """
        token = self.peek()
        closing = _CLOSING.get(token.text) if token is not None and token.kind in ("sign", "group") else None
        if closing is None:
            return None
        before = self.place
        self.place += 1
        value = self._deeper(self.whole)
        if value is None or not self.is_sign(closing):
            self.place = before
            return None
        self.place += 1
        return value

    def _fraction(self) -> ExpressionValue:
        self.place += 1
        token = self.peek()
        if token is not None and token.kind == "number" and len(token.text) == 2 and token.text.isdecimal():
            self.place += 1
            return divide(*(Quantity(Fraction(int(digit)), True) for digit in token.text))
        over = self._group() or self._digits()
        under = (self._group() or self._digits()) if over is not None else None
        return LETTER_EXPRESSION_KIND if over is None or under is None else divide(over, under)

    def _digits(self) -> ExpressionValue | None:
        token = self.peek()
        if token is None or token.kind != "number" or not token.text.isdecimal():
            return None
        self.place += 1
        return Quantity(Fraction(int(token.text)), True)

    def _root(self) -> ExpressionValue | None:
        """Read the root at the cursor and return its value.

        If the radicand or the degree is no number, the value is words that say why, such as an expression with
        letters.
        """
        self.place += 1
        degree = self._group() if self.is_sign("[") else _TWO
        radicand = self._group() or self._deeper(self._atom)
        if not isinstance(radicand, Quantity) or not isinstance(degree, Quantity):
            return radicand if isinstance(radicand, str) else LETTER_EXPRESSION_KIND
        return root_of(radicand.value, degree.value)
