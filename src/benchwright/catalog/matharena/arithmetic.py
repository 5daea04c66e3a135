"""Evaluation of expressions in Python's syntax. They are parsed and interpreted here, never executed.

MathArena evaluates them with sympy. Here, only some of sympy's operators, constants and functions are
supported.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TypeGuard

from benchwright.catalog.matharena.values import (
    CONSTANTS,
    FUNCTIONS,
    InexactNumber,
    NoValue,
    Value,
    absolute,
    add,
    apply_to_complex,
    binomial,
    divide,
    factorial,
    function_value,
    logarithm,
    multiply,
    power,
    real,
)

CONSTANT_NAMES: Mapping[str, Value] = {
    "pi": CONSTANTS["pi"],
    "e": CONSTANTS["e"],
    "E": CONSTANTS["e"],
    "I": CONSTANTS["i"],
}


class NotPython(Exception):
    """The error of a text that Python cannot evaluate as an expression, or whose value sympy could not represent."""


def parse(text: str) -> ast.expr:
    """Parse an expression into its syntax tree.

    Raises:
        NotPython: If the text is not an expression, or is nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPython(str(error)) from error


def list_items(tree: ast.expr) -> list[ast.expr] | None:
    """Return the elements of a list. Return None if the tree is not a list.

    (Braces have been rewritten as lists.)
    """
    return tree.elts if isinstance(tree, ast.List) else None


