"""docs/compare.md: every command in it runs as written, and so does its Python."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, paired_outcomes, write_run

from benchwright.records import Target

DOCUMENT = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
COMMANDS = "".join(re.findall(r"^```bash\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)).splitlines()
(PYTHON,) = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(program: Program) -> Program:
    """Two runs and two result files, of which the second is better by 3.1 points; and a run with repeats."""
    sides = paired_outcomes(wins=60, losses=29, both=600, neither=311)
    names = ("20261120T090000-questions-1", "main"), ("20261121T100000-questions-2", "branch")
    for (run, file), outcomes in zip(names, sides, strict=True):
        write_run(program.home / "runs" / run, made(outcomes, latency=0.5))
        samples = [{"id": str(number), "correct": bool(one)} for number, one in enumerate(outcomes)]
        document = {"benchmark": "mmlu", "model": file, "sample_results": samples}
        program.write(f"{file}.json", json.dumps(document))
    repeated = [Made(str(n), float(n % 3 > repeat), repeat=repeat) for n in range(9) for repeat in range(2)]
    target = Target("primary", "my-model", "http://127.0.0.1:9/v1")
    write_run(program.home / "runs" / "20261122T100000-questions-3", repeated, targets=[target], repeats=2)
    return program


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_runs_as_written(line: str, place: Program) -> None:
    ended = place.run(*shlex.split(line)[1:])
    assert ended.returncode == 0, ended.stderr
    if " compare main.json" in line and "--json" not in line:
        assert "branch is better than main by 3.1 points (95 % 1.2 to 4.9), p < 0.001." in ended.stdout


def test_the_second_example_comes_out_as_shown(place: Program) -> None:
    sides = paired_outcomes(wins=30, losses=26, both=600, neither=344)
    for name, outcomes in zip(("main", "branch"), sides, strict=True):
        target = Target("primary", name, "http://127.0.0.1:9/v1")
        write_run(place.directory / name, made(outcomes), targets=[target])
    printed = " ".join(place.run("compare", "./main", "./branch").stdout.split())
    (shown,) = re.findall(r"^No difference found .*$", DOCUMENT, re.MULTILINE)
    assert printed.startswith(shown)


def test_the_differences_by_label_come_out_as_shown(place: Program) -> None:
    for name, right in (("a", (10, 9, 5)), ("b", (5, 10, 15))):
        groups = zip(("physics", "history", "law"), right, strict=True)
        trials = [
            Made(f"{group} {n}", float(n < count), group=group) for group, count in groups for n in range(15)
        ]
        write_run(place.directory / name, trials)
    (shown,) = re.findall(r"^exact by group .*?(?=```)", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert shown in place.run("compare", "./a", "./b", "--details").stdout


def test_the_python_runs_as_written(place: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(place.home))
    names: dict[str, list[object]] = {}
    exec(PYTHON, names)
    assert names["slow"] == []
    assert sum(1 for value in names["means"] if value) == 660
    assert len(names["table"]) == 1000
