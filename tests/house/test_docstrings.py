"""Docstrings are written as PEP 257 has it: what a function does, and when it raises what.

A new verb may be added to `verbs.txt`. It is the imperative: "Return the mean", not "Returns" and not "The mean".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"

VERBS = frozenset(Path(__file__).with_name("verbs.txt").read_text(encoding="utf-8").split())
"""With one of these every docstring of a function begins."""

QUESTIONS = ("What ", "Which ", "Whether ", "Where ", "Who ", "Whose ", "Why ")
CONDITIONS = (
    "If ",
    "When ",
    "Unless ",
    "Always",
    "Any error ",
    "In place of ",
    "See ",
    "As ",
    "For the reasons of ",
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef | ast.Module


def documented(source: str) -> Iterator[tuple[Documented, str]]:
    """The modules, classes and functions of a source that have a docstring, with it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Documented) and (docstring := ast.get_docstring(node)):
            yield node, docstring


def faults(source: str) -> Iterator[str]:
    """What is wrong with the docstrings of a source."""
    for node, docstring in documented(source):
        name = getattr(node, "name", "the module")
        if docstring.startswith(QUESTIONS):
            yield f"{name}: begins with a question word: {docstring:.60}"
        elif isinstance(node, Function) and not is_property(node) and first_word(docstring) not in VERBS:
            yield f"{name}: begins with no verb: {docstring:.60}"
        for error, when in raised(docstring):
            if not when.startswith(CONDITIONS):
                yield f"{name}: does not say when it raises {error}: {when:.60}"


def first_word(docstring: str) -> str:
    return docstring.split(maxsplit=1)[0].rstrip(",:.")


def is_property(node: Function) -> bool:
    return any("property" in ast.unparse(one) for one in node.decorator_list)


def raised(docstring: str) -> Iterator[tuple[str, str]]:
    """The errors in the section `Raises:` of a docstring, each with its condition."""
    section = docstring.partition("Raises:\n")[2].partition("\n\n")[0]
    yield from re.findall(r"^ *((?:[A-Z]\w+(?:, )?)+): (.+)$", section, re.M)


@pytest.mark.parametrize(
    "package", sorted(SOURCES.glob("*/**/")), ids=lambda one: str(one.relative_to(SOURCES))
)
def test_docstrings_say_what_a_function_does_and_when_it_raises(package: Path) -> None:
    found = [
        f"{path.name}: {fault}"
        for path in sorted(package.glob("*.py"))
        for fault in faults(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_faults_are_found() -> None:
    source = """
def mean(values):
    '''The mean.

    Raises:
        ValueError: there is none.
    '''

def total(values):
    '''What all come to.'''
"""
    assert [fault.split(":")[1] for fault in faults(source)] == [
        " begins with no verb",
        " does not say when it raises ValueError",
        " begins with a question word",
    ]
