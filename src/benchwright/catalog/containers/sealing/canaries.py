"""A test that fails, added to the tests of a pass: where the verdict stands all the same, no test has made it.

Code under test runs where the tests run. It can write what looks like a report, and end the runner before that reports;
the names of the tests, and the form of the report, are known or can be found out. That a test fails which was not there
before, it cannot report without running it.
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

from benchwright.catalog.containers.flags import Flag
from benchwright.catalog.containers.sealing.programs import scripts_in
from benchwright.records import Record

OF_NO_TEST = "results_of_no_test"

_TESTS = re.compile(r"(?:test_[^/]*|[^/]*_test)\.py")
_COMMANDS = re.compile(r"\n|&&|\|\|?|;|^\s*#.*$", re.MULTILINE)
_RUNNER = re.compile(r"(.*)\b(?:py\.?test|unittest)\b(.*)")
_NO_RUN = re.compile(r"(?:^|\s)(?:install|add|source|echo|which|command|sync|cp|mv|#)(?:\s|$)")
_SELECTS = re.compile(
    r"::|(?:^|\s)(?:-k|--deselect|--ignore|--lf|--co|--collect-only|-p\s+no:python|--noconftest)(?:[\s=]|$)"
    r"|(?:^|\s)-m[\s=]+(?!py\.?test|unittest|pip|uv|venv)"
)
_MAIN = re.compile(r"^if\s+__name__\b", re.MULTILINE)
_BY_EXIT_CODE = re.compile(
    r"\b(?:py\.?test|unittest)\b.*\n(?:\s*(?:#.*)?\n|.*=\s*\$\?.*\n|.*\bset [+-]e\b.*\n){0,4}.*(?:\$\?|\$\{?\w*(?:code|status|exit|rc|ret)\w*\}?)"
    r"[\"']?\s*(?:-eq|==?)\s*[\"']?0|\bif\s.*\b(?:py\.?test|unittest)\b.*;?\s*then"
    r"|\b(?:py\.?test|unittest)\b.*(?:&&|\|\|)\s*(?:\{\s*)?echo",
    re.IGNORECASE,
)
"""How test scripts make a reward of whether all tests passed."""
_SAYS_SO = re.compile(r"fail|error|^_{3,}|Traceback|exit", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:PASSED|passed)\b|\.\.\. ok\b|--- PASS|[✓✔]|\[ *ok *\]")
_REPORT = re.compile(
    r"test session starts|short test summary info|\b\d+ passed\b|^Ran \d+ tests?\b|^OK\b", re.MULTILINE
)

_PYTHON = "the code of `Canary`"
_JAVASCRIPT = '\n;(typeof it === "function" ? it : test)("MARK", () => { throw new Error("MARK") })\n'
_GO = '\nfunc Test_MARK(t *testing.T) {\n\tt.Fatal("error MARK")\n}\n'
_RUST = '\n#[test]\nfn test_MARK() {\n    panic!("error MARK")\n}\n'
_CODE = {
    ".py": _PYTHON,
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), _JAVASCRIPT),
    ".go": _GO,
    ".rs": _RUST,
}
"""A test that fails, by the ends of names."""

PLACES = ("/logs/verifier", "/tests", "/tmp", "/dev/shm")
"""Where it leaves a file that says that it was run."""


class Canary(Record, frozen=True):
    """The test: its name holds this mark, and so does the name of the file that it leaves when it is run."""

    mark: str

    @property
    def code(self) -> str:
        """Lines of Python at the end of a file of tests, for every runner."""
        return f'''

def test_{self.mark}():
    import os
    for place in {PLACES!r}:
        try:
            open(os.path.join(place, "{self.mark}"), "w").close()
        except OSError:
            pass
    raise AssertionError("{self.mark}")


class Test_{self.mark}(__import__("unittest").TestCase):
    def test_{self.mark}(self):
        test_{self.mark}()

'''

    def code_for(self, name: str) -> str:
        """Lines at the end of a file of tests of this name; "" if its language is not known here."""
        code = _CODE.get(posixpath.splitext(name)[1])
        return self.code if code is _PYTHON else (code or "").replace("MARK", self.mark)

    def is_told(self, log: str) -> bool:
        """Whether a log says that it failed, and nowhere that it passed."""
        lines = [line for line in log.splitlines() if self.mark in line]
        return any(_SAYS_SO.search(line) for line in lines) and not any(_DENIES.search(line) for line in lines)


def new_canary() -> Canary:
    """One with a name that nobody can know."""
    return Canary(f"x{token_hex(6)}")


def files_with_canary(texts: Mapping[str, str]) -> list[str]:
    """The files of tests in Python which the scripts beside them have run as a whole, by the paths of `texts`."""
    found = (_RUNNER.fullmatch(command) for command in _COMMANDS.split(scripts_in(texts)))
    calls = [run[2] for run in found if run and not _NO_RUN.search(run[1])]
    if not calls or any(_SELECTS.search(call) for call in calls):
        return []
    named = " ".join(calls)
    files = [name for name in texts if _TESTS.fullmatch(posixpath.basename(name))]
    given = [name for name in files if posixpath.basename(name) in named]
    return given if given or ".py" in named else files


def counts_every_test(texts: Mapping[str, str]) -> bool:
    """Whether the scripts of tests make their reward of whether all tests passed, as far as it can be seen."""
    return _BY_EXIT_CODE.search(scripts_in(texts)) is not None


@contextmanager
def tests_with_canary(
    folder: Path, places: Iterable[str], names: Iterable[str], canary: Canary
) -> Iterator[Path]:
    """A folder with these places of a task's folder, in which these files have the test, too."""
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made)
        for place in places:
            source, target = folder / place, copy / place
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, copy_function=_link, dirs_exist_ok=True)
            elif source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(source, target)
        for name in names:
            text, mode = (folder / name).read_text(), (folder / name).stat().st_mode
            (copy / name).unlink()
            (copy / name).write_text(with_canary(text, canary))
            (copy / name).chmod(mode)
        yield copy


def with_canary(text: str, canary: Canary) -> str:
    """A file of tests with the test, before what is done where it is the program."""
    main = _MAIN.search(text)
    at = main.start() if main else len(text)
    return f"{text[:at]}\n{canary.code}{text[at:]}"


def verdict_on_canary(
    canary: Canary, score: float, log: str, *, was_run: bool, counts_every_test: bool
) -> list[Flag]:
    """The flag of a pass whose score stayed what it was though a test that fails was added to its tests."""
    stays = f"a test that fails was added to the tests, and the score is still {score:g}: it"
    if not was_run:
        return [Flag(OF_NO_TEST, f"{stays} was not run")]
    if not canary.is_told(log) and _REPORT.search(log):
        return [Flag(OF_NO_TEST, f"{stays} was run, and nothing reports that it failed")]
    if counts_every_test:
        return [Flag(OF_NO_TEST, f"{stays} failed, which does not count")]
    return []


def _link(source: str | Path, target: str | Path) -> None:
    """A second name for a file where that can be had, else a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
