"""The program, as each test of this room gets it; and at the end, how many cases each property was tried on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.faults.how_often import CASES


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Notes how many cases a test tried, where its report takes it along."""
    CASES.clear()
    try:
        return (yield)
    finally:
        if CASES:
            item.user_properties.append(("cases", dict(CASES)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what was tried."""
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.getreports(kind)]
    properties = [(report, dict(report.user_properties)["cases"]) for report in reports
                  if dict(report.user_properties).get("cases")]  # fmt: skip
    if not properties:
        return
    terminalreporter.section("cases tried")
    for report, kinds in properties:
        tried = sum(kinds.values())
        each = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()) if kind)
        line = f"{tried:7,}  {report.duration / tried:6.2f} s each  {report.nodeid}"
        terminalreporter.write_line(f"{line}: {each}" if each else line)
