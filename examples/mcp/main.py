"""Two tools for a model, without any agent code: a calculator, and a small book of constants.

benchwright eval --mcp mcp -d arithmetic.jsonl --eval-fn rewards:right_number --model MODEL --base-url URL
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from fastmcp import FastMCP

mcp = FastMCP("calculator")

Number = int | float

OPERATIONS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
LARGEST = 1e100
LARGEST_EXPONENT = 100

CONSTANTS = {
    "pi": "3.14159265358979",
    "e": "2.71828182845905",
    "golden ratio": "1.61803398874989",
    "speed of light": "299792458 m/s",
}


@mcp.tool()
def calculate(expression: str) -> str:
    """Works out an arithmetic expression of numbers, + - * / // % ** and parentheses: (2 + 3) * 4."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        raise ValueError(f"not an arithmetic expression: {expression!r}") from None
    return str(value_of(tree.body))


@mcp.tool()
def lookup(key: str) -> str:
    """Looks up a constant by its name."""
    return CONSTANTS.get(key.lower(), f"not found; known are: {', '.join(CONSTANTS)}")


def value_of(node: ast.expr) -> Number:
    """The value of one part of an expression; whatever is not arithmetic is refused, nothing is ever executed."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value_of(operand)
        case ast.BinOp(op=operation, left=left, right=right) if type(operation) in OPERATIONS:
            first, second = value_of(left), value_of(right)
            if isinstance(operation, ast.Pow) and abs(second) > LARGEST_EXPONENT:
                raise ValueError(f"exponents are at most {LARGEST_EXPONENT}")
            return in_bounds(OPERATIONS[type(operation)](first, second))
        case _:
            raise ValueError(f"not arithmetic: {ast.unparse(node)}")


def in_bounds(number: Number) -> Number:
    """The number, unless it is imaginary or so large that going on with it would take forever."""
    if isinstance(number, complex) or abs(number) > LARGEST:
        raise ValueError("the result is not a number of ordinary size")
    return number
