"""What is said of a measurement under load: in the terminal's tables, and in one line about where it is saturated."""

from __future__ import annotations

from io import StringIO

import pytest
from msgspec.structs import replace
from rich.console import Console

from benchwright.analysis.load.figure_records import (
    FigureEstimate,
    Goodput,
    ServerMetricsSummary,
    TimeDistribution,
)
from benchwright.analysis.load.records import LevelResult, LoadLevel, LoadReport, Objective, Saturation
from benchwright.analysis.quality_and_speed.records import OutcomeCounts
from benchwright.reports.terminal import render_load

QUANTILE = FigureEstimate(12.3456, 10.1, None)
SPREAD = TimeDistribution(2000, 12.0, QUANTILE, QUANTILE, QUANTILE)

LARGE = LevelResult(
    LoadLevel(rate=1234.5, arrivals="poisson"),
    "run",
    "finished",
    1_000_000,
    counted=900_000,
    failed=123_456,
    failures={"HTTP 503: \x1b[31mbusy": 123_456},
    seconds=600,
    steady=True,
    offered=1234.5,
    achieved=FigureEstimate(1_012.25, 1_001.5, 1_023.75),
    output_tokens=FigureEstimate(123_456),
    ttft=SPREAD,
    latency=SPREAD,
    itl=SPREAD,
    late=SPREAD,
    goodput=Goodput(1, 2, 0.5, 0.123, 0.987, FigureEstimate(1012.25)),
    judged=OutcomeCounts(
        trials=900_000, correct=500_000, wrong=400_000, accuracy=0.5556, low=0.554, high=0.557
    ),
    in_flight=1024,
    server=ServerMetricsSummary(10, 100.5, 1024, 2000.5, 4096, 0.995, 1234),
)
"""A level with numbers as wide as they get."""

REPORT = LoadReport(
    "load-1", "t", "model", "http://127.0.0.1:9/v1", "some prompts", [Objective("ttft", 0.5)], [LARGE]
)


def shown(report: LoadReport, width: int = 80) -> str:
    console = Console(width=width, file=StringIO(), highlight=False)
    console.print(render_load(report))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_widest_numbers_fit_and_no_cell_is_folded(width: int) -> None:
    text = shown(REPORT, width)
    assert max(map(len, text.splitlines())) <= width
    for cell in (
        "1234.5/s",
        "900,000",
        "123,456",
        "1,012",
        "12,346",
        "10,100–?",
        "50.0 %",
        "0.556",
        "4096",
    ):
        assert cell in text


def test_the_objectives_are_said_in_words() -> None:
    assert "Objectives: TTFT within 500 ms" in shown(REPORT)


def test_reasons_of_failures_cannot_steer_the_terminal() -> None:
    text = shown(REPORT)
    assert "busy" in text
    assert "\x1b" not in text


def test_a_client_that_was_the_limit_is_told_loudly() -> None:
    bound = replace(LARGE, client_bound="our loop was 50 ms late (p99)")
    text = " ".join(shown(replace(REPORT, levels=[bound])).split())
    assert "1234.5/s!" in text
    assert "TIMINGS INVALID where marked !: at 1234.5/s our loop was 50 ms late (p99)." in text
    assert "the client was the limit" not in text
    limited = replace(bound, client_limited=True)
    text = " ".join(shown(replace(REPORT, levels=[limited])).split())
    assert "So are the rates at 1234.5/s: the client was the limit, not the server." in text


def test_a_limit_of_requests_in_flight_that_was_reached_is_told() -> None:
    text = " ".join(shown(replace(REPORT, levels=[replace(LARGE, limit_reached=True)])).split())
    assert "all 1,024 requests that may be in flight were" in text
    assert "--max-in-flight" in text


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            Saturation(
                True, "requests/s", 0.1, LoadLevel(concurrency=6), 50.1, LoadLevel(concurrency=8), 47.6
            ),
            "Saturated from 6 in flight on: 50.10 requests/s; with 8 it is 47.60 (-5 %).",
        ),
        (
            Saturation(True, "requests/s", 0.1, LoadLevel(concurrency=6), 50.1),
            "Saturated from 6 in flight on: 50.10 requests/s, the most that was found.",
        ),
        (
            Saturation(False, "requests/s", 0.1, reason="the sweep was interrupted"),
            "Saturation was not found: the sweep was interrupted.",
        ),
    ],
)
def test_saturation_of_a_closed_loop_is_one_line(found: Saturation, told: str) -> None:
    closed = replace(LARGE, level=LoadLevel(concurrency=6))
    assert told in " ".join(shown(replace(REPORT, levels=[closed], saturation=found)).split())


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            Saturation(True, "requests/s", 0.1, LoadLevel(rate=8), 8.0, LoadLevel(rate=12), 10.0),
            "The server keeps up with 8/s, and no longer with 12/s (10.00 requests/s).",
        ),
        (
            Saturation(True, "requests/s", 0.1, None, None, LoadLevel(rate=1), 0.4),
            "Saturated below the lowest rate: the server did not keep up with 1/s (0.40 requests/s).",
        ),
        (
            Saturation(
                True,
                "requests/s within the objectives",
                0.1,
                LoadLevel(rate=8),
                8.0,
                LoadLevel(rate=12),
                1.0,
                True,
            ),
            "The times that decide this are not valid: measure again on a quieter machine.",
        ),
    ],
)
def test_saturation_of_an_open_loop_says_what_is_kept_up_with(found: Saturation, told: str) -> None:
    assert told in " ".join(shown(replace(REPORT, saturation=found)).split())


def test_levels_without_streaming_scores_or_metrics_have_no_columns_for_them() -> None:
    bare = replace(LARGE, ttft=None, itl=None, goodput=None, judged=None, server=None)
    text = shown(replace(REPORT, levels=[bare], objectives=[]))
    for absent in ("TTFT", "goodput", "accuracy", "server", "per token"):
        assert absent not in text


def test_a_measurement_without_levels_is_its_title() -> None:
    assert shown(replace(REPORT, levels=[], objectives=[])).strip() == "model under load: some prompts"


def test_answers_that_all_came_after_the_window_are_answers() -> None:
    assert replace(LARGE, counted=20, failed=0, achieved=0.0).answered_requests == 20
    assert replace(LARGE, counted=20, failed=20).answered_requests == 0
