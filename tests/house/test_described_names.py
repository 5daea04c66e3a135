"""Docstrings name what is there: a description of a field or parameter, and a reference to a name, are never stale."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "benchwright"

DESCRIPTION = re.compile(r"(?:^|(?<=[.;:] )|(?<=- ))((?:`\w+`(?: \([^)]*\))?(?:, | and )?)+): ")
"""Names at the beginning of a sentence with a colon behind them: "`low`, `high`: both ends"."""

REFERENCE = re.compile(r"`(?:\w+\.)*([A-Z][a-z]\w*[a-z]\w*|[A-Z]+(?:_[A-Z0-9]+)+)`")
"""A class, an error or a constant in backticks."""

RAISED = re.compile(r"^ *((?:[A-Z]\w+(?:, )?)+): ", re.M)
"""The errors in front of a condition in the section `Raises:`."""

OF_OTHERS = {
    "CancelledError",
    "ClientTimeout",
    "HF_TOKEN",
    "Healthcheck",
}
"""Names of libraries, other programs and their files that docstrings speak of."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCES.rglob("*.py"))}


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    found = defaultdict(list)
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(node)
    return found


@cache
def identifiers() -> frozenset[str]:
    """All identifiers of the source, and all strings that could be one."""
    found = set(dir(builtins))
    for path, tree in trees().items():
        found |= {path.stem, path.parent.name}
        for node in ast.walk(tree):
            found |= {
                value
                for name in ("id", "attr", "arg", "name")
                if isinstance(value := getattr(node, name, 0), str)
            }
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(re.findall(r"\w+", node.value)) if len(node.value) < 60 else set()
    return frozenset(found)


def parameters(function: Function) -> set[str]:
    found = function.args
    every = [*found.posonlyargs, *found.args, *found.kwonlyargs, found.vararg, found.kwarg]
    return {one.arg for one in every if one is not None}


def members(node: ast.ClassDef, seen: tuple[str, ...] = ()) -> set[str]:
    """The fields and methods of a class and of its bases, and the parameters of its methods."""
    found: set[str] = set()
    for part in node.body:
        if isinstance(part, Function):
            found |= {part.name} | parameters(part)
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            found.add(part.target.id)
        elif isinstance(part, ast.Assign):
            found |= {target.id for target in part.targets if isinstance(target, ast.Name)}
    found |= {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and ast.unparse(part.value) in ("self", "cls")
    }
    for base in (ast.unparse(one).partition("[")[0].rpartition(".")[2] for one in node.bases):
        if base not in seen:
            for other in classes().get(base, []):
                found |= members(other, (*seen, node.name))
    return found


def stale_descriptions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef | Function):
            continue
        known = members(node) if isinstance(node, ast.ClassDef) else parameters(node)
        for described in DESCRIPTION.findall(" ".join((ast.get_docstring(node) or "").split())):
            for name in re.findall(r"`(\w+)`", described):
                if name not in known:
                    yield f"{node.name} has no `{name}`"


def stale_errors(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | Function):
            for names in RAISED.findall((ast.get_docstring(node) or "").partition("Raises:\n")[2]):
                for name in names.split(", "):
                    if name not in identifiers():
                        yield f"{node.name} raises no {name}"


def stale_references(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "`" in node.value:
            for name in REFERENCE.findall(node.value):
                if name not in identifiers() and name not in OF_OTHERS:
                    yield f"`{name}` is not in the source"


@pytest.mark.parametrize("path", trees(), ids=lambda path: str(path.relative_to(SOURCES)))
def test_docstrings_name_what_is_there(path: Path) -> None:
    tree = trees()[path]
    assert [*stale_descriptions(tree), *stale_errors(tree), *stale_references(tree)] == []


def test_stale_names_are_found() -> None:
    source = '''
class Range:
    """Both ends. `low`, `top`: the ends. See `NoSuchRange` and `MAX_NO_SUCH`."""

    low: float

    def draw(self):
        """Return a number.

        Raises:
            NoSuchError, ValueError: If there is none.
        """
'''
    tree = ast.parse(source)
    assert list(stale_descriptions(tree)) == ["Range has no `top`"]
    assert list(stale_errors(tree)) == ["draw raises no NoSuchError"]
    assert [found.split("`")[1] for found in stale_references(tree)] == ["NoSuchRange", "MAX_NO_SUCH"]
