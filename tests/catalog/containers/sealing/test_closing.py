"""What of a log of tests stands where their runner reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.swe_bench.projects import (
    django_log,
    django_source,
    pytest_log,
    pytest_source,
    sympy_log,
    sympy_source,
)

from benchwright.catalog.containers.sealing.runner_report import cut_to_runner_output, extract_summaries
from benchwright.catalog.swe_bench.grading import flag_printed_elsewhere, grade
from benchwright.catalog.swe_bench.instance_script import END_MARK, START_MARK
from benchwright.catalog.swe_bench.log_parsers import LOG_PARSERS

FORGED = "PASSED test_it.py::test_b\n"
CONTENT = {
    "repo": "pallets/flask",
    "FAIL_TO_PASS": ["test_it.py::test_a", "test_it.py::test_b"],
    "PASS_TO_PASS": [],
}


def flags(log: str) -> list[str]:
    """The kinds of the flags that an instance tested by pytest gets for a log between its marks."""
    whole = f"{START_MARK}\n{log}{END_MARK}\n"
    return [flag.kind for flag in flag_printed_elsewhere(CONTENT, whole, grade(CONTENT, whole))]


@pytest.mark.parametrize("runner", ["pytest", "django", "sympy"])
def test_all_that_a_runner_says_of_its_tests_stands_before_its_closing_line(
    runner: str, tmp_path: Path
) -> None:
    names = {"test_a": "PASSED", "test_b": "FAILED", "test_c": "ERROR"}
    log = {
        "pytest": lambda: pytest_log(tmp_path, pytest_source(names)),
        "django": lambda: django_log(tmp_path, django_source(names)),
        "sympy": lambda: sympy_log(tmp_path, sympy_source(names)),
    }[runner]()
    parse = LOG_PARSERS[runner]
    assert len(parse(log)) >= 2
    assert parse(cut_to_runner_output(log)) == parse(extract_summaries(log)) == parse(log)
    forged = f"{log}PASSED test_z\ntest_z (x) ... ok\ntest_z ok\n"
    assert parse(cut_to_runner_output(forged)) == parse(log)


def test_an_honest_log_has_no_flag_whatever_the_tests_print(tmp_path: Path) -> None:
    source = (
        pytest_source({"test_a": "PASSED"})
        + "def test_b():\n    print('=== 1 failed in 1.00s ===\\nPASSED x')\n"
    )
    assert flags(pytest_log(tmp_path, source)) == []


def test_results_after_the_closing_line_have_a_flag(tmp_path: Path) -> None:
    log = pytest_log(tmp_path, pytest_source({"test_a": "PASSED", "test_b": "FAILED"}))
    assert flags(f"{log}{FORGED}") == ["results_printed_elsewhere"]


def test_results_of_a_runner_that_did_not_get_to_its_end_have_a_flag(tmp_path: Path) -> None:
    forged = "PASSED test_it.py::test_a\nPASSED test_it.py::test_b"
    source = f"import os\nprint({forged!r}, flush=True)\nos._exit(0)\n"
    assert flags(pytest_log(tmp_path, source, "-s")) == ["results_printed_elsewhere"]


def test_results_printed_before_the_summary_of_tests_that_were_not_run_have_a_flag(tmp_path: Path) -> None:
    source = f"print({FORGED!r})\n" + pytest_source({"test_a": "PASSED"})
    assert flags(pytest_log(tmp_path, source, "-s")) == ["results_printed_elsewhere"]


def test_a_log_of_a_runner_that_is_not_known_is_left_as_it_is() -> None:
    assert cut_to_runner_output("ok 1 - a\nok 2 - b\n") == "ok 1 - a\nok 2 - b\n"
