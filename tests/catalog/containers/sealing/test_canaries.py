"""A test that fails, added to tests: it fails by every runner, and a report that does not tell of it is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.catalog.containers.sealing.canaries import (
    copy_with_changes,
    new_canary,
    select_python_tests,
    with_passing_test,
)
from benchwright.catalog.containers.sealing.failing_tests import flag_untested_pass

TESTS = "def test_it():\n    assert True\n"
PROGRAM = TESTS + "\nif __name__ == '__main__':\n    import unittest\n    unittest.main()\n"
RUNNERS = {"pytest": ["-m", "pytest", "-p", "no:cacheprovider"], "unittest": ["-m", "unittest"], "itself": []}


@pytest.mark.parametrize("runner", RUNNERS)
def test_it_fails_by_every_runner_and_one_that_passes_does_not(runner: str, tmp_path: Path) -> None:
    canary = new_canary()
    passing = with_passing_test(PROGRAM)
    file = tmp_path / "test_it.py"
    codes = []
    for text in (passing, canary.add_to(passing)):
        file.write_text(text)
        argv = [sys.executable, "-B", *RUNNERS[runner], "test_it.py"]
        ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
        codes.append(ended.returncode == 0)
    assert codes == [True, False]
    assert canary.is_reported(ended.stdout + ended.stderr)


def test_a_report_that_says_it_passed_does_not_tell_of_it() -> None:
    canary = new_canary()
    assert canary.is_reported(f"FAILED tests/test_it.py::test_{canary.output_mark} - AssertionError")
    assert not canary.is_reported(f"PASSED tests/test_it.py::test_{canary.output_mark}")
    assert not canary.is_reported("3 passed in 0.02s")


@pytest.mark.parametrize("name", ["test_a.py", "a.test.ts", "a.spec.jsx", "a_test.go", "src/lib.rs"])
def test_it_is_written_in_the_language_of_the_file(name: str) -> None:
    canary = new_canary()
    assert canary.output_mark in canary.test_code_for(name)
    assert canary.test_code_for("Test.java") == ""


def test_a_copy_of_tests_has_other_texts_and_the_tests_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text(TESTS)
    (tmp_path / "tests/data.txt").write_text("data")
    (tmp_path / "run-tests.sh").write_text("pytest")
    texts = {"tests/test_it.py": TESTS, "tests/data.txt": "data", "other/test_it.py": TESTS}
    assert select_python_tests(texts, ["tests"]) == {"tests/test_it.py": TESTS}
    with copy_with_changes(tmp_path, ["tests", "run-tests.sh"], {"tests/test_it.py": "other"}) as copy:
        assert (copy / "tests/test_it.py").read_text() == "other"
        assert (copy / "tests/data.txt").read_text() == "data"
        assert (copy / "run-tests.sh").read_text() == "pytest"
    assert (tmp_path / "tests/test_it.py").read_text() == TESTS
    assert not copy.exists()


TEST_PATCH = (
    "diff --git a/tests/test_it.py b/tests/test_it.py\n--- a/tests/test_it.py\n+++ b/tests/test_it.py\n"
)
OURS, GOLD = "+ours\n", "+gold\n"


@pytest.mark.parametrize(
    ("ours", "gold", "flagged"),
    [
        ((True, ""), (False, "FAILED test_MARK"), True),
        ((True, "PASSED test_MARK"), (False, "FAILED test_MARK"), True),
        ((True, "FAILED test_MARK"), (False, "FAILED test_MARK"), False),
        ((False, ""), (False, "FAILED test_MARK"), False),
        ((True, ""), (True, ""), False),
    ],
    ids=["not told", "told as passed", "told", "fails", "not told with the right patch either"],
)
async def test_a_pass_is_flagged_if_its_log_is_silent_and_that_of_the_right_patch_is_not(
    ours: tuple[bool, str], gold: tuple[bool, str], flagged: bool
) -> None:
    async def test(patch: str, added: str) -> tuple[bool, str]:
        mark = added.partition("def test_")[2].partition("(")[0]
        passes, log = ours if patch == OURS else gold
        return passes, log.replace("MARK", mark)

    found = await flag_untested_pass(OURS, gold=GOLD, test_patch=TEST_PATCH, directory="/testbed", test=test)
    assert bool(found) is flagged


async def test_the_right_patch_itself_is_not_tested_again() -> None:
    async def test(patch: str, added: str) -> tuple[bool, str]:
        raise AssertionError

    assert not await flag_untested_pass(
        GOLD, gold=GOLD, test_patch=TEST_PATCH, directory="/testbed", test=test
    )
