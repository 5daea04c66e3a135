"""Energy of a level: from an exporter's metrics, never guessed. The exporter here is simulated, as the server is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from msgspec.structs import replace
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure
from tests.http_server import QuietHandler, served_by
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.energy import energy_of
from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.analysis.load.records import LevelResult, LoadLevel
from benchwright.endpoint.power import PowerReading

WATTS = {"GPU-a": 300.0, "GPU-b": 200.0}
SECOND = 10**9

LEVEL = LevelResult(
    *(LoadLevel(concurrency=4), "run", "finished", 99),
    begin=2.0,
    seconds=10.0,
    achieved=FigureEstimate(5.0),
    input_tokens=FigureEstimate(100.0),
    output_tokens=FigureEstimate(50.0),
)


def readings(every: float = 1.0, seconds: int = 15, counters: bool = True) -> list[PowerReading]:
    """A device of 300 W and one of 200 W, from 0 on; without counters their power swings by as much as it is."""
    moments = [number * every for number in range(int(seconds / every) + 1)]
    if counters:
        return [
            PowerReading(int(at * SECOND), joules={name: w * at for name, w in WATTS.items()})
            for at in moments
        ]
    return [
        PowerReading(int(at * SECOND), watts={name: w * (2 * (n % 2)) for name, w in WATTS.items()})
        for n, at in enumerate(moments)
    ]


@pytest.mark.parametrize("counters", [True, False])
def test_it_is_the_mean_power_over_the_rates(counters: bool) -> None:
    energy = energy_of(LEVEL, readings(counters=counters), 0)
    assert energy is not None
    assert (energy.devices, energy.invalid) == (2, None)
    assert energy.watts == pytest.approx(500)
    assert energy.request == pytest.approx(100)
    assert energy.token == pytest.approx(500 / 150)
    assert energy.output_token == pytest.approx(10)
    assert energy.correct is None


def test_tokens_that_the_server_does_not_report_have_no_energy() -> None:
    energy = energy_of(replace(LEVEL, tokens_told=0.5), readings(), 0)
    assert energy is not None
    assert (energy.token, energy.output_token) == (None, None)
    assert energy.request == pytest.approx(100)


def repeated(found: list[PowerReading]) -> list[PowerReading]:
    """The values of an exporter that renews them every five seconds."""
    return [replace(one, joules=found[number // 5 * 5].joules) for number, one in enumerate(found)]


def without_one_device(found: list[PowerReading]) -> list[PowerReading]:
    return [*found[:6], replace(found[6], joules={"GPU-a": 1800.0}), *found[7:]]


def from_the_middle(found: list[PowerReading]) -> list[PowerReading]:
    return found[5:]


def anew(found: list[PowerReading]) -> list[PowerReading]:
    return [*found[:6], *(replace(one, joules=found[at].joules) for at, one in enumerate(found[6:]))]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (repeated, "only every 5 s"),
        (without_one_device, "not all devices"),
        (from_the_middle, "nothing new for a part"),
        (anew, "an energy counter fell"),
    ],
)
def test_what_is_not_known_of_the_whole_window_is_not_given(
    change: Callable[[list[PowerReading]], list[PowerReading]], why: str
) -> None:
    energy = energy_of(LEVEL, change(readings()), 0)
    assert energy is not None
    assert energy.invalid is not None
    assert why in energy.invalid
    assert (energy.watts, energy.request, energy.token) == (None, None, None)


@contextmanager
def exporter(renewed: float = 0.1) -> Iterator[str]:
    """Devices that draw WATTS, whose counters are renewed every so many seconds."""
    began = time.monotonic()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            passed = (time.monotonic() - began) // renewed * renewed
            lines = (
                f'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{UUID="{name}"}} {watts * passed * 1000:.0f}\n'
                for name, watts in WATTS.items()
            )
            self.answer(200, "".join(lines).encode(), "text/plain")

    with served_by(Handler) as address:
        yield f"{address}/metrics"


LOAD = ("--synthetic-input", "8", "--synthetic-output", "8", "--rate", "20", "--duration", "4")


def test_a_level_has_the_power_that_the_exporter_reports(program: Program) -> None:
    with simulated_endpoint() as url, exporter() as metrics:
        (level,) = measure(program, url, *LOAD, "--energy-url", metrics).levels
    energy = level.energy
    assert energy is not None
    assert energy.watts == pytest.approx(500, rel=0.1)
    assert level.achieved is not None
    assert energy.request == pytest.approx((energy.watts or 0) / level.achieved.value)


def test_an_exporter_that_is_slow_or_not_there_costs_a_line_and_no_run(program: Program) -> None:
    command = ("load", "--model", "m", *LOAD)
    with simulated_endpoint() as url, exporter(renewed=30) as metrics:
        slow = program.run(*command, "--base-url", url, "--energy-url", metrics)
        gone = program.run(*command, "--base-url", url, "--energy-url", "http://127.0.0.1:9/metrics")
    assert (slow.returncode, gone.returncode) == (0, 0)
    assert "NO ENERGY FIGURES: at 20/s the devices reported nothing new" in " ".join(slow.stdout.split())
    assert "Figures of energy are left out" in gone.stderr
