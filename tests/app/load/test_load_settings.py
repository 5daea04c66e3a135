"""What a user may say of a load, and what is refused with a line that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright.analysis.load.records import LoadLevel, Objective
from benchwright.app.load.levels import due_times
from benchwright.app.load.replay.workload import find_trace
from benchwright.app.load.settings import LoadSettings, chosen_levels, parse_objectives, parse_window_trim
from benchwright.data.traces.records import Conversation, Trace, TracedRequest
from benchwright.errors import UserError
from benchwright.stats.windows import WindowTrim


def test_concurrencies_are_levels_of_a_closed_loop() -> None:
    levels = chosen_levels(LoadSettings(levels=(1, 4)))
    assert levels == [LoadLevel(concurrency=1), LoadLevel(concurrency=4)]
    assert chosen_levels(LoadSettings()) == [LoadLevel(concurrency=1)]


def test_rates_are_levels_of_an_open_loop_of_poisson_arrivals_unless_said_otherwise() -> None:
    assert chosen_levels(LoadSettings(rates=(2.5,))) == [LoadLevel(rate=2.5, arrivals="poisson")]
    constant = LoadSettings(rates=(2,), arrivals="constant")
    assert chosen_levels(constant) == [LoadLevel(rate=2, arrivals="constant")]


def test_a_trace_is_one_level(tmp_path: Path) -> None:
    assert chosen_levels(LoadSettings(trace=tmp_path / "t")) == [LoadLevel(arrivals="trace")]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rates": (1,), "levels": (1,)}, "cannot be combined"),
        ({"rates": (0,)}, "above 0"),
        ({"levels": (0,)}, "1 or more"),
        ({"arrivals": "constant"}, "requires --rate"),
        ({"arrivals": "trace"}, "needs --trace"),
        ({"trace": Path("t"), "rates": (1,)}, "sets the load itself"),
        ({"levels": (1, 2), "sweep": True}, "give one"),
    ],
)
def test_levels_that_contradict_each_other_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        chosen_levels(LoadSettings(**given))


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("ttft=0.5", Objective("ttft", 0.5)),
        ("TTFT=500ms", Objective("ttft", 0.5)),
        ("latency=10s", Objective("latency", 10)),
        ("e2el=10", Objective("latency", 10)),
        ("ttft=500s", Objective("ttft", 500)),
        ("itl=50ms", Objective("itl", 0.05)),
        ("tpot=0.05", Objective("itl", 0.05)),
    ],
)
def test_objectives_have_the_names_and_units_of_the_field(text: str, objective: Objective) -> None:
    (found,) = parse_objectives((text,), stream=True)
    assert found.measure == objective.measure
    assert found.seconds == pytest.approx(objective.seconds)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slo": ("ttft",)}, "use ttft=S"),
        ({"slo": ("speed=1",)}, "use ttft=S"),
        ({"slo": ("ttft=-1",)}, "use ttft=S"),
        ({"slo": ("itl=1", "tpot=2")}, "Two objectives"),
        ({"slo": ("ttft=500",)}, "write ttft=500ms, or ttft=500s"),
        ({"slo": ("tpot=50",)}, "write tpot=50ms"),
        ({"slo": ("ttft=1",), "stream": False}, "needs streaming"),
    ],
)
def test_what_is_no_objective_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        parse_objectives(given["slo"], stream=given.get("stream", True))


def test_a_cut_is_a_number_of_requests_or_a_time() -> None:
    assert parse_window_trim("20", "--warmup", WindowTrim()) == WindowTrim(requests=20)
    assert parse_window_trim("5s", "--warmup", WindowTrim()) == WindowTrim(seconds=5)
    assert parse_window_trim("500ms", "--warmup", WindowTrim()) == WindowTrim(seconds=0.5)
    assert parse_window_trim(None, "--warmup", WindowTrim(requests=3)) == WindowTrim(requests=3)
    with pytest.raises(UserError, match="--warmup '5x' is neither"):
        parse_window_trim("5x", "--warmup", WindowTrim())


def trace(*at: float | None) -> Trace:
    return Trace("times", [Conversation(str(place), [TracedRequest()], one) for place, one in enumerate(at)])


def test_the_arrivals_of_a_trace_are_scaled_and_end_with_the_duration() -> None:
    level = LoadLevel(arrivals="trace")
    given = LoadSettings(trace=Path("t"), dataset=Path("d"))
    assert due_times(level, given, trace(0, 3, 9)) == [0, 3, 9]
    assert due_times(level, given.model_copy(update={"speed": 3.0}), trace(0, 3, 9)) == [0, 1, 3]
    faster = given.model_copy(update={"speed": 3.0, "duration": 2.0})
    assert due_times(level, faster, trace(0, 3, 9)) == [0, 1]


def test_conversations_without_moments_take_a_load_like_other_prompts() -> None:
    given = LoadSettings(trace=Path("t"), levels=(2, 4))
    assert chosen_levels(given, timed=False) == [LoadLevel(concurrency=2), LoadLevel(concurrency=4)]
    rate = LoadSettings(trace=Path("t"), rates=(2.0,), arrivals="constant")
    (level,) = chosen_levels(rate, timed=False)
    assert due_times(level, rate, trace(None, None, None)) == [0, 0.5, 1]
    with pytest.raises(UserError, match="does not say when its conversations begin"):
        chosen_levels(LoadSettings(trace=Path("t"), dataset=Path("d")), timed=False)


@pytest.mark.parametrize("option", ["speed", "block_size", "max_think"])
def test_options_of_a_trace_need_one(option: str) -> None:
    with pytest.raises(UserError, match=f"--{option.replace('_', '-')} needs --trace"):
        find_trace(LoadSettings.model_validate({option: 8}))


def test_a_trace_that_is_neither_a_file_nor_a_run_is_refused() -> None:
    with pytest.raises(UserError, match="Cannot read the trace nothing: there is no such file"):
        find_trace(LoadSettings(trace=Path("nothing")))


def test_requests_and_duration_both_end_the_arrivals() -> None:
    level = LoadLevel(rate=10, arrivals="constant")
    assert due_times(level, LoadSettings(duration=0.45)) == [0, 0.1, 0.2, 0.3, 0.4]
    assert due_times(level, LoadSettings(requests=3)) == [0, 0.1, 0.2]
    assert due_times(level, LoadSettings(requests=3, duration=0.15)) == [0, 0.1]
    assert len(due_times(level, LoadSettings()) or []) == 300
    assert due_times(LoadLevel(concurrency=1), LoadSettings()) is None


def test_a_rate_at_which_nobody_comes_in_time_is_refused() -> None:
    with pytest.raises(UserError, match="no request arrives"):
        due_times(LoadLevel(rate=0.001, arrivals="poisson"), LoadSettings(duration=0.001))
