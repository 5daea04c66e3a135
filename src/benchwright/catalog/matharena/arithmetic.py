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
    COMPLEX_FUNCTIONS,
    NAMED_CONSTANTS,
    InexactComplex,
    NoValueError,
    Value,
    absolute_value,
    add,
    apply_as_complex,
    apply_named_function,
    binomial_coefficient,
    divide,
    factorial,
    logarithm,
    multiply,
    raise_to_power,
    to_real_number,
)

CONSTANT_NAMES: Mapping[str, Value] = {
    "pi": NAMED_CONSTANTS["pi"],
    "e": NAMED_CONSTANTS["e"],
    "E": NAMED_CONSTANTS["e"],
    "I": NAMED_CONSTANTS["i"],
}


class NotPythonError(Exception):
    """The error of a text that Python cannot evaluate as an expression, or whose value sympy could not represent."""


def parse_expression(text: str) -> ast.expr:
    """Parse an expression into its syntax tree.

    Raises:
        NotPythonError: If the text is not an expression, or is nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPythonError(str(error)) from error


def split_list(tree: ast.expr) -> list[ast.expr] | None:
    """Return the elements of a list. Return None if the tree is not a list.

    (Braces have been rewritten as lists.)
    """
    return tree.elts if isinstance(tree, ast.List) else None


def find_unknown_names(tree: ast.expr) -> frozenset[str]:
    """Return the names of the unknowns in the expression."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called}
    return frozenset(found - CONSTANT_NAMES.keys())


def evaluate_tree(tree: ast.expr, symbols: Mapping[str, Value]) -> Value:
    """Return the value of an expression. `symbols`: mapping from its unknowns to their values.

    Raises:
        NotPythonError: If operands do not fit their operators.
        NoValueError: If the result is no number, undefined or too large, or a function or name is unknown.
    """
    if isinstance(tree, (ast.Lambda, ast.Tuple)) or (
        isinstance(tree, ast.Constant) and not _is_number(tree.value)
    ):
        raise NoValueError("no number")
    try:
        value = _Evaluator(symbols).any_value(tree)
    except RecursionError as error:
        raise NotPythonError("nested too deeply") from error
    if isinstance(value, bool):
        raise NoValueError("true or false")
    return value


def _is_number(constant: object) -> TypeGuard[complex]:
    return type(constant) in (int, float, complex)


class _Evaluator:
    def __init__(self, symbols: Mapping[str, Value]) -> None:
        self._symbols = symbols

    def number(self, tree: ast.expr) -> Value:
        """Return the value of a tree. Raises NotPythonError if it is True or False."""
        value = self.any_value(tree)
        if isinstance(value, bool):
            raise NotPythonError("true or false in an expression")
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
        raise NotPythonError("nothing that goes with numbers")

    def _named(self, name: str) -> Value:
        if name in CONSTANT_NAMES:
            return CONSTANT_NAMES[name]
        if name in self._symbols:
            return self._symbols[name]
        raise NoValueError(f"unknown: {name}")

    def _first_that_decides(self, values: list[ast.expr], wanted: bool) -> Value | bool:
        value = self.any_value(values[0])
        for other in values[1:]:
            if bool(value) is wanted:
                break
            value = self.any_value(other)
        return value

    def _compared(self, operators: list[ast.cmpop], values: list[Value]) -> bool:
        if self._symbols and len(operators) > 1:
            raise NotPythonError("two comparisons with letters are neither true nor false")
        if not all(type(operator) in _COMPARISONS for operator in operators):
            raise NotPythonError("a comparison that numbers do not have")
        return all(
            _COMPARISONS[type(operator)](left, right)
            for operator, left, right in zip(operators, values[:-1], values[1:], strict=True)
        )


def _operation(operator: ast.operator, left: Value, right: Value) -> Value:
    if (known := _OPERATORS.get(type(operator))) is not None:
        return known(left, right)
    if (whole := _WHOLE_OPERATORS.get(type(operator))) is not None:
        return Fraction(whole(_whole(left), _whole(right)))
    raise NotPythonError("an operator that numbers do not have")


def _called(name: str, arguments: list[Value]) -> Value:
    known = _CALLS.get((name, len(arguments)))
    if known is None:
        raise NoValueError(f"unknown: {name}")
    return known(*arguments)


def _constant(number: complex) -> Value:
    if isinstance(number, int):
        return Fraction(number)
    return InexactComplex(apply_as_complex(complex, number))


def _signed(operator: ast.unaryop, value: Value) -> Value:
    if isinstance(operator, ast.Invert):
        return Fraction(~_whole(value))
    return multiply(Fraction(-1), value) if isinstance(operator, ast.USub) else value


def _whole(value: Value) -> int:
    """Return the value as an int. Raises NotPythonError if it is not a whole number."""
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise NotPythonError("whole numbers only")
    return value.numerator


def _floor_division(left: Value, right: Value) -> Value:
    return Fraction(math.floor(to_real_number(divide(left, right))))


def _remainder(left: Value, right: Value) -> Value:
    if not isinstance(left, Fraction) or not isinstance(right, Fraction):
        raise NoValueError("a remainder of numbers that are not exact")
    if not right:
        raise NotPythonError("division by zero")
    return left % right


def _shifted(value: int, places: int) -> int:
    if not 0 <= places <= 1000:
        raise NoValueError("too large")
    return value << places


_OPERATORS: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: add,
    ast.Sub: lambda left, right: add(left, multiply(Fraction(-1), right)),
    ast.Mult: multiply,
    ast.Div: divide,
    ast.Pow: raise_to_power,
    ast.FloorDiv: _floor_division,
    ast.Mod: _remainder,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Lt: lambda left, right: to_real_number(left) < to_real_number(right),
    ast.Gt: lambda left, right: to_real_number(left) > to_real_number(right),
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
    **{(name, 1): partial(apply_named_function, name) for name in COMPLEX_FUNCTIONS},
    **{("a" + name, 1): partial(apply_named_function, "arc" + name) for name in ("sin", "cos", "tan")},
    ("log", 2): logarithm,
    ("sqrt", 1): lambda value: raise_to_power(value, Fraction(1, 2)),
    ("cbrt", 1): lambda value: raise_to_power(value, Fraction(1, 3)),
    ("root", 2): lambda value, degree: raise_to_power(value, divide(Fraction(1), degree)),
    ("abs", 1): absolute_value,
    ("Abs", 1): absolute_value,
    ("binomial", 2): binomial_coefficient,
    ("factorial", 1): factorial,
    ("floor", 1): lambda value: Fraction(math.floor(to_real_number(value))),
    ("ceiling", 1): lambda value: Fraction(math.ceil(to_real_number(value))),
    ("max", 2): lambda one, other: max(one, other, key=to_real_number),
    ("min", 2): lambda one, other: min(one, other, key=to_real_number),
    ("gcd", 2): lambda one, other: Fraction(math.gcd(_whole(one), _whole(other))),
    ("lcm", 2): lambda one, other: Fraction(math.lcm(_whole(one), _whole(other))),
}
