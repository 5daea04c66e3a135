"""A benchmark's own figures are the same wherever a run is shown, and those of each model are its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import knowing, result_files
from tests.catalog.made_up_rows import WRITERS
from tests.simulated import simulated_endpoint
from tests.web.web_kit import viewing

from benchwright.analysis.benchmark_figures_file import read_figures
from benchwright.runs.journal import TRIALS_FILE


@pytest.fixture
def of_two(program: Program) -> str:
    """What the run of one model that knows three of four answers, and one that refuses all, has printed."""
    path = program.directory / "data" / "multi_if"
    WRITERS["multi_if"](path)
    with knowing("multi_if", path, 0.75) as good, simulated_endpoint("--policy=refusal") as bad:
        models = "".join(
            f'[[models]]\nmodel = "{name}"\nbase_url = "{url}"\n'
            for name, url in (("good", good), ("bad", bad))
        )
        ended = program.run("run", "multi_if", "--models", program.write("models.toml", models), "-q")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def shown(program: Program) -> list[dict[str, Any]]:
    (run,) = program.runs
    targets: list[dict[str, Any]] = json.loads(program.run("show", run.name, "--json").stdout)["targets"]
    return targets


def test_each_model_has_its_own(program: Program, of_two: str) -> None:
    blocks = [block.split("Protocol:")[0] for block in of_two.split("Multi-IF: ")[1:]]
    scores = [f"{target['scores'][0]['mean']:.4f}" for target in shown(program)]
    assert scores[0] in blocks[0]
    assert scores[0] not in blocks[1], "the figure of the first model is not that of the second"


@pytest.mark.usefixtures("of_two")
def test_they_are_those_of_the_result_files_everywhere(program: Program) -> None:
    (run,) = program.runs
    of_files = {file["model"]: file["figures"] for file in result_files(program)}
    assert {target["model"]: target["figures"] for target in shown(program)} == of_files
    program.run("report", run.name, "-o", "report.html")
    with viewing(program) as viewer:
        pages = {
            "show": program.run("show", run.name).stdout,
            "report": (program.directory / "report.html").read_text(),
            "viewer": viewer.get(f"/runs/{run.name}").text,
        }
    for place, text in pages.items():
        for name in ("turn_1", "turns"):
            assert name in text, place
            value = next(figure["value"] for figure in of_files["good"] if figure["name"] == name)
            assert f"{value:.4f}" in text, place
    assert "Not comparable to published scores:" in pages["show"]


@pytest.mark.usefixtures("of_two")
def test_they_do_not_hold_for_a_run_that_went_on(program: Program) -> None:
    (run,) = program.runs
    assert read_figures(run)
    with (run / TRIALS_FILE).open("ab") as journal:
        journal.write(b"\n")
    assert read_figures(run) == {}
