"""Two made-up instances in SWE-bench's layout, one tested by pytest and one by Django's runner, with repositories."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.catalog.swe_bench.made_repositories import (
    Files,
    commit,
    commit_elsewhere,
    difference,
    git,
    write,
)

from benchwright.catalog.swe_bench.instance_script import official_image_name

CALCULATOR: Files = {
    "README.rst": "A calculator\n============\n",
    "setup.cfg": "[metadata]\nname = calculator\n",
    "calculator.py": "def add(a, b):\n    return a + b\n\n\ndef mean(values):\n    return sum(values) / len(values)\n",
    "testing/test_calculator.py": "from calculator import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "conftest.py": "",
}
CALCULATOR_FIXED: Files = {
    "calculator.py": CALCULATOR["calculator.py"].replace(
        "    return sum", "    if not values:\n        return 0\n    return sum"
    )
}
CALCULATOR_TESTED: Files = {
    "testing/test_calculator.py": """\
import pytest

from calculator import add, mean


def test_add():
    assert add(1, 2) == 3


@pytest.mark.parametrize("values", [[], ()], ids=["empty list", "empty tuple"])
def test_mean_of_nothing(values):
    assert mean(values) == 0


def test_mean():
    assert mean([1, 3]) == 2
"""
}

RUNTESTS = """\
#!/usr/bin/env python3
import argparse
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.dirname(here)]
parser = argparse.ArgumentParser()
parser.add_argument("modules", nargs="*")
parser.add_argument("--verbosity", type=int)
parser.add_argument("--settings")
parser.add_argument("--parallel", type=int)
options = parser.parse_args()
os.environ["DJANGO_SETTINGS_MODULE"] = options.settings
import django
from django.test.runner import DiscoverRunner

django.setup()
runner = DiscoverRunner(verbosity=options.verbosity, parallel=options.parallel)
sys.exit(bool(runner.run_tests(options.modules)))
"""
GREETER: Files = {
    "README.rst": "A greeter\n=========\n",
    "setup.cfg": "[metadata]\nname = greeter\n",
    "greeter.py": "def greet(name):\n    return f'Hello {name}'\n",
    "tests/runtests.py": RUNTESTS,
    "tests/test_sqlite.py": "SECRET_KEY = 'for tests'\nINSTALLED_APPS = ['greetings']\nDATABASES = {}\nUSE_TZ = True\n",
    "tests/greetings/__init__.py": "",
    "tests/greetings/tests.py": "from django.test import SimpleTestCase\n",
}
GREETER_FIXED: Files = {
    "greeter.py": "def greet(name):\n    return f'Hello, {name}!' if name else 'Hello!'\n"
}
GREETER_TESTED: Files = {
    "tests/greetings/tests.py": """\
from django.test import SimpleTestCase
from greeter import greet


class GreetTests(SimpleTestCase):
    def test_named(self):
        self.assertEqual(greet("Ada"), "Hello, Ada!")

    def test_nobody(self):
        \"\"\"Nobody is greeted politely.\"\"\"
        self.assertEqual(greet(""), "Hello!")

    def test_text(self):
        self.assertIsInstance(greet("Ada"), str)
"""
}


def make_pytest_instance(folder: Path, number: int) -> dict[str, Any]:
    """An instance of this number tested by pytest; its repository is made in the folder."""
    return _instance(
        folder,
        (CALCULATOR, CALCULATOR_FIXED, CALCULATOR_TESTED),
        repo="pytest-dev/pytest",
        instance_id=f"pytest-dev__pytest-{number}",
        version="7.1",
        problem_statement="mean([]) raises ZeroDivisionError\nIt should be 0.",
        fail_to_pass=["testing/test_calculator.py::test_mean_of_nothing[empty"],
        pass_to_pass=["testing/test_calculator.py::test_add", "testing/test_calculator.py::test_mean"],
    )


def make_django_instance(folder: Path, number: int) -> dict[str, Any]:
    """An instance of this number tested by Django's runner; its repository is made in the folder."""
    case = "greetings.tests.GreetTests"
    return _instance(
        folder,
        (GREETER, GREETER_FIXED, GREETER_TESTED),
        repo="django/django",
        instance_id=f"django__django-{number}",
        version="3.1",
        problem_statement="Greetings lack a comma\ngreet('Ada') should be 'Hello, Ada!', greet('') 'Hello!'.",
        fail_to_pass=[f"test_named ({case}.test_named)", "Nobody is greeted politely."],
        pass_to_pass=[f"test_text ({case}.test_text)"],
    )


def image_of(row: Mapping[str, Any]) -> str:
    """The official name of an instance's image."""
    return official_image_name(row["instance_id"])


def _instance(
    folder: Path,
    files: tuple[Files, Files, Files],
    *,
    fail_to_pass: list[str],
    pass_to_pass: list[str],
    **row: str,
) -> dict[str, Any]:
    start, fixed, tested = files
    git(folder, "init", "--quiet")
    write(folder, start)
    base = commit(folder, "Base")
    patch, test_patch = difference(folder, fixed), difference(folder, tested)
    commit_elsewhere(folder, fixed)
    write(folder, {"setup.cfg": start["setup.cfg"] + "version = 1\n"})
    commit(folder, "Set up")
    return {
        **row,
        "base_commit": base,
        "patch": patch,
        "test_patch": test_patch,
        "hints_text": "",
        "created_at": "2026-01-01T00:00:00Z",
        "FAIL_TO_PASS": json.dumps(fail_to_pass),
        "PASS_TO_PASS": json.dumps(pass_to_pass),
        "environment_setup_commit": base,
        "difficulty": "<15 min fix",
    }
