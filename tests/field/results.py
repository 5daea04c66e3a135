"""What came of the tests: each server's features, as a table and as JSON."""

from __future__ import annotations

import datetime
import os
import platform
import sys
import time
from collections.abc import Generator
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from tests.field.servers import SERVERS
from tests.field.servers.server import FEATURES

import benchwright

WORKS, FAILS, WITHOUT = "works", "fails", "without"
WORDS = {WORKS: "yes", FAILS: "FAILS", WITHOUT: "–"}


class Results:
    """A plugin of pytest: collects what each test found, by server and feature."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._features: dict[tuple[str, str], dict[str, Any]] = {}
        self.versions: dict[str, str] = {}
        self.unavailable: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note how a test, or its fixtures, ended."""
        report = yield
        if (found := item.get_closest_marker("feature")) and hasattr(item, "callspec"):
            self._add(item.callspec.params["server_name"], found.args[0], report)
        return report

    def _add(self, server: str, feature: str, report: pytest.TestReport) -> None:
        entry = self._features.setdefault((server, feature), {"result": WITHOUT, "seconds": 0.0})
        entry["seconds"] = round(entry["seconds"] + report.duration, 1)
        if report.failed:
            entry.update(result=FAILS, why=report.longreprtext.strip().splitlines()[-1])
        elif report.skipped and isinstance(report.longrepr, tuple):
            entry["why"] = report.longrepr[2].removeprefix("Skipped: ")
        elif report.when == "call" and entry["result"] != FAILS:
            entry["result"] = WORKS

    def document(self) -> dict[str, Any]:
        """Return all of it as plain data; what was not asked for is not in it."""
        return {
            "date": datetime.date.today().isoformat(),
            "benchwright": benchwright.__version__,
            "model": "SmolLM2-135M-Instruct, Q4_1",
            "machine": {
                "system": platform.system(),
                "processor": platform.machine(),
                "cpus": os.cpu_count(),
                "python": platform.python_version(),
            },
            "seconds": round(time.monotonic() - self._began),
            "unavailable": self.unavailable,
            "servers": {name: self._server(name) for name in SERVERS if self._found(name)},
        }

    def _found(self, server: str) -> dict[str, dict[str, Any]]:
        entries = {feature: self._features.get((server, feature)) for feature in FEATURES}
        return {feature: entry for feature, entry in entries.items() if entry is not None}

    def _server(self, name: str) -> dict[str, Any]:
        found = self._found(name)
        return {
            "title": SERVERS[name].title,
            "version": self.versions.get(name),
            "seconds": round(sum(entry["seconds"] for entry in found.values())),
            "features": found,
        }


def show(document: dict[str, Any]) -> None:
    """Print the table of servers by features, with the reasons for what is missing."""
    servers = document["servers"]
    table = Table(title=f"With {document['model']}, in {document['seconds']} s", title_justify="left")
    table.add_column("")
    for name in servers:
        table.add_column(name)
    for feature, words in FEATURES.items():
        cells = [server["features"].get(feature) for server in servers.values()]
        table.add_row(words.replace("`", ""), *(WORDS[cell["result"]] if cell else "" for cell in cells))
    table.add_row("seconds", *(str(server["seconds"]) for server in servers.values()))
    console = Console(file=sys.stdout, width=max(100, 60 + 18 * len(servers)))
    console.print(table)
    for name, reason in document["unavailable"].items():
        console.print(f"{name}: not run: {reason}", highlight=False, markup=False)
    for name, server in servers.items():
        console.print(f"{name}: {server['version'] or 'not run'}", highlight=False, markup=False)
        for reason, features in reasons(server).items():
            console.print(f"  {', '.join(features)}: {reason}", highlight=False, markup=False)


def reasons(server: dict[str, Any]) -> dict[str, list[str]]:
    """Return each reason for what a server lacks, with the features that lack for it."""
    found: dict[str, list[str]] = {}
    for feature, entry in server["features"].items():
        if why := entry.get("why"):
            found.setdefault(why, []).append(feature)
    return found
