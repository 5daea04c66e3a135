"""`export --format hf`: what is published on a model's page is a result that others can be compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run

from benchwright.records import Status, Target

ABOUT: dict[str, Any] = {"benchmark": "mmlu_pro", "variant": None, "metric": "exact", "departures": []}


def write(program: Program, trials: list[Made], **changes: Any) -> Path:
    settings = {"kind": "benchmark", "about": ABOUT, **changes}
    return write_run(program.home / "runs" / "run-1", trials, **settings)


def export(program: Program) -> Any:
    return program.run("export", "run-1", "--format", "hf", "-o", "out")


def test_a_benchmark_is_one_entry_in_percent(program: Program) -> None:
    write(program, made([1.0, 1.0, 0.0]))
    ended = export(program)
    assert ended.returncode == 0, ended.stderr
    (entry,) = yaml.safe_load(Path(program.directory, "out", ".eval_results", "mmlu_pro.yaml").read_text())
    assert entry["dataset"] == {"id": "TIGER-Lab/MMLU-Pro", "task_id": "mmlu_pro"}
    assert entry["value"] == 66.6667
    assert entry["date"] == "2027-01-15"
    assert "3 samples" in entry["notes"]


def test_failures_are_told_in_its_notes(program: Program) -> None:
    write(program, [*made([1.0, 0.0]), Made("x", failed=Status.EXECUTION_ERROR)])
    export(program)
    (entry,) = yaml.safe_load(Path(program.directory, "out", ".eval_results", "mmlu_pro.yaml").read_text())
    assert "1 of 3 trials failed" in entry["notes"]


def test_each_of_several_models_has_a_folder(program: Program) -> None:
    targets = [Target(slot, slot, "http://127.0.0.1:9/v1") for slot in ("a", "b")]
    write(program, [*made([1.0], slot="a"), *made([0.0], slot="b")], targets=targets)
    assert export(program).returncode == 0
    values = {
        path.parents[1].name: yaml.safe_load(path.read_text())[0]["value"]
        for path in Path(program.directory, "out").rglob("*.yaml")
    }
    assert values == {"a": 100.0, "b": 0.0}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"about": {**ABOUT, "departures": ["only some of the samples"]}}, "only some of the samples"),
        ({"about": {**ABOUT, "benchmark": "mmlu"}}, "not a run of a benchmark"),
        ({"about": {**ABOUT, "variant": "documented"}}, "not a run of a benchmark"),
        ({"kind": "eval", "about": {}}, "not a run of a benchmark"),
        ({"finished": False}, "the run is"),
    ],
)
def test_what_no_leaderboard_could_show_is_refused(
    program: Program, changes: dict[str, Any], reason: str
) -> None:
    write(program, made([1.0, 0.0]), **changes)
    ended = export(program)
    assert ended.returncode == 1
    assert reason in ended.stderr
    assert not Path(program.directory, "out").exists()


def test_simulated_answers_are_refused(program: Program) -> None:
    write(program, made([1.0, 0.0], simulated=True))
    assert "a simulated server answered" in export(program).stderr
