"""docs/check.md lists every line of a card with all its outcomes, and its commands work as written."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest
from tests.endpoint.card.played_server import served
from tests.programs import run_benchwright

from benchwright.endpoint.card import LINES
from benchwright.endpoint.card.outcomes import OUTCOMES, Outcome

DOCUMENT = Path(__file__).parents[2] / "docs" / "check.md"


def table() -> str:
    """The lines and outcomes as the document has them, a table for each group."""
    parts = []
    for group, keys in groupby(LINES, key=lambda key: LINES[key].group):
        rows = [row for key in keys for row in _rows(key)]
        parts.append("\n".join([f"### {group}", "", "| key, line | outcome | state | what is said, and what follows |",
                                "|---|---|---|---|", *rows]))  # fmt: skip
    return "\n\n".join(parts)


def _rows(key: str) -> list[str]:
    first = f"`{key}`: {LINES[key].title}"
    rows = []
    for name, outcome in OUTCOMES[key].items():
        rows.append(f"| {first} | `{name}` | {outcome.state} | {_texts(outcome)} |")
        first = ""
    return rows


def _texts(outcome: Outcome) -> str:
    told = re.sub(r"\{(\w+)[^}]*\}", r"*\1*", f"{outcome.said}. {outcome.follows}").strip()
    return told.replace("|", "\\|").replace("..", ".")


def test_the_document_has_every_line_and_outcome() -> None:
    assert table() in DOCUMENT.read_text(), f"docs/check.md should have:\n\n{table()}"


def commands() -> list[str]:
    """The commands of the document."""
    blocks = re.findall(r"^```bash\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line.startswith("benchwright check")]


@pytest.mark.parametrize("line", commands())
def test_its_commands_work(line: str, tmp_path: Path) -> None:
    with served(models=("my-model",)) as server:
        words = line.replace("http://localhost:8000/v1", server.base_url).split()[1:]
        ended = run_benchwright(words, directory=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "my-model" in ended.stdout
