"""What a level costs, and what the machine can measure."""

from __future__ import annotations

import json

import msgspec
import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import key, measure
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.costs import cost_of
from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.analysis.load.records import LevelResult, LoadLevel, SelfTest, ServerPrice
from benchwright.app.load.self_test import capacity_warnings
from benchwright.app.load.settings import LoadSettings, price_of, window_bounds
from benchwright.errors import UserError

LEVEL = LevelResult(
    LoadLevel(concurrency=4),
    "run",
    "finished",
    99,
    achieved=FigureEstimate(10.0),
    input_tokens=FigureEstimate(1000.0),
    output_tokens=FigureEstimate(250.0),
)


def test_by_the_hour_a_token_costs_the_less_the_more_there_are() -> None:
    cost = cost_of(LEVEL, ServerPrice(hour=3.6))
    assert cost is not None
    assert cost.hour == pytest.approx(3.6)
    assert cost.tokens == pytest.approx(0.001 / 1250 * 1e6)
    assert cost.output_tokens == pytest.approx(4.0)
    assert cost.correct is None


def test_by_tokens_an_hour_costs_what_is_served_in_it() -> None:
    cost = cost_of(LEVEL, ServerPrice(0.5, 2.0))
    assert cost is not None
    assert cost.hour == pytest.approx((1000 * 0.5 + 250 * 2.0) / 1e6 * 3600)


def test_without_told_tokens_or_a_rate_nothing_is_invented() -> None:
    from msgspec.structs import replace

    assert cost_of(replace(LEVEL, output_tokens=None), ServerPrice(0.5, 2.0)) is None
    assert cost_of(replace(LEVEL, tokens_told=0.5), ServerPrice(0.5, 2.0)) is None
    assert cost_of(replace(LEVEL, achieved=None), ServerPrice(hour=1.0)) is None
    hourly = cost_of(replace(LEVEL, output_tokens=None), ServerPrice(hour=3.6))
    assert hourly is not None
    assert hourly.tokens is None


def test_a_correct_answer_has_its_price(tmp_path_factory: pytest.TempPathFactory) -> None:
    program = Program(tmp_path_factory.mktemp("price"))
    with simulated_endpoint("--first-token", "20", "--accuracy", "0.5", answers=key(20)) as url:
        report = measure(
            *(program, url, "--dataset", program.rows(20), "--scorer", "exact", "--requests", "40"),
            *("--price", "3.6/h"),
        )
    (level,) = report.levels
    assert level.cost is not None
    assert level.achieved is not None
    assert level.cost.correct == pytest.approx(0.001 / (level.achieved.value * 0.5))


@pytest.mark.parametrize("text", ["1", "1,2,3", "-1,2", "x/h", "nan,1", "m="])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--price"):
        price_of((text,), "m")


def test_a_model_has_its_own_price_before_that_of_all() -> None:
    prices = ("2/h", "org/m=1,2")
    assert price_of(prices, "org/m") == ServerPrice(1, 2)
    assert price_of(prices, "other") == ServerPrice(hour=2)


@pytest.mark.parametrize("text", ["10", "10:5", "a:b", ":5"])
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--window"):
        window_bounds(LoadSettings(window=text).load)


def test_a_window_and_a_warm_up_exclude_each_other() -> None:
    with pytest.raises(UserError, match="remove --warmup"):
        window_bounds(LoadSettings(window="1:2", warmup="3").load)


def test_levels_beyond_the_machine_are_named_in_advance() -> None:
    found = SelfTest(1000.0, 9000.0, 0.0001, 0.001)
    levels = [LoadLevel(rate=rate, arrivals="poisson") for rate in (500.0, 2000.0)]
    (told,) = capacity_warnings(found, [*levels, LoadLevel(concurrency=64)])
    assert told.startswith("2000/s is beyond")


@pytest.mark.slow
def test_the_self_test_alone_says_what_the_machine_can_measure(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    program = Program(tmp_path_factory.mktemp("self"))
    ended = program.run("load", "--self-test", "--json")
    assert ended.returncode == 0, ended.stderr
    found = msgspec.json.decode(ended.stdout, type=SelfTest)
    assert found.requests > 100
    assert found.chunks > 1000
    assert abs(found.ttft_error_p50) < 0.05
    assert not (program.home / "runs").exists(), "its runs are thrown away"


@pytest.mark.slow
def test_before_levels_it_is_said_and_kept(program: Program) -> None:
    with simulated_endpoint() as url:
        ended = program.run(
            *("load", "--model", "m", "--base-url", url, "--synthetic-input", "8", "--rate", "20"),
            *("--requests", "10", "--self-test", "--json"),
        )
    assert ended.returncode == 0, ended.stderr
    assert "This machine can measure" in ended.stderr
    assert json.loads(ended.stdout)["self_test"]["requests"] > 100
