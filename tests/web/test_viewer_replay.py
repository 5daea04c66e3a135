"""A pack's run played again in the browser: the matrix as it was after each event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.pack_kit import Packs
from tests.simulated import simulated_endpoint
from tests.web.test_hostile_text import TEXTS
from tests.web.web_kit import Viewing, mixed_run, troubles_everywhere, viewing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    """A viewer over the run of a pack of four scenarios for two models, and a run of no pack."""
    packs = Packs(shared_program)
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url, "--mode", "serial", models=("m", "n"))
    mixed_run(shared_program)
    with viewing(shared_program) as viewer:
        yield viewer


def run_of(viewer: Viewing) -> Path:
    """The run of the pack."""
    return next(one for one in viewer.program.runs if (one / "rendered").exists())


@pytest.fixture
def page(viewer: Viewing, chromium: Browser) -> Iterator[Page]:
    """The replay of the pack's run, reached as a person does; nothing on it may go wrong."""
    with viewer.browser(chromium) as watched:
        viewer.open(watched.page, f"/runs/{run_of(viewer).name}")
        watched.page.get_by_role("link", name="Replay this run").click()
        expect(watched.page.locator("[data-player]")).to_be_visible()
        yield watched.page
        assert watched.troubles == []


def words(page: Page) -> list[str]:
    """The words of all cells, row by row."""
    return page.locator("[data-matrix] [data-word]").all_inner_texts()


def go_to(page: Page, event: int) -> None:
    page.locator("[data-slider]").fill(str(event))


def test_before_the_first_event_nothing_has_happened(page: Page) -> None:
    assert words(page) == ["not yet"] * 8
    expect(page.locator("[data-events] li:visible")).to_have_count(0)


def test_the_slider_goes_to_any_moment_forth_and_back(page: Page) -> None:
    go_to(page, 3)
    assert words(page) == ["Asking."] + ["not yet"] * 7
    expect(page.locator("[data-events] li:visible")).to_have_count(3)
    go_to(page, 4)
    assert words(page)[:2] == ["pass", "not yet"]
    go_to(page, 3)
    assert words(page)[:2] == ["Asking.", "not yet"]


def test_the_last_event_leaves_the_matrix_of_the_run(page: Page) -> None:
    go_to(page, 999)
    assert words(page) == ["pass", "pass", "partial", "partial", "pass", "pass", "fail", "fail"]
    expect(page.locator("[data-events] li").last).to_contain_text("run finished: m 65, n 65")


def test_it_plays_by_itself_until_it_is_paused(page: Page) -> None:
    page.get_by_label("Events a second").select_option("64")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").click()
    stood = page.locator("[data-at]").inner_text()
    page.wait_for_timeout(100)
    assert page.locator("[data-at]").inner_text() == stood
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # it is at its end
    expect(page.locator("[data-at]")).to_have_text(str(page.locator("[data-events] li").count()))


def test_single_steps_go_one_event_on_and_back(page: Page) -> None:
    for _ in range(3):
        page.get_by_role("button", name="One event on").click()
    page.get_by_role("button", name="One event back").click()
    expect(page.locator("[data-at]")).to_have_text("2")


def test_it_can_be_used_by_everyone_everywhere(page: Page) -> None:
    go_to(page, 999)
    assert troubles_everywhere(page) == []


def test_without_javascript_all_events_are_listed(viewer: Viewing) -> None:
    listed = viewer.get(f"/runs/{run_of(viewer).name}/replay").text
    assert "run finished: m 65, n 65" in listed
    assert "<noscript>" in listed


def test_a_run_of_no_pack_has_nothing_to_play(viewer: Viewing) -> None:
    answer = viewer.get("/runs/20260101T000000-mixed-00000000/replay")
    assert (answer.status, "is not a run of a pack" in answer.text) == (404, True)


def test_what_a_pack_wrote_runs_nowhere(viewer: Viewing, chromium: Browser) -> None:
    run = run_of(viewer)
    path = run / "rendered/events.jsonl"
    kept = path.read_bytes()
    model = next(iter(msgspec.json.decode((run / "run.json").read_bytes())["about"]["models"].values()))["id"]
    hostile = [
        event
        for text in TEXTS.values()
        for event in (
            {"type": "model_progress", "modelId": model, "scenarioId": "A-01", "message": text},
            {"type": "scenario_result", "modelId": model, "scenarioId": "A-01",
             "result": {"status": text, "summary": text}},
            {"type": text, "modelId": text, "scenarioId": text},
        )
    ]  # fmt: skip
    path.write_bytes(b"\n".join(map(msgspec.json.encode, hostile)) + b"\n")
    try:
        with viewer.browser(chromium) as watched:
            viewer.open(watched.page, f"/runs/{run.name}/replay")
            for event in range(len(hostile) + 1):
                go_to(watched.page, event)
            assert watched.page.evaluate("window.caught") is None
            assert (
                watched.page.locator("#stolen, main iframe, main script, main style, main img, base").count()
                == 0
            )
            assert watched.troubles == []
    finally:
        path.write_bytes(kept)
