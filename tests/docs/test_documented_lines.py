"""Every shell line of README.md and docs/ runs as a reader pastes it, page by page, in the directory of the page.

What a reader has at hand (a model at an address, runs, files) comes from `stand_ins`. A line that cannot run here is
marked on its page (see `documented_lines`). The numbers of lines are told at the end of the tests.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable

import pytest
from tests.docs.documented_lines import (
    BY_NEWCOMER,
    NEEDS_ENGINE,
    PAGES,
    Line,
    count_idle_marks,
    looks_like_shell,
    read_blocks,
    shell_blocks,
)
from tests.docs.page_reader import OpenPage, open_page, servers
from tests.docs.page_shell import Failed, PageShell
from tests.docs.stand_ins import STAND_INS

__all__ = ["open_page", "servers"]

LINES = {page: [line for block in shell_blocks(page) for line in block.lines] for page in PAGES}
RUN = {page: [line for line in lines if line.mark is None] for page, lines in LINES.items()}

SLOW = {"docs/load.md"}
"""Pages that take more than 20 seconds, though hardly any CPU time."""

NEEDS_NODE = {"docs/packs.md", "docs/pack-authors.md"}
PYTHON_TOO = {"docs/judges.md"}
"""Pages whose blocks of Python write what the lines after them read."""

LEAST_RUN = 166
MOST_MARKED = 13


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if page in SLOW else []) for page in PAGES if RUN[page]],
)
def test_every_line_of_a_page_runs_in_the_order_of_the_page(page: str, open_page: OpenPage) -> None:
    if page in NEEDS_NODE and shutil.which("node") is None:
        pytest.skip("there is no Node on the PATH")
    setting = open_page(page)
    failures: list[str] = []
    with PageShell(setting.directory, setting.variables, setting.replacements) as shell:
        for block in read_blocks(page):
            try:
                if block.language == "bash":
                    shell.run(block)
                elif block.language == "python" and page in PYTHON_TOO:
                    shell.run_python(block)
            except Failed as failed:
                failures.append(f"{page}:{block.number}: {failed}")
    assert not failures, "\n\n".join(failures)


@pytest.mark.parametrize("page", PAGES)
def test_shell_lines_stand_in_blocks_of_bash_and_marks_before_them(page: str) -> None:
    plain = [block.number for block in read_blocks(page) if not block.language and looks_like_shell(block)]
    assert plain == [], "these blocks should begin with ```bash"
    assert count_idle_marks(page) == 0


def test_every_stand_in_is_named_by_a_line() -> None:
    lines = [line for page in PAGES for line in LINES[page] if kind(line) != "marked"]
    assert [one.pattern for one in STAND_INS if not any(one.is_in(line) for line in lines)] == []


ELSEWHERE = {NEEDS_ENGINE: "run beside a container engine", BY_NEWCOMER: "run by tests/newcomer.py"}


def kind(line: Line) -> str:
    """Return how a line is tried: run as it stands, with something that stands in, elsewhere, or not at all."""
    if line.mark is not None:
        return ELSEWHERE.get(line.mark, "marked")
    return "stood in for" if any(one.is_in(line) for one in STAND_INS) else "run as it stands"


def test_the_lines_are_counted(record_property: Callable[[str, object], None]) -> None:
    lines = [line for page in PAGES for line in LINES[page]]
    counts = Counter(map(kind, lines))
    reasons = Counter(line.mark for line in lines if kind(line) == "marked")
    told = [f"{count} {name}" for name, count in counts.most_common()]
    because = [f"{count} {reason}" for reason, count in reasons.most_common()]
    record_property("told", f"Lines of the documentation: {', '.join(told)} ({', '.join(because)})")
    assert counts["marked"] <= MOST_MARKED
    assert counts.total() - counts["marked"] >= LEAST_RUN
