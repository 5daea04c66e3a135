"""Reader of the literals in tau-bench's Python files: its tasks and tool schemas. No code is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.data.errors import DatasetParseError

_CONSTRUCTORS = frozenset({"Task", "Action"})


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """Return the tasks in a file such as tasks_test.py. Each `Task(...)` becomes a dict of its arguments.

    Raises:
        DatasetParseError: If the file contains no such list, or the list contains something that is not a
            literal.
    """
    for statement in _parse(path).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.List):
            return [_literal(path, element) for element in statement.value.elts]
    raise DatasetParseError(f"{path}: no list of tasks in it")


def read_tool_schemas(directory: Path) -> list[dict[str, Any]]:
    """Return the schemas of the tools in a directory, in the order of its list `ALL_TOOLS`.

    Raises:
        DatasetParseError: If a file is not structured as in tau-bench.
    """
    names = list(_listed_tools(directory / "__init__.py"))
    schemas: dict[str, dict[str, Any]] = {}
    for path in sorted(directory.glob("*.py")):
        schemas |= _schemas(path)
    missing = [name for name in names if name not in schemas]
    if missing or not names:
        raise DatasetParseError(f"{directory}: no schema of {', '.join(missing) or 'any tool'}")
    return [schemas[name] for name in names]


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise DatasetParseError(f"{path}: {error}") from error


def _listed_tools(path: Path) -> Iterator[str]:
    """Yield the class names in `ALL_TOOLS = [...]`."""
    for statement in _parse(path).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
            yield from (name.id for name in statement.value.elts if isinstance(name, ast.Name))


def _schemas(path: Path) -> dict[str, dict[str, Any]]:
    """Return the tool schemas in a file, by class name. A schema is what the `get_info` of the class returns."""
    found = {}
    for kind in _parse(path).body:
        for method in kind.body if isinstance(kind, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "get_info":
                last = method.body[-1]
                if isinstance(kind, ast.ClassDef) and isinstance(last, ast.Return) and last.value:
                    found[kind.name] = _literal(path, last.value)
    return found


def _literal(path: Path, node: ast.expr) -> Any:
    """Return the value of a literal. A `Task(...)` or `Action(...)` within becomes a dict of its arguments."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords) if name in _CONSTRUCTORS:
            return {str(keyword.arg): _literal(path, keyword.value) for keyword in keywords}
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_literal(path, element) for element in elements]
        case _:
            try:
                return ast.literal_eval(node)
            except (ValueError, TypeError, RecursionError) as error:
                raise DatasetParseError(f"{path}: line {node.lineno} is not a literal: {error}") from error
