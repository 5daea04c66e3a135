"""docs/python.md is a notebook: its blocks are run as cells, in turn, in one namespace, in a loop that runs.

Addresses are replaced by that of the server of the test, nothing else. The model knows the answers.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.benchmark_kit import mmlu_rows
from tests.catalog.catalog_kit import write_rows
from tests.catalog.played import scripts
from tests.simulated import simulated_endpoint

from benchwright import runs

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
CELLS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
DOCUMENTED = "http://localhost:8000/v1"
KEY = [{"prompt": "6 times 7", "answer": "42"}, {"prompt": "capital of France", "answer": "Paris"}]


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A model that knows the answers of the document, in a directory with the data of its benchmark."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OSMOSIS_CACHE_DIR", str(tmp_path / "cache"))
    data = write_rows(tmp_path / "data" / "mmlu" / "test.jsonl", mmlu_rows(8))
    with simulated_endpoint(answers=KEY, scripts=asyncio.run(scripts("mmlu", data, ()))) as url:
        yield url


async def run_cell(number: int, text: str, namespace: dict[str, Any]) -> None:
    """Runs a cell as a notebook does: await is allowed, and the source of what it defines can be found."""
    name = f"<cell {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    code = compile(text, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if inspect.iscoroutine(waits := eval(code, namespace)):
        await waits


async def run_notebook(address: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(CELLS):
        await run_cell(number, cell.replace(DOCUMENTED, address), namespace)
    return namespace


async def test_the_document_runs_as_a_notebook(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    namespace = await run_notebook(address)
    assert namespace["wrong"] == []
    assert [row["score.exact"] for row in namespace["table"]] == [1.0, 1.0]
    assert namespace["mmlu"].accuracy == 1.0
    assert namespace["difference"].difference == 0.0
    out, err = capsys.readouterr()
    assert "1.0 0.3423802275066532 1.0 2 of 2" in out
    assert "{'exact': 1.0, 'mentions': 1.0, 'brief': 1.0}" in out
    assert "[2/2]" in err


async def test_run_once_more_it_finds_its_evaluations_again(address: str) -> None:
    await run_notebook(address)
    made = {run.manifest.id for run in runs(kind="eval")}
    await run_notebook(address)
    assert {run.manifest.id for run in runs(kind="eval")} == made


async def test_a_changed_function_of_a_cell_is_scored_again(address: str) -> None:
    namespace = await run_notebook(address)
    (cell,) = [cell for cell in CELLS if "def brief" in cell]
    await run_cell(90, cell.replace("< 80", "< 3").replace(DOCUMENTED, address), namespace)
    assert namespace["result"].summary.targets[0].scores[2].mean == 0.5
