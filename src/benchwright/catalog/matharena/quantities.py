"""What one expression of an answer stands for, and when two of them are equal (MathArena, parser.py, check_answers)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from benchwright.catalog.matharena.arithmetic import NotPython, items, names_in, parsed, value_of_tree
from benchwright.catalog.matharena.cursor import Unreadable
from benchwright.catalog.matharena.expressions import value_of
from benchwright.catalog.matharena.rewriting import as_python, with_braces
from benchwright.catalog.matharena.signs import letters_in
from benchwright.catalog.matharena.values import NoValue, Rounded, Value

LONGEST = 4_000
"""Characters of an expression that is read; a longer one has no value."""

TOLERANCE = 1e-10
"""Absolute and relative, where a number is not exact."""

_PLACES: tuple[tuple[Fraction, Fraction], ...] = (
    (Fraction(7_310_585, 10**7), Fraction(2_861, 10**4)),
    (Fraction(19_168, 10**4), Fraction(4_177, 10**4)),
    (Fraction(-26_457, 10**4), Fraction(-1_031, 10**4)),
)
"""Where expressions with letters are compared: equal ones are equal everywhere, others hardly at all three."""


@dataclass(frozen=True)
class Quantity:
    """A number, or an expression with letters.

    `exact` ones are compared exactly with each other, as what sympy has symbols for; a number of Python's own, as
    MathArena makes of plain numbers and of what only its second reader reads, is compared within `TOLERANCE`.
    """

    at: Callable[[Mapping[str, Value]], Value]
    letters: frozenset[str]
    exact: bool


def whole_number(text: str) -> Quantity | None:
    """The exact whole number that a text is, as Python reads one; None otherwise."""
    try:
        number = Fraction(int(text))
    except ValueError:
        return None
    return _constant(number, exact=True)


Stated = Quantity | list["Stated"]
"""A quantity, or a list of them in any order."""


def quantity(text: str) -> Stated | None:
    """What an expression stands for; None where it cannot be read at all. Braces around all of it make a list."""
    if len(text) > LONGEST:
        return None
    if text.isdigit() and not text.isdecimal():  # as in 5², on which MathArena's program ends
        return NOTHING
    try:
        return _constant(Fraction(int(text) if text.isdigit() else float(text)), exact=False)
    except OverflowError:  # infinity, as above
        return NOTHING
    except ValueError:
        text = with_braces(text)
    found = _as_python(text)
    return _as_latex(text) if found is None else found


def _constant(value: Value, *, exact: bool) -> Quantity:
    return Quantity(lambda _: value, frozenset(), exact)


def _undefined(_: Mapping[str, Value]) -> Value:
    raise NoValue("no value")


NOTHING = Quantity(_undefined, frozenset(), exact=True)
"""What equals nothing, not even itself."""

INFINITE = Quantity(_undefined, frozenset(), exact=False)
"""The same, but as a number of Python's own."""


def _as_python(text: str) -> Stated | None:
    try:
        return _of_tree(parsed(as_python(text)))
    except NotPython:
        return None


def _of_tree(tree: ast.expr) -> Stated:
    if (listed := items(tree)) is not None:
        return [_of_tree(one) for one in listed]
    letters = names_in(tree)
    return _checked(lambda symbols: value_of_tree(tree, symbols), letters)


def _checked(at: Callable[[Mapping[str, Value]], Value], letters: frozenset[str]) -> Quantity:
    try:
        at(_place(letters, 0))
    except NoValue:
        return NOTHING
    return Quantity(at, letters, exact=True)


def _as_latex(text: str) -> Quantity | None:
    letters = letters_in(text)
    try:
        if letters:
            return _checked(lambda symbols: value_of(text, symbols), letters)
        value = value_of(text, {})
    except Unreadable:
        return None
    except NoValue:
        return INFINITE if r"\infty" in text else NOTHING
    return _constant(value, exact=isinstance(value, Fraction) and value.denominator != 1 and "." not in text)


def _place(letters: frozenset[str], number: int) -> dict[str, Value]:
    start, step = _PLACES[number]
    return {letter: start + step * (order + 1) for order, letter in enumerate(sorted(letters))}


def same_quantity(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are equal."""
    letters = one.letters | other.letters
    exact = one.exact and other.exact
    try:
        return all(
            same(one.at(symbols), other.at(symbols), exact=exact)
            for symbols in (_place(letters, number) for number in range(len(_PLACES) if letters else 1))
        )
    except (NoValue, NotPython, OverflowError):
        return False


def same(one: Value, other: Value, *, exact: bool) -> bool:
    """Whether two values are equal: `exact` ones as far as double precision tells irrational numbers apart.

    Rounded ones are equal to what is rounded to the same, and to no irrational number, as with sympy.
    """
    if exact and (isinstance(one, Rounded) or isinstance(other, Rounded)):
        return (
            isinstance(one, (Fraction, Rounded))
            and isinstance(other, (Fraction, Rounded))
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
