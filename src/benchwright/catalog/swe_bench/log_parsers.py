"""Parsers of test logs by swebench's rules (harness/log_parsers/python.py, 5.0).

Each parser returns {name of the test: status}. Some rules are brittle, but the lists of expected tests were
made with these rules. They are kept unchanged, so that the same log gives the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

STATUS_WORDS = ("FAILED", "PASSED", "SKIPPED", "ERROR", "XFAIL")
"""Statuses of a test. `PASSED` and `XFAIL` are passes, `FAILED` and `ERROR` are failures."""

Statuses = dict[str, str]

_COUNT = re.compile(r"\[\d+\]")
_OPTION = re.compile(r"(.*?)\[(.*)\]")
_COLOUR = re.compile(r"\[\d+m")
_CONTROLS = dict.fromkeys(range(1, 32))


def parse_pytest(log: str) -> Statuses:
    """Parse the lines of pytest's short summary: `PASSED file::test`, `FAILED file::test - message`."""
    return dict(_summary(log))


def parse_pytest_options(log: str) -> Statuses:
    """Parse pytest's summary. If a test's brackets contain a path, keep only the last component of the path."""
    return {_short_option(name): status for name, status in _summary(log)}


def parse_matplotlib(log: str) -> Statuses:
    """Parse pytest's summary. Replace the names of mouse buttons by their numbers."""
    return parse_pytest(log.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3"))


def parse_pytest_v2(log: str) -> Statuses:
    """Parse pytest's summary without colour codes. Names of tests may contain spaces.

    Lines of older versions, `file::test PASSED`, are read, too.
    """
    statuses: Statuses = {}
    for line in log.split("\n"):
        line = _COLOUR.sub("", line).translate(_CONTROLS)
        if line.startswith(STATUS_WORDS):
            if line.startswith("FAILED"):
                line = line.split(" - ", 1)[0]
            status, *name = line.split()
            if name and not _is_count(status, name[0]):
                statuses[" ".join(name)] = status
        elif line.endswith(STATUS_WORDS):
            *name, status = line.split()
            if name:
                statuses[" ".join(name)] = status
    return statuses


def parse_seaborn(log: str) -> Statuses:
    """Parse pytest's summary, and its lines per test. Only passes and failures are read."""
    statuses: Statuses = {}
    for line in log.split("\n"):
        words = line.split()
        if len(words) < 2:
            continue
        if line.startswith("FAILED"):
            statuses[words[1]] = "FAILED"
        elif " PASSED " in line:
            if words[1] == "PASSED":
                statuses[words[0]] = "PASSED"
        elif line.startswith("PASSED"):
            statuses[words[1]] = "PASSED"
    return statuses


_SYMPY_HEADING = re.compile(r" (.*)\.py:(.*) ")
_SYMPY_ENDINGS = {" E": "ERROR", " F": "FAILED", " ok": "PASSED"}


def parse_sympy(log: str) -> Statuses:
    """Parse the output of SymPy's own runner.

    Its lines are `test_name ok`, `test_name F` or `test_name E`. A heading `___ file.py:test_name ___`
    introduces a failure.
    """
    statuses = {f"{file}.py:{test}": "FAILED" for file, test in _SYMPY_HEADING.findall(log)}
    for line in log.split("\n"):
        line = line.strip()
        if line.startswith("test_"):
            for ending, status in _SYMPY_ENDINGS.items():
                if line.endswith(ending):
                    statuses[line.split()[0]] = status
    return statuses


_DJANGO_PASSES = (" ... ok", " ... OK", " ...  OK")
_DJANGO_FAILURES = {"FAIL": "FAILED", "ERROR": "ERROR"}
_DJANGO_VERSION = "--version is equivalent to version"
_DJANGO_MIGRATION = "Applying sites.0002_alter_domain_unique...test_no_migrations"
_DJANGO_INTERRUPTED = [
    re.compile(rf"^(.*?)\s\.\.\.\s{interruption}\nok$", re.MULTILINE)
    for interruption in (
        r"Testing against Django installed in (?s:.*?) silenced\)\.",
        r"Internal Server Error: /.*/",
        r"System check identified no issues \(0 silenced\)",
    )
]


def parse_django(log: str) -> Statuses:
    """Parse unittest with verbosity 2: `test (class) ... ok`. Other output may come before the `ok`."""
    statuses: Statuses = {}
    previous = None
    for line in map(str.strip, log.split("\n")):
        if _DJANGO_VERSION in line:
            statuses[_DJANGO_VERSION] = "PASSED"
        if " ... " in line:
            previous = line.split(" ... ")[0]
        _read_django(line, statuses)
        if line.startswith("ok") and previous is not None:
            statuses[previous] = "PASSED"
    for interrupted in _DJANGO_INTERRUPTED:
        statuses |= {match[1]: "PASSED" for match in interrupted.finditer(log)}
    return statuses


def _read_django(line: str, statuses: Statuses) -> None:
    ending = next(filter(line.endswith, _DJANGO_PASSES), None)
    if ending:
        if line.startswith(_DJANGO_MIGRATION):
            line = line.split("...", 1)[1].strip()
        statuses[line.removesuffix(ending)] = "PASSED"
    if " ... skipped" in line:
        statuses[line.split(" ... skipped")[0]] = "SKIPPED"
    for word, status in _DJANGO_FAILURES.items():
        if line.endswith(f" ... {word}"):
            statuses[line.split(f" ... {word}")[0]] = status
        if line.startswith(f"{word}:") and len(line.split()) > 1:
            statuses[line.split()[1]] = status


LOG_PARSERS: dict[str, Callable[[str], Statuses]] = {
    "django": parse_django,
    "matplotlib": parse_matplotlib,
    "pytest": parse_pytest,
    "pytest_options": parse_pytest_options,
    "pytest_v2": parse_pytest_v2,
    "seaborn": parse_seaborn,
    "sympy": parse_sympy,
}


def _summary(log: str) -> Iterator[tuple[str, str]]:
    for line in log.split("\n"):
        if line.startswith(STATUS_WORDS):
            words = (line.replace(" - ", " ") if line.startswith("FAILED") else line).split()
            if len(words) > 1 and not _is_count(words[0], words[1]):
                yield words[1], words[0]


def _is_count(status: str, name: str) -> bool:
    """Return True for a line such as `SKIPPED [2] file:line: reason`, which counts tests without their names."""
    return status == "SKIPPED" and _COUNT.fullmatch(name) is not None


def _short_option(name: str) -> str:
    found = _OPTION.search(name)
    if not found:
        return name
    test, option = found.groups()
    if option.startswith("/") and not option.startswith("//") and "*" not in option:
        option = "/" + option.rpartition("/")[2]
    return f"{test}[{option}]"
