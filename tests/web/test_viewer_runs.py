"""The list of runs as a person sees it: many rows on a screen, each with its figures, and notes that can be edited."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.compare_kit import SECOND, STARTED, Made, made
from tests.browser import Watched
from tests.web.web_kit import PATIENCE, Viewing, viewing, write

from benchwright.records import Status, Target
from benchwright.runs.tags_and_notes import NOTE_FILE

MANY = 40
NAMED = "20270115T080000-questions-model-00000000"
SEVERAL = "20270115T080001-questions-several-00000001"
LOAD = "20270115T080002-questions-model-c8-00000002"
LOST = [Made(f"lost-{number}", failed=Status.PROVIDER_ERROR) for number in range(3)]


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    targets = [Target("primary", "org/large", "http://a/v1"), Target("model-2", "small", "http://b/v1")]
    named = write(
        shared_program,
        NAMED,
        [*made([1.0] * 14 + [0.0] * 6), *LOST],
        settings={"name": "The <b>baseline</b>", "module": "my_agent:Agent"},
    )
    (named / "tags.json").write_text('["release"]')
    write(
        shared_program,
        SEVERAL,
        [*made([1.0, 1.0]), *made([0.0, 0.0], slot="model-2")],
        targets=targets,
        typed_models={target.slot: target.model for target in targets},
        created_at=STARTED + SECOND,
    )
    about = {"load": {"level": {"concurrency": 8}}}
    write(shared_program, LOAD, made([None]), about=about, created_at=STARTED + 2 * SECOND)
    for number in range(MANY):
        begun = STARTED - (1 + number) * SECOND
        write(
            shared_program,
            f"20270114T{number:06d}-questions-model-{number:08x}",
            made([1.0]),
            created_at=begun,
        )
    with viewing(shared_program) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def watched(viewer: Viewing, chromium: Browser) -> Iterator[Watched]:
    """One browser window for all tests."""
    with viewer.browser(chromium) as watched:
        watched.page.set_default_timeout(PATIENCE / 4)
        viewer.open(watched.page, "/")
        expect(watched.page.locator(".c-trials", has_text="counting")).to_have_count(0)
        yield watched


@pytest.fixture
def page(watched: Watched) -> Iterator[Page]:
    watched.page.set_viewport_size({"width": 1440, "height": 900})
    watched.troubles.clear()
    yield watched.page
    assert watched.troubles == []


def row(page: Page, run: str) -> str:
    return page.locator(f'[data-key="{run}"]').inner_text()


def test_thirty_runs_stand_on_a_screen(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/?kind=eval&model=model")
    bottoms = page.eval_on_selector_all(
        "table.runs tbody tr", "rows => rows.map(row => row.getBoundingClientRect().bottom)"
    )
    assert sum(bottom <= 900 for bottom in bottoms) >= 30


def test_a_row_has_the_figures_of_show(viewer: Viewing, page: Page, shared_program: Program) -> None:
    viewer.open(page, "/")
    told = row(page, NAMED).split()
    assert " ".join(told) == (
        "The <b>baseline</b> questions my_agent:Agent model 0.700 [0.481, 0.855] 3 23 finished 1.0s eval release "
        "20270115T080000"
    )
    shown = shared_program.run("show", NAMED).stdout
    assert "0.700" in shown
    assert "[0.481, 0.855]" in shown


def test_each_model_has_its_score(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/")
    cells = page.locator(f'[data-key="{SEVERAL}"] td')
    assert cells.nth(1).inner_text().split("\n") == ["org/large", "small"]
    assert [line[:5] for line in cells.nth(2).inner_text().split("\n")] == ["1.000", "0.000"]


@pytest.mark.parametrize(
    ("label", "value", "run"),
    [("Kind", "load", LOAD), ("Model", "small", SEVERAL), ("Tag", "release", NAMED)],
)
def test_runs_are_found_by_a_choice(viewer: Viewing, page: Page, label: str, value: str, run: str) -> None:
    viewer.open(page, "/")
    page.get_by_role("combobox", name=label).select_option(value)
    page.wait_for_url(f"**/?*={value}")
    assert [one.get_attribute("data-key") for one in page.locator("table.runs tbody tr").all()] == [run]


def test_columns_are_chosen(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/?tag=release&column=tokens&column=dataset")
    assert page.locator("thead th").all_inner_texts()[1:] == ["Name", "Dataset", "Tokens"]
    page.get_by_text("Columns").click()
    page.get_by_label("Tokens").uncheck()
    page.locator(".choose").get_by_role("button", name="Show").click()
    page.wait_for_url("**/?*column=dataset")
    assert page.locator("thead th").all_inner_texts()[1:] == ["Name", "Dataset"]


def test_on_a_phone_nothing_is_cut_off(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/")
    page.set_viewport_size({"width": 390, "height": 800})
    for told in ("0.700 [0.481, 0.855]", "my_agent:Agent", "release", "20270115T080000"):
        box = page.locator(f'[data-key="{NAMED}"]').get_by_text(told).bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert Axe().run(page).response["violations"] == []


def test_a_note_is_written_on_the_page_of_the_run(
    viewer: Viewing, page: Page, shared_program: Program
) -> None:
    viewer.open(page, f"/runs/{LOAD}")
    page.get_by_text("Note", exact=True).click()
    page.get_by_label("Note on this run").fill("Twice as fast <i>as</i> before")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Note on this run")).to_have_value("Twice as fast <i>as</i> before")
    assert shared_program.run("runs", "note", LOAD).stdout == "Twice as fast <i>as</i> before\n"
    viewer.open(page, "/?q=twice")
    assert "Twice as fast <i>as</i> before" in row(page, LOAD)
    assert Axe().run(page).response["violations"] == []


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Origin": None}, {"Cookie": "a=b"}])
def test_nobody_else_can_write_one(viewer: Viewing, headers: dict[str, str | None]) -> None:
    assert viewer.post(f"/runs/{SEVERAL}/note", "note=mine", **headers).status == 403
    assert not (viewer.program.home / "runs" / SEVERAL / NOTE_FILE).exists()
