"""Values of expressions in answers, and the test of their equality (MathArena, parser.py, check_answers)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from benchwright.catalog.matharena.arithmetic import (
    NotPythonError,
    evaluate_tree,
    find_unknown_names,
    parse_expression,
    split_list,
)
from benchwright.catalog.matharena.expressions import evaluate_expression
from benchwright.catalog.matharena.python_rewriting import add_braces, rewrite_as_python
from benchwright.catalog.matharena.token_cursor import UnreadableExpression
from benchwright.catalog.matharena.tokens import find_letters
from benchwright.catalog.matharena.values import InexactComplex, NoValueError, Value

MAX_EXPRESSION_CHARACTERS = 4_000
"""Maximum number of characters of an expression. A longer expression has no value."""

TOLERANCE = 1e-10
"""Absolute and relative tolerance within which numbers that are not exact are equal."""

_PLACES: tuple[tuple[Fraction, Fraction], ...] = (
    (Fraction(7_310_585, 10**7), Fraction(2_861, 10**4)),
    (Fraction(19_168, 10**4), Fraction(4_177, 10**4)),
    (Fraction(-26_457, 10**4), Fraction(-1_031, 10**4)),
)
"""Three points at which expressions with letters are compared, each as (start, step) of the letters' values.

Equal expressions have equal values at all three points. Different expressions almost never have.
"""


@dataclass(frozen=True)
class Quantity:
    """A number, or an expression with letters.

    `is_exact`: True for a quantity that is compared exactly with other exact quantities, like sympy's
    numbers. All other pairs are compared within `TOLERANCE`. A quantity is not exact if MathArena represents
    it as a Python number: plain numbers, and most values that only MathArena's LaTeX parser can read.
    """

    evaluate: Callable[[Mapping[str, Value]], Value]
    letters_used: frozenset[str]
    is_exact: bool


def parse_whole_number(text: str) -> Quantity | None:
    """Return an exact quantity if Python can read the text as an int. Return None for other texts."""
    try:
        number = Fraction(int(text))
    except ValueError:
        return None
    return _constant(number, exact=True)


AnswerValue = Quantity | list["AnswerValue"]
"""A quantity, or a list of quantities in any order."""


def parse_quantity(text: str) -> AnswerValue | None:
    """Return the value of an expression. If braces enclose the text, return the list of values.

    Return None if the text cannot be read.
    """
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        return None
    if text.isdigit() and not text.isdecimal():  # as in 5², on which MathArena's program crashes
        return UNEQUAL_QUANTITY
    try:
        return _constant(Fraction(int(text) if text.isdigit() else float(text)), exact=False)
    except OverflowError:  # infinity, which crashes it, too
        return UNEQUAL_QUANTITY
    except ValueError:
        text = add_braces(text)
    found = _as_python(text)
    return _as_latex(text) if found is None else found


def _constant(value: Value, *, exact: bool) -> Quantity:
    return Quantity(lambda _: value, frozenset(), exact)


def _undefined(_: Mapping[str, Value]) -> Value:
    raise NoValueError("no value")


UNEQUAL_QUANTITY = Quantity(_undefined, frozenset(), is_exact=True)
"""A quantity that equals nothing, not even itself."""

INFINITE_QUANTITY = Quantity(_undefined, frozenset(), is_exact=False)
"""The quantity of infinite values. It is not exact and equals nothing, not even itself."""


def _as_python(text: str) -> AnswerValue | None:
    try:
        return _of_tree(parse_expression(rewrite_as_python(text)))
    except NotPythonError:
        return None


def _of_tree(tree: ast.expr) -> AnswerValue:
    if (listed := split_list(tree)) is not None:
        return [_of_tree(one) for one in listed]
    letters = find_unknown_names(tree)
    return _checked(lambda symbols: evaluate_tree(tree, symbols), letters)


def _checked(at: Callable[[Mapping[str, Value]], Value], letters: frozenset[str]) -> Quantity:
    try:
        at(_place(letters, 0))
    except NoValueError:
        return UNEQUAL_QUANTITY
    return Quantity(at, letters, is_exact=True)


def _as_latex(text: str) -> Quantity | None:
    letters = find_letters(text)
    try:
        if letters:
            return _checked(lambda symbols: evaluate_expression(text, symbols), letters)
        value = evaluate_expression(text, {})
    except UnreadableExpression:
        return None
    except NoValueError:
        return INFINITE_QUANTITY if r"\infty" in text else UNEQUAL_QUANTITY
    return _constant(value, exact=isinstance(value, Fraction) and value.denominator != 1 and "." not in text)


def _place(letters: frozenset[str], number: int) -> dict[str, Value]:
    start, step = _PLACES[number]
    return {letter: start + step * (order + 1) for order, letter in enumerate(sorted(letters))}


def are_equal_quantities(one: Quantity, other: Quantity) -> bool:
    """Return True if two quantities are equal.

    If both are exact, they are compared exactly, otherwise within `TOLERANCE`.
    """
    letters = one.letters_used | other.letters_used
    exact = one.is_exact and other.is_exact
    try:
        return all(
            are_equal_values(one.evaluate(symbols), other.evaluate(symbols), exact=exact)
            for symbols in (_place(letters, number) for number in range(len(_PLACES) if letters else 1))
        )
    except (NoValueError, NotPythonError, OverflowError):
        return False


def are_equal_values(one: Value, other: Value, *, exact: bool) -> bool:
    """Return True if two values are equal.

    `exact`: True to compare exactly, as far as double precision can distinguish irrational numbers. As in
    sympy, a rounded value then equals only values that are rounded to the same number, and never an
    irrational one.
    """
    if exact and (isinstance(one, InexactComplex) or isinstance(other, InexactComplex)):
        return (
            isinstance(one, (Fraction, InexactComplex))
            and isinstance(other, (Fraction, InexactComplex))
            and complex(one) == complex(other)
        )
    if one == other:
        return True
    if exact and isinstance(one, Fraction) and isinstance(other, Fraction):
        return False
    apart, largest = _apart(one, other)
    return apart < TOLERANCE * largest and (exact or apart < TOLERANCE)


def _apart(one: Value, other: Value) -> tuple[Fraction | float, Fraction | float]:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return abs(one - other), max(abs(one), abs(other))
    return abs(complex(one) - complex(other)), max(abs(complex(one)), abs(complex(other)))
