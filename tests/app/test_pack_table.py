"""`table` over runs of packs: the pack's own total of each model, with its interval over repeats."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.pack_kit import Packs, numbered, scenario, write_pack

VARYING = """
const seen = {};
exports.listScenarios = async () => [{ id: "A", title: "A" }, { id: "B", title: "B" }];
exports.prepare = async () => ({
    async runScenario({ scenario, model }) {
        const cell = (seen[model.id + scenario.id] ??= { number: 0 });
        const points = { low: 20, high: 60 }[model.model] + 5 * cell.number++;
        return { scenarioId: scenario.id, status: "pass", score: points, summary: "", rawLog: "" };
    },
    dispose: async () => {},
});
exports.scoreModelResults = (results) => ({
    totalScore: 2 * Math.max(0, ...results.map((one) => one.score)), totalUnit: "pts", categories: [],
});
"""
"""Each attempt at a cell has five points more; the total is twice the most of all, so it is no mean of the cells."""


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def board(packs: Packs, *arguments: str) -> dict[str, Any]:
    ended = packs.program.run("table", *arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def cells(told: dict[str, Any], column: int = 0) -> dict[str, dict[str, Any]]:
    """The cells of a column by model."""
    return {row["model"]: row["cells"][column] for row in told["rows"] if row["cells"][column]}


def varying(packs: Packs, echo: str, repeats: int, models: Sequence[str]) -> None:
    path = write_pack(packs.directory / "box", [], code=VARYING)
    packs.run(str(path), echo, "--n", str(repeats), "--mode", "serial", models=models)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory, echo: str) -> Iterator[dict[str, Any]]:
    """The leaderboard after one attempt at each cell."""
    program = Program(tmp_path_factory.mktemp("once"))
    packs = Packs(program)
    varying(packs, echo, 1, ["low", "high"])
    yield board(packs, "--score", "total")
    program.end()


def test_the_figure_is_the_packs_own_total_and_not_the_mean_of_its_cells(once: dict[str, Any]) -> None:
    assert {model: cell["mean"] for model, cell in cells(once).items()} == {"high": 120.0, "low": 40.0}
    assert once["columns"][0]["scale"] == "pts"


def test_repeats_give_an_interval_and_tell_who_is_better(packs: Packs, echo: str) -> None:
    """Totals of single repeats are 40, 50, 60 and 120, 130, 140: means ± t(2) · 10 / √3."""
    varying(packs, echo, 3, ["low", "high"])
    found = cells(board(packs, "--score", "total"))
    assert found["low"]["low"] == pytest.approx(50 - 4.302653 * 10 / 3**0.5)
    assert found["high"]["high"] == pytest.approx(130 + 4.302653 * 10 / 3**0.5)
    assert (found["high"]["standing"], found["low"]["standing"]) == ("best", "behind")
    text = packs.program.run("table", "--score", "total").stdout
    assert "compared by the totals of single repeats (Welch test)" in text


def test_one_repeat_has_no_interval_and_no_rank(once: dict[str, Any]) -> None:
    found = cells(once)
    assert {model: (cell.get("low"), cell.get("rank")) for model, cell in found.items()} == {
        "high": (None, None),
        "low": (None, None),
    }


def test_packs_are_columns_and_models_rows(packs: Packs, echo: str) -> None:
    for name in ("box", "tin"):
        packs.run(packs.pack(name), echo, models=("m", "n"))
    told = board(packs)
    assert [column["name"] for column in told["columns"]] == ["pack box", "pack tin"]
    assert {row["model"]: [cell["mean"] for cell in row["cells"]] for row in told["rows"]} == {
        "m": [65.0, 65.0],
        "n": [65.0, 65.0],
    }


def test_a_total_that_lacks_cells_is_marked(packs: Packs, echo: str) -> None:
    failing = [*numbered(2), scenario("S-03", promptText=None)]
    code = "throw new Error('out of order')"
    path = write_pack(packs.directory / "box", failing)
    entry = path / "dist/benchlocal/index.js"
    entry.write_text(
        entry.read_text().replace("try {", f"if (input.scenario.id === 'S-03') {code};\ntry {{", 1)
    )
    packs.run(str(path), echo, code=4)
    assert "(incomplete)" in packs.program.run("table", "--score", "total").stdout
    (cell,) = cells(board(packs, "--score", "total")).values()
    assert (cell["n_scored"], cell["n"]) == (2, 3)


def test_a_choice_of_scenarios_stands_in_a_column_of_its_own(packs: Packs, echo: str) -> None:
    pack = packs.pack("box")
    packs.run(pack, echo)
    packs.run(pack, echo, "--scenario", "A-01", models=("n",))
    told = board(packs, "--score", "total")
    assert [column["name"] for column in told["columns"]] == ["pack box", "pack box (2)"]
    assert "has other scenarios than" in told["columns"][1]["apart"]
