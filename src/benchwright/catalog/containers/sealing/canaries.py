"""Canaries: tests that always fail, added to the tests of a passing trial to detect forged passes.

If the trial still passes, its pass does not come from the tests. Code under test runs in the test runner's
process, so that it can print a forged report and end the runner before the true report. But it cannot report
the failure of a test that it does not know.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from benchwright.records import Record

UNTESTED_PASS_FLAG = "results_of_no_test"
"""Kind of the flag for a pass that does not come from the tests."""

_TESTS = re.compile(r"(?:test_[^/]*|[^/]*_test)\.py")
_MAIN = re.compile(r"^if\s+__name__\b", re.MULTILINE)
_FAILED = re.compile(r"fail|error|^_{3,}|Traceback|exit", re.IGNORECASE)
_PASSED = re.compile(r"\b(?:PASSED|passed)\b|\.\.\. ok\b|--- PASS|[✓✔]|\[ *ok *\]")

_PYTHON = """

def test_MARK():
    raise AssertionError("MARK")


class Test_MARK(__import__("unittest").TestCase):
    def test_MARK(self):
        raise AssertionError("MARK")

"""
_JAVASCRIPT = '\n;(typeof it === "function" ? it : test)("MARK", () => { throw new Error("MARK") })\n'
_GO = '\nfunc Test_MARK(t *testing.T) {\n\tt.Fatal("error MARK")\n}\n'
_RUST = '\n#[test]\nfn test_MARK() {\n    panic!("error MARK")\n}\n'
_CODE = {
    ".py": _PYTHON,
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), _JAVASCRIPT),
    ".go": _GO,
    ".rs": _RUST,
}
"""Mapping from the end of a file's name (such as `.py`) to the source of a failing test in that language."""

PASSING_TEST_CODE = """\
import unittest


def test_passes():
    pass


class TestPasses(unittest.TestCase):
    def test_passes(self):
        pass
"""
"""Source of Python tests that pass, for every runner."""


class Canary(Record, frozen=True):
    """A test that always fails.

    Its name and message contain a random `output_mark`, which nobody can know in advance.
    """

    output_mark: str

    def test_code_for(self, name: str) -> str:
        """Return the test in the language of the file `name`. Return "" if that language is not supported."""
        return next((code for end, code in _CODE.items() if name.endswith(end)), "").replace(
            "MARK", self.output_mark
        )

    def add_to(self, text: str) -> str:
        """Return a Python test file with this test added. A part under `if __name__ == "__main__"` stays at the end."""
        tests, main = _parts(text)
        return f"{tests}\n{self.test_code_for('.py')}{main}"

    def is_reported(self, log: str) -> bool:
        """Return True if a log reports that this test failed, and reports nowhere that it passed."""
        lines = [line for line in log.splitlines() if self.output_mark in line]
        return any(_FAILED.search(line) for line in lines) and not any(_PASSED.search(line) for line in lines)


def new_canary() -> Canary:
    """Return a canary with a random mark."""
    return Canary(f"x{token_hex(6)}")


def with_passing_test(text: str) -> str:
    """Return a Python test file whose tests are replaced by one passing test."""
    return f"{PASSING_TEST_CODE}\n\n{_parts(text)[1]}"


def select_python_tests(texts: Mapping[str, str], places: Iterable[str]) -> dict[str, str]:
    """Return the texts of the Python test files at or below these places, keyed by path."""
    below = tuple(places)
    return {
        name: text
        for name, text in texts.items()
        if _TESTS.fullmatch(posixpath.basename(name))
        and any(name == place or name.startswith(f"{place}/") for place in below)
    }


@contextmanager
def copy_with_changes(folder: Path, places: Iterable[str], texts: Mapping[str, str]) -> Iterator[Path]:
    """Copy the files and folders `places` of a task's folder, with new texts for some files. Remove the copy on exit.

    `texts`: mapping from a file's path to its new text.
    """
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made)
        for place in places:
            source, target = folder / place, copy / place
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, copy_function=_link, dirs_exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(source, target)
        for name, text in texts.items():
            mode = (copy / name).stat().st_mode
            (copy / name).unlink()
            (copy / name).write_text(text)
            (copy / name).chmod(mode)
        yield copy


def _parts(text: str) -> tuple[str, str]:
    """Split a test file into the tests, and the part under `if __name__ == "__main__"`."""
    main = _MAIN.search(text)
    at = main.start() if main else len(text)
    return text[:at], text[at:]


def _link(source: str | Path, target: str | Path) -> None:
    """Make a hard link. If the file system does not allow links, make a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
