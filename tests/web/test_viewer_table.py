"""The leaderboard in a real browser: what it shows is what `table` says, and its order is a link away."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.compare_kit import made
from tests.web.web_kit import Viewing, viewing, write

from benchwright.records import Target

MODELS = {"small": (8, 1.0), "middle": (12, 3.0), "large": (19, 2.0)}


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    """Three models on the same twenty questions; the slowest is not the best."""
    for model, (right, seconds) in MODELS.items():
        write(
            shared_program,
            f"20260101T000000-questions-{model}",
            made([float(n < right) for n in range(20)], latency=seconds),
            name=f"questions-{model}",
            targets=[Target("primary", model, "http://127.0.0.1:9/v1")],
        )
    with viewing(shared_program) as viewer:
        yield viewer


@pytest.fixture
def page(viewer: Viewing, chromium: Browser) -> Iterator[Page]:
    with viewer.browser(chromium) as watched:
        yield watched.page
        assert watched.troubles == []


def models(page: Page) -> list[str]:
    return page.locator("table.board td.model").all_inner_texts()


def test_rows_and_figures_are_those_of_the_command(viewer: Viewing, page: Page) -> None:
    told = json.loads(viewer.program.run("table", "--json").stdout)
    viewer.open(page, "/table")
    assert models(page) == [row["model"] for row in told["rows"]]
    for row, shown in zip(told["rows"], page.locator("table.board tbody tr").all(), strict=True):
        (cell,) = row["cells"]
        expect(shown).to_contain_text(f"{cell['mean']:.3f} [{cell['low']:.3f}, {cell['high']:.3f}]")


def test_a_heading_sorts_and_a_mean_leads_to_its_run(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/table")
    page.get_by_role("link", name="Model", exact=True).click()
    page.wait_for_function("() => !document.querySelector('[data-deferred]')")
    assert models(page) == ["large", "middle", "small"]
    page.locator("table.board a.mean").first.click()
    expect(page).to_have_url(f"{viewer.base}/runs/20260101T000000-questions-large")


def test_words_choose_the_runs(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/table?q=middle")
    assert models(page) == ["middle"]
    viewer.open(page, "/table?q=none-such")
    expect(page.locator("main")).to_contain_text("No runs match.")


def test_ticked_runs_of_the_list_become_a_leaderboard(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/")
    for model in ("small", "large"):
        page.locator(f'input[value="20260101T000000-questions-{model}"]').check()
    page.get_by_role("button", name="Leaderboard").click()
    page.wait_for_url("**/table?*")
    page.wait_for_function("() => !document.querySelector('[data-deferred]')")
    assert models(page) == ["large", "small"]


def test_the_plots_are_there_without_a_script_of_their_own(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/table")
    titles = page.locator("figcaption").all_inner_texts()
    assert titles[:3] == ["Mean exact, and its interval", "exact against speed", "exact against tokens"]
    front = page.locator("svg[aria-label^='exact against median time']")
    assert "middle: 0.600 at 3 s;" in f"{front.get_attribute('aria-label')};"


def test_on_a_phone_every_figure_is_in_sight(viewer: Viewing, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    viewer.open(page, "/table")
    for cell in page.locator("table.board td").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390


def test_prices_add_what_a_solved_task_costs(viewer: Viewing, page: Page) -> None:
    told = json.loads(viewer.program.run("table", "--price", "small=1,10", "--json").stdout)
    (small,) = (row for row in told["rows"] if row["model"] == "small")
    viewer.open(page, "/table")
    page.get_by_label("Prices of a million tokens").fill("small=1,10")
    page.get_by_role("button", name="Show").click()
    page.wait_for_function("() => !document.querySelector('[data-deferred]')")
    shown = page.locator("table.board tbody tr", has_text="small").locator("td").last
    expect(shown).to_have_text(f"{small['cost_per_solved']:.4g}")
