"""Parses function calls in text by BFCL's rules (bfcl_eval, model_handler/utils.py). Nothing is run."""

from __future__ import annotations

import ast
import operator
import warnings
from typing import Any

from benchwright.catalog.bfcl.calls import Call, DecodingError
from benchwright.catalog.bfcl.categories import Language
from benchwright.catalog.bfcl.source_calls import parse_source_call

MAX_TEXT_LENGTH = 100_000
_LARGEST_NUMBER = 10**300
_LONGEST_RESULT = 10_000
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def decode_calls(text: str, language: Language = "python") -> list[Call]:
    """Parse and return the calls in an answer.

    Backquotes, line breaks and spaces around the answer are removed, and missing brackets are added. Only
    named arguments are kept. A name in place of a value becomes a string. A call among the arguments becomes
    a dictionary `{name: arguments}`, or a string if it has no named arguments.

    Raises:
        DecodingError: If the text is not a list of calls by the official parser's rules.
        UserError: If the text is in Java or JavaScript, and tree-sitter is not installed.
    """
    text = text.strip("`\n ")
    if len(text) > MAX_TEXT_LENGTH:
        raise DecodingError("the answer is too long for a list of calls")
    text = text if text.startswith("[") else "[" + text
    text = text if text.endswith("]") else text + "]"
    if language != "python":
        return parse_source_call(text[1:-1], language)
    try:
        with warnings.catch_warnings(action="ignore"):  # about escape sequences that Python does not know
            body = ast.parse(text.strip().strip("'"), mode="eval").body
        nodes = [body] if isinstance(body, ast.Call) else _elements(body)
        return [_call(node) for node in nodes]
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise DecodingError(f"the answer is not a list of calls: {error}") from None


def _elements(node: ast.expr) -> list[ast.Call]:
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else None
    if elements is None or not all(isinstance(element, ast.Call) for element in elements):
        raise ValueError("it holds something else")
    return [element for element in elements if isinstance(element, ast.Call)]


def _call(node: ast.Call) -> Call:
    parts = []
    function = node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    arguments = {keyword.arg or "**": _value(keyword.value) for keyword in node.keywords}
    return Call(".".join(reversed(parts)), arguments)


def _value(node: ast.expr | None) -> Any:
    match node:
        case ast.Constant(value=value):
            return "..." if value is Ellipsis else value
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return -value  # type: ignore[operator]  # raises TypeError if it is not a number
        case ast.List(elts=elements):
            return [_value(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_value(element) for element in elements)
        case ast.Dict(keys=keys, values=values):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.BinOp():
            return _calculated(node)
        case ast.Name(id=name):
            return name
        case ast.Call(keywords=[]) | ast.Subscript():
            return ast.unparse(node)
        case ast.Call():
            call = _call(node)
            return {call.name: call.arguments}
    raise ValueError(f"an argument is a {type(node).__name__}")


def _calculated(node: ast.expr) -> Any:
    """Return the value of an expression of numbers, strings and lists. An expression with a large result is refused."""
    match node:
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
            one, other = _calculated(left), _calculated(right)
            _check_size(kind, one, other)
            result = _OPERATORS[type(kind)](one, other)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_calculated(operand)
        case ast.Constant() | ast.List() | ast.Tuple():
            result = ast.literal_eval(node)
        case _:
            raise ValueError(f"an argument is a {type(node).__name__} to be worked out")
    if isinstance(result, (int, float)) and abs(result) > _LARGEST_NUMBER:
        raise ValueError("an argument is too large to be worked out")
    return result


def _check_size(kind: ast.operator, one: Any, other: Any) -> None:
    numbers = all(isinstance(value, (int, float)) for value in (one, other))
    if isinstance(kind, ast.Pow) and (not numbers or abs(one) > 10**6 or abs(other) > 100):
        raise ValueError("an argument is a power too large to be worked out")
    if isinstance(kind, ast.Mult) and not numbers and _repeated_length(one, other) > _LONGEST_RESULT:
        raise ValueError("an argument is too long to be worked out")
    if isinstance(kind, ast.Mod) and not numbers:
        raise ValueError("an argument is a formatted text to be worked out")


def _repeated_length(one: Any, other: Any) -> int:
    """Return the length of the product of a number and a text or list, given in either order.

    Return 0 for operands of other kinds.
    """
    thing, times = (one, other) if hasattr(one, "__len__") else (other, one)
    return len(thing) * times if hasattr(thing, "__len__") and isinstance(times, int) else 0
