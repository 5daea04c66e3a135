"""Logs of test runs: what pytest, an old pytest, Django's runner and SymPy's really print, and what is read from it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.swe_bench.projects import (
    DJANGO_BODIES,
    PYTEST_BODIES,
    SYMPY_BODIES,
    django_log,
    django_source,
    old_pytest_log,
    pytest_log,
    pytest_source,
    sympy_log,
    sympy_source,
)

from benchwright.catalog.swe_bench.log_parsers import LOG_PARSERS, STATUS_WORDS, Statuses

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PYTEST_TESTS = """
import pytest

def test_right():
    assert True

def test_wrong():
    assert 1 == 2, "one - two"

@pytest.mark.parametrize("value", ["/tmp/a/b", "//a/b", "/a/*/b", "two words", "MouseButton.LEFT"])
def test_value(value):
    pass

class TestGroup:
    def test_within(self):
        pass

@pytest.fixture
def broken():
    raise RuntimeError("no")

def test_setup(broken):
    pass

@pytest.mark.xfail(reason="not yet")
def test_not_yet():
    assert False

@pytest.mark.skip(reason="not here - today")
def test_elsewhere():
    pass

def test_talks():
    print("PASSED test_made_up.py::test_nothing")
"""
"""Every way in which a test can end; the last one prints a line like pytest's own."""

ENDINGS = {
    "test_right": "PASSED",
    "test_wrong": "FAILED",
    "TestGroup::test_within": "PASSED",
    "test_setup": "ERROR",
    "test_not_yet": "XFAIL",
    "test_talks": "PASSED",
}
"""How they end, but for the skipped one, which the summary only counts, and those with a value."""

PRINTED = {"test_made_up.py::test_nothing": "PASSED"}
"""What only the output of a test says: with `-rA` pytest repeats it, and the official rules believe it."""


def in_file(endings: Mapping[str, str]) -> Statuses:
    return {f"test_it.py::{name}": status for name, status in endings.items()}


def values(*shown: str) -> Statuses:
    return in_file({f"test_value[{value}]": "PASSED" for value in shown})


