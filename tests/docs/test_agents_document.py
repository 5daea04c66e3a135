"""The recipe of docs/agents.md runs as it is written, and the page names every agent with its version."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.agents.outside_kit import run_trial, write_rows

from benchwright.agents.recipe_task import recipe_task
from benchwright.recipes.recipe import read_recipe
from benchwright.recipes.recipe_lookup import all_recipes
from benchwright.records import Status

PAGE = (Path(__file__).parents[2] / "docs/agents.md").read_text(encoding="utf-8")


async def test_the_recipe_from_scratch_runs(tmp_path: Path) -> None:
    (recipe,) = (text for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S) if "Shouter" in text)
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    script, path = tmp_path / "shouter.py", tmp_path / "shouter.toml"
    script.write_text(program)
    path.write_text(
        recipe.replace("/opt/shouter/shouter.py", str(script)).replace('"python3"', f'"{sys.executable}"')
    )
    rows = write_rows(tmp_path / "rows.jsonl", {"question": "Hello there", "answer": "Hello there"})
    ran = await run_trial(recipe_task(rows, read_recipe(path), ()))
    assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "Hello there")
    assert ran.body.artifacts["records"] == {"shouter.log": "HELLO THERE"}


def test_each_agent_stands_there_with_its_version_and_what_it_asks_in() -> None:
    words = {"chat": "chat completions"}
    for recipe in all_recipes():
        row = re.search(rf"^\| `{recipe.name}` {re.escape(recipe.version)} \|.*$", PAGE, re.M)
        assert row, recipe.name
        assert f"| {words.get(recipe.dialect, recipe.dialect.capitalize())} |" in row[0]
