"""Parsers for Redis, jq (automake) and MicroPython, doctest's XML, and GoogleTest under CTest."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from benchwright.catalog.swe_bench.log_parsers import Statuses
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    TestRunner,
    make_line_parser,
    make_report_cutter,
)

_REDIS = re.compile(r"\[(ok|err|skip|ignore)\]:\s(.+?)(?:\s\(\d+\s*m?s\))?$")
_REDIS_FILE = re.compile(r"\s+in\s+\S+$")
_REDIS_WORDS = {"ok": PASSED, "err": FAILED, "skip": SKIPPED, "ignore": SKIPPED}

_XML_START, _XML_END = "<doctest", "</doctest>"


def parse_redis_log(log: str) -> Statuses:
    """Parse lines such as `[ok]: GETRANGE works (3 ms)` and `[err]: GETRANGE works in tests/unit/it.tcl`."""
    statuses: Statuses = {}
    for line in map(str.strip, log.split("\n")):
        if found := _REDIS.match(line):
            word, name = found.groups()
            statuses[_REDIS_FILE.sub("", name) if word == "err" else name] = _REDIS_WORDS[word]
    return statuses


def parse_doctest_log(log: str) -> Statuses:
    """Parse the subcases in doctest's XML (`-s -r=xml`), each named `case > subcase`.

    A subcase has passed if none of its expressions is false. Cases without subcases are ignored.

    Raises:
        ValueError: If the XML cannot be parsed, for example because the program was ended while it wrote.
    """
    start = log.find(_XML_START)
    if start < 0:
        return {}
    try:
        root = ElementTree.fromstring(log[start : log.index(_XML_END, start) + len(_XML_END)])
    except ElementTree.ParseError as error:
        raise ValueError(f"the XML in the log cannot be read: {error}") from None
    return {
        f"{case.get('name')} > {subcase.get('name')}": _of_expressions(subcase)
        for case in root.findall(".//TestCase")
        for subcase in case.findall(".//SubCase")
    }


def _of_expressions(subcase: ElementTree.Element) -> str:
    held = all(expression.get("success") == "true" for expression in subcase.findall(".//Expression"))
    return PASSED if held else FAILED


REDIS_RUNNER = TestRunner(parse_redis_log, make_report_cutter(r"\s+The End\s*|\[\d+/\d+ done\]: .*"))
JQ_RUNNER = TestRunner(
    make_line_parser(r"(?P<status>PASS|FAIL):\s(?P<name>.+)$", {"PASS": PASSED, "FAIL": FAILED}),
    make_report_cutter(r"Testsuite summary for .*"),
)
"""Runner for jq. It parses `PASS: tests/jqtest`, one line for each test program."""
DOCTEST_RUNNER = TestRunner(parse_doctest_log)
MICROPYTHON_RUNNER = TestRunner(
    make_line_parser(
        r"(?P<status>pass|FAIL|skip)\s+(?P<name>.+)$", {"pass": PASSED, "FAIL": FAILED, "skip": SKIPPED}
    ),
    make_report_cutter(r"\d+ tests performed .*"),
)
"""Runner for MicroPython. It parses `pass  basics/try1.py`."""
GOOGLETEST_RUNNER = TestRunner(
    make_line_parser(
        r".*\[\s*(?P<status>OK|FAILED)\s*\]\s(?P<name>.*)\s\(.*\)$", {"OK": PASSED, "FAILED": FAILED}
    ),
    make_report_cutter(r".*\[={10}\] \d+ tests? from .* ran\..*"),
)
"""Runner for GoogleTest under CTest. It parses `1: [       OK ] format_test.escape (0 ms)`."""
