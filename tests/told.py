"""A plugin of pytest: what a test records as the property `told` is printed at the end, wherever the test ran."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what tests that passed have told, a line each."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in getattr(report, "user_properties", ()):
            if name == "told":
                terminalreporter.write_line(str(value))
