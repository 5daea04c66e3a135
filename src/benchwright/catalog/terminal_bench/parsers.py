"""Parsers for the test logs of Terminal-Bench 1.0. Each returns {test name: True if it passed}."""

from __future__ import annotations

from benchwright.catalog.harbor.grading import LogParser
from benchwright.catalog.harbor.testing import SUMMARY_HEADING

_COUNTS_AS_PASSED = {
    "PASSED": True,
    "SKIPPED": True,
    "XFAIL": True,
    "FAILED": False,
    "ERROR": False,
    "XPASS": False,
}

_SWE_BENCH = ("SWEBench results starts here", "SWEBench results ends here")


def parse_pytest_log(log: str) -> dict[str, bool] | None:
    """Parse the lines after pytest's `short test summary info`: a status word, then a test.

    As in the official harness, skipped tests and expected failures count as passed, unexpected passes do not.
    A test's name is the text after the first `::`. If a test has several lines, the last line counts. Return
    None if there are no tests.
    """
    parts = SUMMARY_HEADING.split(log, maxsplit=1)
    if len(parts) < 2:
        return None
    results = {}
    for line in parts[1].splitlines():
        message = line.rfind(" - ") if line.startswith("FAILED") else -1
        words = (line if message < 0 else line[:message]).split(maxsplit=1)
        if len(words) == 2 and (word := words[0].strip(":")) in _COUNTS_AS_PASSED:
            name = words[1].strip().split("::", 1)[-1]
            if name:
                results[name] = _COUNTS_AS_PASSED[word]
    return results or None


def parse_swe_bench_log(log: str) -> dict[str, bool] | None:
    """Parse the word between the two marker lines that SWE-bench's tasks print.

    The result is a single entry named `tests`. Return None if the marker lines are missing.
    """
    said, end, _ = log.partition(_SWE_BENCH[0])[2].partition(_SWE_BENCH[1])
    return {"tests": said.strip() == "PASSED"} if end else None


LOG_PARSERS: dict[str, LogParser] = {"pytest": parse_pytest_log, "swebench": parse_swe_bench_log}
