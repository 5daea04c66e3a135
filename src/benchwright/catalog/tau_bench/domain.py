"""The type of tau-bench's domains. Each domain has its tables and tools, and all share some tools."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import msgspec

from benchwright.catalog.tau_bench.database import Database

ToolFunction = Callable[..., str]
"""A function that implements a tool: (database, arguments by name) -> the result for the model.

It may raise any exception; see `Domain.call`.
"""

TRANSFER_TOOL = "transfer_to_human_agents"
"""The name of the tool that ends a conversation."""


class ToolError(Exception):
    """An error that a tool reports to the model, as a result with the text `Error: …`."""


class Domain(msgspec.Struct, frozen=True):
    """A domain: the names of its tables, the tools that only read, and the tools that write to the database."""

    name: str
    tables: tuple[str, ...]
    read_tools: dict[str, ToolFunction]
    write_tools: dict[str, ToolFunction]

    def call(self, database: Database, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool and return its result. Any error is reported to the model in tau-bench's words."""
        tool = self.write_tools.get(name) or self.read_tools.get(name)
        if tool is None:
            return f"Unknown action {name}"
        try:
            return tool(database, **arguments)
        except Exception as error:  # arguments that do not fit can raise anything
            return f"Error: {error}"


def tools_by_name(*tools: ToolFunction) -> dict[str, ToolFunction]:
    """Return a mapping from the tools' names, which are those of their functions, to the tools.

    Each tool's `__qualname__` is set to its name in tau-bench, so that Python's messages about wrong
    arguments are the same as in tau-bench.
    """
    for tool in tools:
        words = tool.__name__.split("_")
        tool.__qualname__ = "".join(word.capitalize() for word in words) + ".invoke"
    return {tool.__name__: tool for tool in tools}


_CHARACTERS = frozenset("0123456789+-*/(). ")
_LONGEST = 4000
_LARGEST_BITS = 4096
"""Maximum size in bits of an integer in an expression. Larger integers do not fit into a float.

An expression with a larger integer would almost always fail anyway.
"""

_TOO_LARGE = "int too large to convert to float"


def _power(base: Any, exponent: Any) -> Any:
    whole = isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1
    if whole and exponent * base.bit_length() > 2 * _LARGEST_BITS:
        raise ToolError(_TOO_LARGE)
    return base**exponent


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: _power,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def calculate(database: Database, /, expression: str) -> str:
    """Return the value of an arithmetic expression, rounded to two decimal places."""
    if not all(character in _CHARACTERS for character in expression):
        raise ToolError("invalid characters in expression")
    if len(expression) > _LONGEST:
        raise ToolError("the expression is too long")
    tree = ast.parse(expression.lstrip(" "), "<string>", "eval")
    return str(round(float(_value(tree.body)), 2))


def think(database: Database, /, thought: str) -> str:
    """Do nothing. The thought only becomes part of the conversation."""
    return ""


def transfer_to_human_agents(database: Database, /, summary: str) -> str:
    """Return that the transfer succeeded. A call of this tool ends the conversation."""
    return "Transfer successful"


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=sign, operand=operand):
            return _OPERATORS[type(sign)](_value(operand))
        case ast.BinOp(left=left, op=between, right=right):
            return _bounded(_OPERATORS[type(between)](_value(left), _value(right)))
        case ast.Call(func=called):
            raise ToolError(f"'{type(_value(called)).__name__}' object is not callable")
        case _:
            return ()


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        raise ToolError(_TOO_LARGE)
    return value