CUT = in_file({"test_value[two": "PASSED"})
"""Where a name is what stands before the first space."""


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `pytest -rA` prints."""
    return pytest_log(tmp_path_factory.mktemp("pytest"), PYTEST_TESTS)


def test_pytests_summary_gives_every_test_and_cuts_names_at_their_first_space(summary: str) -> None:
    shown = values("/tmp/a/b", "//a/b", "/a/*/b", "MouseButton.LEFT")
    assert LOG_PARSERS["pytest"](summary) == in_file(ENDINGS) | shown | CUT | PRINTED


def test_of_a_path_in_brackets_only_the_last_part_stays_for_pylint_and_requests(summary: str) -> None:
    shown = values("/b", "//a/b", "/a/*/b", "MouseButton.LEFT")
    assert LOG_PARSERS["pytest_options"](summary) == in_file(ENDINGS) | shown | CUT | PRINTED


def test_matplotlibs_mouse_buttons_become_numbers(summary: str) -> None:
    shown = values("/tmp/a/b", "//a/b", "/a/*/b", "1")
    assert LOG_PARSERS["matplotlib"](summary) == in_file(ENDINGS) | shown | CUT | PRINTED


def test_seaborns_log_knows_only_passes_and_failures(summary: str) -> None:
    shown = values("/tmp/a/b", "//a/b", "/a/*/b", "MouseButton.LEFT")
    known = {name: status for name, status in ENDINGS.items() if status in ("PASSED", "FAILED")}
    assert LOG_PARSERS["seaborn"](summary) == in_file(known) | shown | CUT | PRINTED


def test_names_are_whole_for_astropy_scikit_learn_and_sphinx_with_what_follows_an_error_or_xfail(
    summary: str,
) -> None:
    shown = values("/tmp/a/b", "//a/b", "/a/*/b", "MouseButton.LEFT", "two words")
    followed = {"test_setup": "test_setup - RuntimeError: no", "test_not_yet": "test_not_yet - not yet"}
    endings = {followed.get(name, name): status for name, status in ENDINGS.items()}
    assert LOG_PARSERS["pytest_v2"](summary) == in_file(endings) | shown | PRINTED


def test_colours_are_no_part_of_names(tmp_path: Path, summary: str) -> None:
    coloured = pytest_log(tmp_path, PYTEST_TESTS, "--color=yes")
    assert "\x1b[" in coloured
    assert LOG_PARSERS["pytest_v2"](coloured) == LOG_PARSERS["pytest_v2"](summary)


def test_a_count_of_skipped_tests_is_no_test(summary: str) -> None:
    assert "SKIPPED [1]" in summary
    assert "[1]" not in {name for parse in LOG_PARSERS.values() for name in parse(summary)}


def test_an_old_pytest_says_the_same(tmp_path: Path) -> None:
    shown = values("/tmp/a/b", "//a/b", "/a/*/b", "MouseButton.LEFT")
    found = LOG_PARSERS["pytest"](old_pytest_log(tmp_path, PYTEST_TESTS, "-rA"))
    assert found == in_file(ENDINGS) | shown | CUT | PRINTED


def test_an_old_pytest_without_a_summary_names_the_status_last(tmp_path: Path) -> None:
    options = ("-vv", "-o", "console_output_style=classic", "--tb=no")
    shown = values("/tmp/a/b", "//a/b", "/a/*/b", "MouseButton.LEFT", "two words")
    found = LOG_PARSERS["pytest_v2"](old_pytest_log(tmp_path, PYTEST_TESTS, *options))
    assert found == in_file({**ENDINGS, "test_elsewhere": "SKIPPED"}) | shown


def test_seaborn_reads_the_lines_of_an_old_pytest_too(tmp_path: Path) -> None:
    found = LOG_PARSERS["seaborn"](old_pytest_log(tmp_path, pytest_source({"test_a": "PASSED"}), "-v"))
    assert found == in_file({"test_a": "PASSED"})


DJANGO_TESTS = '''
import unittest
from django.test import SimpleTestCase

class Cases(SimpleTestCase):
    def test_right(self):
        pass

    def test_described(self):
        """A sentence that names it."""

    def test_wrong(self):
        self.assertEqual(1, 2)

    def test_raises(self):
        raise RuntimeError("no")

    @unittest.skip("not - here")
    def test_elsewhere(self):
        pass

    @unittest.expectedFailure
    def test_not_yet(self):
        self.fail()

    def test_talks(self):
        print("Internal Server Error: /a/")

    def test_in_parts(self):
        for part in range(2):
            with self.subTest(part=part):
                self.assertEqual(part, 0)
'''


def test_djangos_log_names_tests_as_the_runner_does(tmp_path: Path) -> None:
    case = "blog.tests.Cases"
    assert LOG_PARSERS["django"](django_log(tmp_path, DJANGO_TESTS)) == {
        f"test_right ({case}.test_right)": "PASSED",
        "A sentence that names it.": "PASSED",
        f"test_wrong ({case}.test_wrong)": "FAILED",
        "test_wrong": "FAILED",
        f"test_raises ({case}.test_raises)": "ERROR",
        "test_raises": "ERROR",
        f"test_elsewhere ({case}.test_elsewhere)": "SKIPPED",
        f"test_talks ({case}.test_talks)": "PASSED",
        f"test_in_parts ({case}.test_in_parts) (part=1)": "FAILED",
        "test_in_parts": "FAILED",
    }


SYMPY_TESTS = """
from sympy.testing.pytest import SKIP, XFAIL

def test_right():
    assert True

def test_wrong():
    assert 1 == 2

def test_raises():
    raise RuntimeError("no")

@XFAIL
def test_not_yet():
    assert False

