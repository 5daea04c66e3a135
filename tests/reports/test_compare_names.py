"""The sides of a comparison are called by their models wherever these tell them apart, and by letters elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import made, paired_outcomes, write_run
from tests.rendered import as_text
from tests.web.web_kit import viewing

from benchwright.analysis.comparison.compare import compare
from benchwright.analysis.comparison.records import Comparison
from benchwright.app.report import ReportSettings, make_report
from benchwright.records import Target
from benchwright.reports.comparison.junit import render_junit
from benchwright.reports.comparison.markdown import render_markdown
from benchwright.reports.html.page import render_report
from benchwright.reports.terminal import render_comparison_answer

VERDICT = "glm-4.5 is better than qwen3:8b by 50.0 points"


def of_models(place: Path, *models: str) -> list[Path]:
    """Runs of these models, each of which after the first is right where the first is not."""
    outcomes = paired_outcomes(10, 0, 5, 5)
    return [
        write_run(
            place / f"20260101T00000{number}-names-00000000",
            made(outcomes[min(number, 1)]),
            targets=[Target("primary", model, "http://127.0.0.1:9/v1")],
        )
        for number, model in enumerate(models)
    ]


def compared(*runs: Path) -> Comparison:
    return compare([str(run) for run in runs]).comparison


def test_the_terminal_markdown_and_junit_say_the_models_names(tmp_path: Path) -> None:
    found = compared(*of_models(tmp_path, "qwen3:8b", "glm-4.5"))
    shown = as_text(render_comparison_answer(found))
    assert VERDICT in shown
    assert "exact: 10 trials won, 0 lost." in shown
    shown = as_text(render_comparison_answer(found, details=True))
    assert "glm-4.5 − qwen3:8b" in shown
    assert "answer of qwen3:8b  answer of glm-4.5" in shown
    assert VERDICT in render_markdown(found)
    assert "glm-4.5 against qwen3:8b" in render_junit(found).decode()
    for text in (shown, render_markdown(found)):
        assert " B " not in text


def test_the_report_says_them(tmp_path: Path) -> None:
    runs = of_models(tmp_path, "qwen3:8b", "glm-4.5")
    page = render_report(make_report([str(run) for run in runs], ReportSettings()))
    assert VERDICT in page
    assert '<span class="chip s1">glm-4.5</span>' in page
    assert ">B<" not in page


def test_the_viewer_says_them(tmp_path: Path) -> None:
    program = Program(tmp_path)
    a, b = (run.name for run in of_models(program.home / "runs", "qwen3:8b", "glm-4.5"))
    with viewing(program) as viewer:
        result = viewer.get(f"/compare?a={a}&b={b}&part=result").text
        sample = viewer.get(f"/compare/sample?a={a}&b={b}&id=0").text
    program.end()
    assert VERDICT in result
    assert '<span class="chip s0">qwen3:8b</span>' in result
    assert ">glm-4.5</h2>" in sample


@pytest.mark.parametrize(
    "models",
    [
        ("same", "same"),
        ("short", "organization/a-model-of-a-long-name"),
        ("one", "<b>two</b>"),
        ("one", "www.two.example"),
        ("one", "https://two.example"),
        ("one", "@two"),
        ("one", "two | three"),
    ],
)
def test_names_that_are_alike_long_or_would_be_markup_are_letters_with_a_legend(
    models: tuple[str, str], tmp_path: Path
) -> None:
    found = compared(*of_models(tmp_path, *models))
    shown = as_text(render_comparison_answer(found))
    assert "B is better than A by 50.0 points" in shown
    legend = [line.split()[:2] for line in shown.splitlines() if line.startswith(("A  ", "B  "))][:2]
    assert legend == [[letter, model.split()[0]] for letter, model in zip("AB", models, strict=True)]


def test_notes_say_the_names_that_the_verdict_says(tmp_path: Path) -> None:
    runs = of_models(tmp_path, "qwen3:8b", "glm-4.5")
    unfinished = runs[1] / "trials.jsonl"
    unfinished.write_bytes(b"".join(unfinished.read_bytes().splitlines(keepends=True)[:-1]))
    assert "glm-4.5 is unfinished: only its finished trials are compared" in as_text(
        render_comparison_answer(compared(*runs))
    )


def test_json_has_letters_and_names(tmp_path: Path) -> None:
    found = compared(*of_models(tmp_path, "qwen3:8b", "glm-4.5"))
    assert [(run.letter, run.name) for run in found.runs] == [("A", "qwen3:8b"), ("B", "glm-4.5")]
    assert [(pair.a, pair.b) for pair in found.pairs] == [("A", "B")]