def names_in(tree: ast.expr) -> frozenset[str]:
    """Return the names of the unknowns in the expression."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called}
    return frozenset(found - CONSTANT_NAMES.keys())


def value_of_tree(tree: ast.expr, symbols: Mapping[str, Value]) -> Value:
    """Return the value of an expression. `symbols`: mapping from its unknowns to their values.

    Raises:
        NotPython: If operands do not fit their operators.
        NoValue: If the result is no number, undefined or too large, or a function or name is unknown.
    """
    if isinstance(tree, (ast.Lambda, ast.Tuple)) or (
        isinstance(tree, ast.Constant) and not _is_number(tree.value)
    ):
        raise NoValue("no number")
    try:
        value = _Evaluator(symbols).any_value(tree)
    except RecursionError as error:
        raise NotPython("nested too deeply") from error
    if isinstance(value, bool):
        raise NoValue("true or false")
    return value


def _is_number(constant: object) -> TypeGuard[complex]:
    return type(constant) in (int, float, complex)


class _Evaluator:
    def __init__(self, symbols: Mapping[str, Value]) -> None:
        self._symbols = symbols

    def number(self, tree: ast.expr) -> Value:
        """Return the value of a tree. Raises NotPython if it is True or False."""
        value = self.any_value(tree)
        if isinstance(value, bool):
            raise NotPython("true or false in an expression")
        return value

    def any_value(self, tree: ast.expr) -> Value | bool:
        """Return the value of a tree: a number, True or False."""
        match tree:
            case ast.BinOp(left, operator, right):
                return _operation(operator, self.number(left), self.number(right))
            case ast.UnaryOp(ast.Not(), operand):
                return not self.any_value(operand)
            case ast.UnaryOp(operator, operand):
                return _signed(operator, self.number(operand))
            case ast.BoolOp(operator, values):
                return self._first_that_decides(values, isinstance(operator, ast.Or))
            case ast.IfExp(test, body, orelse):
                return self.any_value(body if self.any_value(test) else orelse)
            case ast.Compare(left, operators, others):
                return self._compared(operators, [self.number(one) for one in (left, *others)])
            case ast.Name(name):
                return self._named(name)
            case ast.Constant(number) if _is_number(number):
                return _constant(number)
            case ast.Call(ast.Name(name), arguments, []) if name not in CONSTANT_NAMES:
                return _called(name, [self.number(argument) for argument in arguments])
        raise NotPython("nothing that goes with numbers")

    def _named(self, name: str) -> Value:
        if name in CONSTANT_NAMES:
            return CONSTANT_NAMES[name]
        if name in self._symbols:
            return self._symbols[name]
        raise NoValue(f"unknown: {name}")

    def _first_that_decides(self, values: list[ast.expr], wanted: bool) -> Value | bool:
        value = self.any_value(values[0])
        for other in values[1:]:
            if bool(value) is wanted:
                break
            value = self.any_value(other)
        return value

    def _compared(self, operators: list[ast.cmpop], values: list[Value]) -> bool:
        if self._symbols and len(operators) > 1:
            raise NotPython("two comparisons with letters are neither true nor false")
        if not all(type(operator) in _COMPARISONS for operator in operators):
            raise NotPython("a comparison that numbers do not have")
        return all(
            _COMPARISONS[type(operator)](left, right)
            for operator, left, right in zip(operators, values[:-1], values[1:], strict=True)
        )


def _operation(operator: ast.operator, left: Value, right: Value) -> Value:
    if (known := _OPERATORS.get(type(operator))) is not None:
        return known(left, right)
    if (whole := _WHOLE_OPERATORS.get(type(operator))) is not None:
        return Fraction(whole(_whole(left), _whole(right)))
    raise NotPython("an operator that numbers do not have")


def _called(name: str, arguments: list[Value]) -> Value:
    known = _CALLS.get((name, len(arguments)))
    if known is None:
        raise NoValue(f"unknown: {name}")
    return known(*arguments)


def _constant(number: complex) -> Value:
    if isinstance(number, int):
        return Fraction(number)
    return InexactNumber(apply_to_complex(complex, number))


def _signed(operator: ast.unaryop, value: Value) -> Value:
    if isinstance(operator, ast.Invert):
        return Fraction(~_whole(value))
    return multiply(Fraction(-1), value) if isinstance(operator, ast.USub) else value


def _whole(value: Value) -> int:
    """Return the value as an int. Raises NotPython if it is not a whole number."""
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise NotPython("whole numbers only")
    return value.numerator


def _floor_division(left: Value, right: Value) -> Value:
    return Fraction(math.floor(real(divide(left, right))))


def _remainder(left: Value, right: Value) -> Value:
    if not isinstance(left, Fraction) or not isinstance(right, Fraction):
        raise NoValue("a remainder of numbers that are not exact")
    if not right:
        raise NotPython("division by zero")
    return left % right


def _shifted(value: int, places: int) -> int:
    if not 0 <= places <= 1000:
        raise NoValue("too large")
    return value << places


_OPERATORS: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: add,
    ast.Sub: lambda left, right: add(left, multiply(Fraction(-1), right)),
    ast.Mult: multiply,
    ast.Div: divide,
    ast.Pow: power,
    ast.FloorDiv: _floor_division,
    ast.Mod: _remainder,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Lt: lambda left, right: real(left) < real(right),
    ast.Gt: lambda left, right: real(left) > real(right),
    ast.Is: lambda _left, _right: False,
    ast.IsNot: lambda _left, _right: True,
}
_WHOLE_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.BitOr: lambda left, right: left | right,
    ast.BitAnd: lambda left, right: left & right,
    ast.BitXor: lambda left, right: left ^ right,
    ast.LShift: _shifted,
    ast.RShift: lambda left, right: left >> min(abs(right), 1000),
}
_CALLS: Mapping[tuple[str, int], Callable[..., Value]] = {
    **{(name, 1): partial(function_value, name) for name in FUNCTIONS},
    **{("a" + name, 1): partial(function_value, "arc" + name) for name in ("sin", "cos", "tan")},
    ("log", 2): logarithm,
    ("sqrt", 1): lambda value: power(value, Fraction(1, 2)),
    ("cbrt", 1): lambda value: power(value, Fraction(1, 3)),
    ("root", 2): lambda value, degree: power(value, divide(Fraction(1), degree)),
    ("abs", 1): absolute,
    ("Abs", 1): absolute,
    ("binomial", 2): binomial,
    ("factorial", 1): factorial,
    ("floor", 1): lambda value: Fraction(math.floor(real(value))),
    ("ceiling", 1): lambda value: Fraction(math.ceil(real(value))),
    ("max", 2): lambda one, other: max(one, other, key=real),
    ("min", 2): lambda one, other: min(one, other, key=real),
    ("gcd", 2): lambda one, other: Fraction(math.gcd(_whole(one), _whole(other))),
    ("lcm", 2): lambda one, other: Fraction(math.lcm(_whole(one), _whole(other))),
}
