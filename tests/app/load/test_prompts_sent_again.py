"""Few prompts that are sent many times: how often is told, though the server says nothing of a cache."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, prompts
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.records import LoadReport


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that says nothing of what it takes from a cache."""
    with simulated_endpoint("--policy", "words", "--words", "2") as base_url:
        yield base_url


def told(report: LoadReport) -> list[str]:
    return [note for note in report.notes if note.startswith("Requests sent prompts again")]


def test_how_often_each_was_sent_is_told(program: Program, silent: str) -> None:
    rows = prompts(program, [f"question {number}" for number in range(4)])
    report = measure(program, silent, "--dataset", rows, "--requests", "42", "--concurrency", "2")
    (level,) = report.levels
    assert (level.prompts, level.prompt_most) == (4, 11)
    assert level.prompts_repeated == pytest.approx(38 / 42)
    (note,) = told(report)
    assert "at 2 90 % (4 prompts, each up to 11 times)" in note
    assert level.cached is None, "the server does not say so"


def test_prompts_of_an_earlier_level_are_sent_again(program: Program, silent: str) -> None:
    rows = prompts(program, [f"question {number}" for number in range(12)])
    report = measure(program, silent, "--dataset", rows, "--requests", "12", "--concurrency", "1,2")
    assert [level.prompts_repeated for level in report.levels] == [0, 1]
    (note,) = told(report)
    assert "at 2 100 %." in note
    assert "at 1 " not in note


def test_rows_of_one_text_are_one_prompt(program: Program, silent: str) -> None:
    rows = prompts(program, ["the same question"] * 20)
    report = measure(program, silent, "--dataset", rows, "--requests", "20")
    (level,) = report.levels
    assert level.prompts_repeated == pytest.approx(19 / 20)
    assert told(report)


@pytest.mark.parametrize("kind", ["synthetic", "dataset"])
def test_new_prompts_are_not_spoken_of(program: Program, silent: str, kind: str) -> None:
    rows = prompts(program, [f"question {number}" for number in range(30)])
    given = ("--synthetic-input", "50") if kind == "synthetic" else ("--dataset", rows)
    report = measure(program, silent, *given, "--requests", "30")
    assert report.levels[0].prompts_repeated == 0
    assert not told(report)