@SKIP("not here")
def test_elsewhere():
    pass
"""


def test_sympys_log_names_tests_without_their_file(tmp_path: Path) -> None:
    found = LOG_PARSERS["sympy"](sympy_log(tmp_path, SYMPY_TESTS))
    assert found == {"test_right": "PASSED", "test_wrong": "FAILED", "test_raises": "ERROR"}


def test_headings_of_sympys_failures_count_with_their_file() -> None:
    heading = "___ sympy/core/tests/test_basic.py:test_structure ___"
    assert LOG_PARSERS["sympy"](heading) == {"sympy/core/tests/test_basic.py:test_structure": "FAILED"}


def test_other_output_between_a_djangos_test_and_its_ok() -> None:
    log = """\
test_a (m.T) ... Testing against Django installed in '/testbed/django'
Importing application m
System check identified no issues (0 silenced).
ok
test_b (m.T) ... Internal Server Error: /path/
ok
test_c (m.T) ... System check identified no issues (0 silenced)
ok
"""
    found = LOG_PARSERS["django"](log)
    assert {name: found[name] for name in ("test_a (m.T)", "test_b (m.T)", "test_c (m.T)")} == dict.fromkeys(
        ("test_a (m.T)", "test_b (m.T)", "test_c (m.T)"), "PASSED"
    )


def test_a_bare_heading_of_a_failure_is_passed_over() -> None:
    assert LOG_PARSERS["django"]("FAIL:\nERROR:\n") == {}


def endings(of: Mapping[str, str]) -> Statuses:
    """Forty tests that end at random."""
    chance = random.Random(6)
    return {f"test_{number:02}": chance.choice(list(of)) for number in range(40)}


def named_by_django(found: Statuses) -> Statuses:
    return {name.split(" (")[0]: status for name, status in found.items() if " (" in name}


MADE: dict[str, tuple[Mapping[str, str], Callable[[Path, Statuses], str], Callable[[Statuses], Statuses]]] = {
    "pytest": (
        PYTEST_BODIES,
        lambda folder, made: pytest_log(folder, pytest_source(made)),
        lambda found: {name.removeprefix("test_it.py::"): status for name, status in found.items()},
    ),
    "django": (
        DJANGO_BODIES,
        lambda folder, made: django_log(folder, django_source(made)),
        named_by_django,
    ),
    "sympy": (SYMPY_BODIES, lambda folder, made: sympy_log(folder, sympy_source(made)), dict),
}

UNSEEN = {"pytest": "SKIPPED"}
"""pytest's summary counts skipped tests, and does not name them."""

LAST: dict[str, Statuses] = {"pytest": {}, "django": {}, "sympy": {"test_at_the_end": "PASSED"}}
"""The line of the last test of a SymPy file ends with the file's verdict: the official rules do not see that test."""


@pytest.mark.parametrize("parser", MADE)
def test_many_tests_come_out_as_they_were_made(parser: str, tmp_path: Path) -> None:
    bodies, run, names = MADE[parser]
    made = endings(bodies)
    seen = {name: status for name, status in made.items() if status != UNSEEN.get(parser)}
    assert names(LOG_PARSERS[parser](run(tmp_path, {**made, **LAST[parser]}))) == seen


@given(st.text(), st.sampled_from(sorted(LOG_PARSERS)))
def test_no_log_makes_a_parser_fail(log: str, parser: str) -> None:
    assert isinstance(LOG_PARSERS[parser](log), dict)


@given(st.sampled_from(STATUS_WORDS), st.from_regex(r"[a-z_/]+\.py::[a-z_]+", fullmatch=True))
def test_a_line_of_the_summary_is_read_wherever_it_stands(status: str, name: str) -> None:
    for parser in ("pytest", "pytest_options", "pytest_v2", "matplotlib"):
        assert LOG_PARSERS[parser](f"noise\n{status} {name}\nmore noise")[name] == status
