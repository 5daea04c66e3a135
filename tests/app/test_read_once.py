"""A command reads the journal of a finished run once, and each conversation that it shows once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.app.compare_kit import Made, made, write_run

from benchwright.app.export import export
from benchwright.app.report import ReportSettings, make_report
from benchwright.cli.main import cli
from benchwright.runs.journal import BODIES_FILE, TRIALS_FILE

_opened: Counter[str] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened is not None and isinstance(arguments[0], str | Path):
        _opened[Path(arguments[0]).name] += 1


sys.addaudithook(_note)


@pytest.fixture
def opened() -> Iterator[Counter[str]]:
    """How often files of each name were opened during the test."""
    global _opened
    _opened = Counter()
    yield _opened
    _opened = None


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(write_run(tmp_path / "run", made([1.0, 0.0] * 5)))


def test_a_report(run: str, opened: Counter[str]) -> None:
    opened.clear()
    (part,) = make_report([run], ReportSettings()).runs
    assert (opened[TRIALS_FILE], opened[BODIES_FILE]) == (1, len(part.conversations)) == (1, 10)


def test_a_report_of_two_runs(tmp_path: Path, opened: Counter[str]) -> None:
    runs = [
        str(write_run(tmp_path / name, [Made("0", value), Made("1", 1.0)]))
        for name, value in (("a", 0), ("b", 1))
    ]
    opened.clear()
    make_report(runs, ReportSettings())
    assert opened[TRIALS_FILE] == 2


@pytest.mark.parametrize("what", ["trials", "requests"])
def test_an_export(run: str, tmp_path: Path, opened: Counter[str], what: str) -> None:
    opened.clear()
    assert export(run, what, tmp_path / "out.csv") == 10
    assert (opened[TRIALS_FILE], opened[BODIES_FILE]) == (1, what == "trials")


@pytest.mark.parametrize(("options", "bodies"), [([], 0), (["--json"], 0), (["--row", "3"], 1)])
def test_show(run: str, opened: Counter[str], options: list[str], bodies: int) -> None:
    opened.clear()
    assert CliRunner().invoke(cli, ["show", run, *options]).exit_code == 0
    assert (opened[TRIALS_FILE], opened[BODIES_FILE]) == (1, bodies)
