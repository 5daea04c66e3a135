"""What the documented reports print."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from benchwright.agents.runners.reports import (
    format_bench_report,
    format_duration,
    format_eval_report,
    format_tokens,
)
from benchwright.agents.runners.results import EvalEvalSummary, EvalModelSummary, EvalResult


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        *((0, "0ms"), (26.4, "26ms"), (999.4, "999ms"), (999.6, "1.0s"), (6_200, "6.2s")),
        *((59_940, "59.9s"), (59_960, "1m0.0s"), (192_400, "3m12.4s"), (3_599_990, "60m0.0s")),
    ],
)
def test_durations_change_their_unit_at_a_second_and_at_a_minute(ms: float, text: str) -> None:
    assert format_duration(ms) == text


def test_tokens_have_commas() -> None:
    assert format_tokens(625000) == "625,000"


def result(**more: object) -> EvalResult:
    summary = EvalEvalSummary(0.72, 0.45, 0.0, 1.0, {1: 0.72, 3: 0.9417})
    return EvalResult([], {"rewards:exact": summary}, 100, 500, 625_000, 230_500.0, 5, 0.5, **more)  # type: ignore[arg-type]


def printed(write: object, *arguments: object) -> list[str]:
    """The lines, with single spaces."""
    console = Console(file=io.StringIO(), width=120)
    write(arguments[0], console, *arguments[1:])  # type: ignore[operator]
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_totals_come_first_and_then_a_line_for_each_eval_function() -> None:
    lines = printed(format_bench_report, result())
    assert lines[:6] == [
        "Benchmark Results:",
        "Rows: 100",
        "Runs per row: 5",
        "Total runs: 500",
        "Duration: 3m50.5s",
        "Total tokens: 625,000",
    ]
    assert "Eval Function Mean Std Min Max pass@1 pass@3" in lines
    assert "rewards:exact 0.720 0.450 0.000 1.000 72.0% 94.2%" in lines


def test_an_evaluation_names_its_model() -> None:
    lines = printed(format_eval_report, result(), "my-org/mine")
    assert lines[0] == "Evaluation Results:"
    assert "rewards:exact my-org/mine 0.720 0.450 0.000 1.000 72.0% 94.2%" in lines


def test_two_models_of_one_name_are_told_apart() -> None:
    summaries = [
        EvalModelSummary("mine", tag, {"rewards:exact": EvalEvalSummary(mean)}, 500, 0, 0.0)
        for tag, mean in (("primary", 0.75), ("baseline", 0.25))
    ]
    lines = printed(format_eval_report, result(model_summaries=summaries))
    assert "rewards:exact mine (primary) 0.750 0.000 0.000 0.000" in lines
    assert "rewards:exact mine (baseline) 0.250 0.000 0.000 0.000" in lines


def test_the_reason_for_stopping_is_said_as_it_is() -> None:
    lines = printed(format_eval_report, result(stopped_early=True, stop_reason="[/b] refused the key"))
    assert "Stopped early: [/b] refused the key" in lines


def test_without_eval_functions_there_is_nothing_to_show() -> None:
    empty = EvalResult([], {}, 1, 1, 0, 0.0, 1, 1.0)
    assert printed(format_bench_report, empty)[-1] == "No eval results."
