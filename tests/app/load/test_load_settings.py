"""What a user may say of a load, and what is refused with a line that says why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchwright.analysis.load.records import Level, Objective
from benchwright.app.load.levels import due_times, read_trace
from benchwright.app.load.settings import LoadSettings, chosen_levels, cut_of, objectives
from benchwright.errors import UserError
from benchwright.stats.windows import Cut


def test_concurrencies_are_levels_of_a_closed_loop() -> None:
    levels = chosen_levels(LoadSettings(levels=(1, 4)))
    assert levels == [Level(concurrency=1), Level(concurrency=4)]
    assert chosen_levels(LoadSettings()) == [Level(concurrency=1)]


def test_rates_are_levels_of_an_open_loop_of_poisson_arrivals_unless_said_otherwise() -> None:
    assert chosen_levels(LoadSettings(rates=(2.5,))) == [Level(rate=2.5, arrivals="poisson")]
    constant = LoadSettings(rates=(2,), arrivals="constant")
    assert chosen_levels(constant) == [Level(rate=2, arrivals="constant")]


def test_a_trace_is_one_level(tmp_path: Path) -> None:
    assert chosen_levels(LoadSettings(trace=tmp_path / "t")) == [Level(arrivals="trace")]


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
        ("itl=50ms", Objective("itl", 0.05)),
        ("tpot=0.05", Objective("itl", 0.05)),
    ],
)
def test_objectives_have_the_names_and_units_of_the_field(text: str, objective: Objective) -> None:
    (found,) = objectives(LoadSettings(slo=(text,)))
    assert found.measure == objective.measure
    assert found.seconds == pytest.approx(objective.seconds)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slo": ("ttft",)}, "use ttft=S"),
        ({"slo": ("speed=1",)}, "use ttft=S"),
        ({"slo": ("ttft=-1",)}, "use ttft=S"),
        ({"slo": ("itl=1", "tpot=2")}, "Two objectives"),
        ({"slo": ("ttft=1",), "stream": False}, "needs streaming"),
    ],
)
def test_what_is_no_objective_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        objectives(LoadSettings(**given))


def test_a_cut_is_a_number_of_requests_or_a_time() -> None:
    assert cut_of("20", "--warmup", Cut()) == Cut(requests=20)
    assert cut_of("5s", "--warmup", Cut()) == Cut(seconds=5)
    assert cut_of("500ms", "--warmup", Cut()) == Cut(seconds=0.5)
    assert cut_of(None, "--warmup", Cut(requests=3)) == Cut(requests=3)
    with pytest.raises(UserError, match="--warmup '5x' is neither"):
        cut_of("5x", "--warmup", Cut())


def test_a_trace_is_read_line_by_line_and_begins_at_0(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("# seconds\n10.5\n\n10.5\n12\n")
    assert read_trace(path) == [0, 0, 1.5]
    due = due_times(Level(arrivals="trace"), LoadSettings(trace=path, requests=2))
    assert due == [0, 0]


@pytest.mark.parametrize(
    ("text", "told"),
    [("1\nsoon\n", "line 2: 'soon'"), ("2\n1\n", "arrival 2"), ("", "no arrivals"), (None, "Cannot read")],
)
def test_a_trace_that_is_none_is_refused(tmp_path: Path, text: str | None, told: str) -> None:
    path = tmp_path / "trace.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=told):
        read_trace(path)


def test_requests_and_duration_both_end_the_arrivals() -> None:
    level = Level(rate=10, arrivals="constant")
    assert due_times(level, LoadSettings(duration=0.45)) == [0, 0.1, 0.2, 0.3, 0.4]
    assert due_times(level, LoadSettings(requests=3)) == [0, 0.1, 0.2]
    assert due_times(level, LoadSettings(requests=3, duration=0.15)) == [0, 0.1]
    assert len(due_times(level, LoadSettings()) or []) == 300
    assert due_times(Level(concurrency=1), LoadSettings()) is None


def test_a_rate_at_which_nobody_comes_in_time_is_refused() -> None:
    with pytest.raises(UserError, match="no request arrives"):
        due_times(Level(rate=0.001, arrivals="poisson"), LoadSettings(duration=0.001))


def test_as_many_connections_are_allowed_as_the_system_lets_us_have() -> None:
    """In a process of its own, since the limit is one of the process."""
    program = (
        "import resource\n"
        "from benchwright.app.load.levels import allow_connections\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 300))\n"
        "allow_connections(150, print)\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
        "allow_connections(1024, print)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [
        "250",
        "Only 200 requests can be in flight (ulimit -n is 300); more will fail.",
    ]
