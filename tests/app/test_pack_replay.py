"""`replay`: a pack's run once more, event by event; `pack replay` is the same command."""

from __future__ import annotations

import time
from urllib.request import urlopen

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.pack_kit import Packs, numbered

from benchwright.reports.pack_replay import event_line


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def test_events_come_in_their_order_with_results_and_totals(packs: Packs, echo: str) -> None:
    packs.run(packs.pack("box", numbered(2)), echo, "--mode", "serial", models=("m", "n"))
    ended = packs.program.run("pack", "replay", str(packs.program.only_run))
    lines = ended.stdout.splitlines()
    told = [line.partition(":")[0] for line in lines]
    cells = [f"S-0{number} {name}" for number in (1, 2) for name in ("m", "m", "n", "n")]
    assert told == [
        "run started",
        *("S-01 started (1 of 2)", *cells[:4], "S-01 finished"),
        *("S-02 started (2 of 2)", *cells[4:], "S-02 finished"),
        "run finished",
    ]
    assert lines[2] == "S-01 m: Asking."
    assert lines[3].startswith("S-01 m: pass, 100, ")
    assert lines[3].endswith(", say S-01 please")
    assert ended.stdout.rstrip().endswith("run finished: m 100, n 100")


def test_some_scenarios_alone_are_shown_with_pauses(packs: Packs, echo: str) -> None:
    packs.run(packs.pack("box", numbered(2)), echo)
    begun = time.monotonic()
    ended = packs.program.run("replay", str(packs.program.only_run), "--scenario", "S-02", "--pause", "0.2")
    lines = ended.stdout.splitlines()
    assert {line[:4] for line in lines} == {"S-02"}
    assert time.monotonic() - begun >= 0.2 * len(lines)
    none = packs.program.run("replay", str(packs.program.only_run), "--scenario", "S-99")
    assert "has no such events" in one_line_of(none.stderr)


def test_a_run_of_no_pack_has_no_events(program: Program, echo: str) -> None:
    program.run(*program.evaluating(program.rows(1), echo))
    refused = program.run("replay", str(program.only_run))
    assert "is not a run of a pack: only these have events" in one_line_of(refused.stderr)


def test_the_browser_is_led_to_the_page_that_plays_it(packs: Packs, echo: str) -> None:
    packs.run(packs.pack("box", numbered(1)), echo)
    run = packs.program.only_run.name
    process = packs.program.start("replay", run, "--browser", "--no-open", "--port", "0")
    assert process.stdout is not None
    try:
        with urlopen(process.stdout.readline().strip()) as welcome:
            assert f"/runs/{run}/replay" in welcome.read().decode()
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"type": "run_error", "message": "no\nserver"}, "run ended early: no server"),
        ({"type": "verifier_preparing", "verifierId": "v", "message": "Looking."}, "verifier v: Looking."),
        ({"type": "of_a_later_host"}, "of_a_later_host"),
        (
            {"type": "scenario_result", "scenarioId": "A", "modelId": "x", "result": {"status": "fail"}},
            "A x: fail",
        ),
        ({"type": "run_finished", "scores": {"x": {}}}, "run finished: x without a total"),
        ({"type": "model_progress", "scenarioId": "A", "modelId": "m", "message": "\x1b[2J"}, "A Mine:"),
    ],
)
def test_every_event_is_one_safe_line(event: dict[str, object], line: str) -> None:
    assert event_line(event, {"m": "Mine"}) == line
