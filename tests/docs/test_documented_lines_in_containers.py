"""The lines of README.md and docs/ that need a container engine, where there is one.

Made-up tasks and instances in images of this machine stand in for the published ones; the model solves none of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.containers.workshop import workshop
from tests.catalog.swe_bench.conftest import running_engine, swe_bench_rows
from tests.catalog.terminal_bench.terminal_kit import write_harbor
from tests.docs.documented_lines import NEEDS_ENGINE, PAGES, shell_blocks
from tests.docs.page_reader import OpenPage, open_page, servers
from tests.docs.page_shell import PageShell
from tests.interop.trajectories_kit import swe_agent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.usefixtures("workshop")]
__all__ = ["open_page", "running_engine", "servers", "swe_bench_rows", "workshop"]

MARKED = [
    page
    for page in PAGES
    if any(line.mark == NEEDS_ENGINE for block in shell_blocks(page) for line in block.lines)
]


def lay_tasks(directory: Path, rows: list[dict[str, Any]]) -> None:
    """Lay the tasks of terminal_bench, the instances of swe_bench, and trajectories of another agent on them."""
    for name in ("hello-world", "hello-again"):
        write_harbor(directory / "data" / "terminal_bench", name)
    write_rows(directory / "data" / "swe_bench" / "test.jsonl", rows)
    for row in rows:
        swe_agent(directory / "trajectories" / "me" / "my-experiment", row["instance_id"], row["patch"])


@pytest.mark.parametrize("page", MARKED)
def test_every_line_of_a_page_that_needs_an_engine_runs_beside_one(
    page: str, open_page: OpenPage, swe_bench_rows: list[dict[str, Any]]
) -> None:
    setting = open_page(page, NEEDS_ENGINE)
    lay_tasks(setting.directory, swe_bench_rows)
    if page == "docs/agents.md":
        setting.run("agents", "install", "codex")
    with PageShell(setting.directory, setting.variables, setting.replacements) as shell:
        for block in shell_blocks(page):
            shell.run(block, NEEDS_ENGINE)
