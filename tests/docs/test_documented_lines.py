"""Every shell line of README.md and docs/ runs as a reader pastes it, page by page, in the directory of the page.

What a reader has at hand (a model at an address, runs, files) comes from `stand_ins`. A line that cannot run here is
marked on its page (see `documented_lines`). The numbers of lines are told at the end of the tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.catalog.made_up_rows import write_all
from tests.catalog.played import scripts
from tests.docs.documented_lines import PAGES, ROOT, Line, looks_like_shell, marks_without_block, read_blocks, shell_blocks
from tests.docs.page_shell import Failed, PageShell, forked_programs
from tests.docs.stand_ins import BENCHMARKS, STAND_INS, Setting
from tests.simulated import simulated_endpoint

LINES = {page: [line for block in shell_blocks(page) for line in block.lines] for page in PAGES}
RUN = {page: [line for line in lines if line.mark is None] for page, lines in LINES.items()}

NEEDS_NODE = {"docs/packs.md", "docs/pack-authors.md"}
PYTHON_TOO = {"docs/judges.md"}
"""Pages whose blocks of Python write what the lines after them read."""

LEAST_RUN = 120
MOST_MARKED = 40

Open = Callable[[str], Setting]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of a model that knows all answers, and of one that finds all answers right and plays customers."""
    data = write_all(tmp_path_factory.mktemp("rows") / "data", BENCHMARKS)
    played = {name: asyncio.run(scripts(name, data / name)) for name in BENCHMARKS}
    verdicts = [
        {"prompt": "<<TASK", "answer": "SCORE: 1"},
        {"prompt": "Judge whether the following", "answer": "correct: yes"},
    ]
    with (
        simulated_endpoint(scripts=sum(played.values(), []), answers=answers()) as model,
        simulated_endpoint(scripts=played["tau_bench"] + played["tau2_bench"], answers=verdicts) as judge,
    ):
        yield model, judge


def answers() -> list[dict[str, object]]:
    """Return the right answers to the rows of examples/, and to those of the stand-ins."""
    key: list[dict[str, object]] = [
        {"prompt": row["question"], "answer": row["answer"]} for row in example_rows("questions.jsonl")
    ]
    key += [
        {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in example_rows("arithmetic.jsonl")
    ]
    key += [{"prompt": "6 times 7", "answer": "42"}, {"prompt": "9 minus 4", "answer": "5"}]
    capitals: dict[str, str] = runpy.run_path(str(ROOT / "examples" / "capitals.py"))["CAPITALS"]
    return key + [{"prompt": f"the capital of {country}?", "answer": city} for country, city in capitals.items()]


def example_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of examples/."""
    return [json.loads(line) for line in (ROOT / "examples" / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def open_page(tmp_path: Path, servers: tuple[str, str]) -> Iterator[Open]:
    """What lays out the directory that a page speaks of, and sets up what its lines name."""
    with ExitStack() as ending:
        programs = ending.enter_context(forked_programs())

        def open_one(page: str) -> Setting:
            directory = tmp_path / "place"
            inside = any("examples/" in line.text for line in RUN[page])
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / "examples", directory / "examples" if inside else directory, ignore=ignored)
            variables = {
                **{name: value for name, value in os.environ.items() if not name.startswith("BENCHWRIGHT_")},
                "PATH": f"{programs}:{os.environ['PATH']}",
                "BENCHWRIGHT_HOME": str(tmp_path / "home"),
                "BENCHWRIGHT_BASE_URL": servers[0],
                "NO_PROXY": "*",
            }
            setting = Setting(page, directory, variables, *servers, ending)
            for stand_in in STAND_INS:
                if any(stand_in.is_in(line) for line in RUN[page]):
                    stand_in.set_up(setting)
            return setting

        yield open_one


@pytest.mark.parametrize("page", [page for page in PAGES if RUN[page]])
def test_every_line_of_a_page_runs_in_the_order_of_the_page(page: str, open_page: Open) -> None:
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
    assert marks_without_block(page) == []


def test_every_stand_in_is_named_by_a_line() -> None:
    lines = [line for page in PAGES for line in RUN[page]]
    assert [one.pattern for one in STAND_INS if not any(one.is_in(line) for line in lines)] == []


def kind(line: Line) -> str:
    """Return how a line is tried: run as it stands, with something that stands in, or not at all."""
    if line.mark is not None:
        return "marked"
    return "stood in for" if any(one.is_in(line) for one in STAND_INS) else "run as it stands"


def test_the_lines_are_counted(record_property: Callable[[str, object], None]) -> None:
    lines = [line for page in PAGES for line in LINES[page]]
    counts = Counter(map(kind, lines))
    reasons = Counter(line.mark for line in lines if line.mark)
    told = ", ".join(f"{counts[name]} {name}" for name in ("run as it stands", "stood in for", "marked"))
    because = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common())
    record_property("told", f"Lines of the documentation: {len(lines)}, {told} ({because})")
    assert len(lines) == counts.total()
    assert counts["run as it stands"] + counts["stood in for"] >= LEAST_RUN
    assert counts["marked"] <= MOST_MARKED
