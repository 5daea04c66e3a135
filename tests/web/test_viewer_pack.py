"""A pack's run as its matrix: cells as they come, the pack's own scores, one scenario made again."""

from __future__ import annotations

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import GrowingJournal, Program, trials
from tests.app.pack_kit import MIXED, Packs, numbered, write_pack
from tests.simulated import simulated_endpoint
from tests.web.web_kit import Viewing, troubles_everywhere, viewing

from benchwright.packs.events import PackEvents
from benchwright.web.pack_cells import LiveCellReader


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def cells(page: Page) -> dict[str, list[str]]:
    """The words of the cells by scenario."""
    found = {}
    for row in page.locator(".matrix tbody tr").filter(has=page.locator("td .cell")).all():
        words = [cell.inner_text().split("\n")[0] for cell in row.locator(".cell").all()]
        found[row.locator("th").inner_text().split()[0]] = words
    return found


def test_the_matrix_and_the_scores_are_those_of_the_pack(viewer: Viewing, page: Page, packs: Packs) -> None:
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url, models=("m", "n"))
    viewer.open(page, f"/runs/{packs.program.only_run.name}")
    assert cells(page) == {
        "A-01": ["pass", "pass"],
        "A-02": ["partial", "partial"],
        "B-01": ["pass", "pass"],
        "B-02": ["fail", "fail"],
    }
    section = page.locator("section", has=page.locator("#matrix"))
    expect(section.locator("h3").first).to_contain_text("65 pts ★ Weak")
    expect(section.get_by_role("row", name="Category A weight 0.6").first).to_contain_text("75 pts")
    page.locator(".matrix .cell").nth(2).click()
    page.wait_for_url("**/sample?id=A-02*")
    expect(page.locator(".banner .chip").first).to_have_text("partial")


def test_the_matrix_can_be_used_by_everyone_everywhere(viewer: Viewing, page: Page, packs: Packs) -> None:
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url, models=("m", "n"))
    viewer.open(page, f"/runs/{packs.program.only_run.name}")
    assert troubles_everywhere(page) == []


def test_models_have_their_names_wherever_their_cells_are_listed(
    viewer: Viewing, page: Page, packs: Packs
) -> None:
    """`primary` and `model-2` say nothing of models: no list of cells, summary or figure of a pack has them."""
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url, models=("glm", "qwen"))
    run = packs.program.only_run.name
    viewer.open(page, f"/runs/{run}")
    assert {cell.inner_text() for cell in page.locator(".samples .c-target").all()} == {
        "Model",
        "glm",
        "qwen",
    }
    expect(page.locator("h3", has_text="qwen").last).to_have_text("qwen")
    expect(page.locator("select[name=target]")).to_have_text("all glm qwen", use_inner_text=True)
    viewer.open(page, f"/runs/{run}/sample?id=A-02&target=model-2")
    expect(page.locator(".facts")).to_contain_text("qwen")
    shown = packs.program.run("show", run).stdout
    assert "glm  4 trials" in shown
    assert "qwen  4 trials" in shown
    assert "model-2" not in shown


def test_repeats_are_dots(viewer: Viewing, page: Page, packs: Packs) -> None:
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url, "--n", "3")
    viewer.open(page, f"/runs/{packs.program.only_run.name}")
    first = page.locator(".matrix .cell").first
    assert first.locator(".dot.pass").count() == 3
    expect(first).to_contain_text("pass (3/3)")


def test_cells_at_work_are_live_until_they_are_done(viewer: Viewing, page: Page, packs: Packs) -> None:
    pack = packs.pack("slow", numbered(6))
    with simulated_endpoint("--first-token", "800") as url:
        command = ["pack", "run", pack, *packs.arguments(url, "--mode", "serial")]
        process = packs.program.start(*command)
        GrowingJournal(packs.program).wait_for(1, process)
        viewer.open(page, f"/runs/{packs.program.only_run.name}")
        expect(page.locator(".matrix .dot.live")).to_have_count(1)
        expect(page.locator(".matrix td .sub").first).to_have_text("Asking.")
        assert process.wait(timeout=60) == 0
    expect(page.locator(".matrix .dot.pass")).to_have_count(6)
    expect(page.locator(".matrix .dot.live")).to_have_count(0)


def test_one_scenario_is_made_again(viewer: Viewing, page: Page, packs: Packs) -> None:
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url)
        run = packs.program.only_run
        assert len(trials(run)) == len(MIXED)
        viewer.open(page, f"/runs/{run.name}")
        page.get_by_role("button", name="Retry B-02").click()
        expect(page.locator("table.samples").get_by_text("2 attempts")).to_be_visible()
    assert [trial.sample for trial in trials(run)].count("B-02") == 2


def test_events_are_read_on_as_they_are_written(packs: Packs) -> None:
    from benchwright.packs.types import RegisteredModel, ScenarioMeta
    from benchwright.runs.journal import encode_json

    directory = write_pack(packs.directory / "run")
    (directory / "rendered").mkdir()
    path = directory / "rendered" / "events.jsonl"

    def tell(event: object) -> None:
        with path.open("ab") as file:
            file.write(encode_json(event) + b"\n")

    models = {"primary": RegisteredModel("m", "p", "m", "M", True, "g")}
    events = PackEvents(
        "run", models, [ScenarioMeta("A", "A"), ScenarioMeta("B", "B")], 1, tell, grouped=False
    )
    cells = LiveCellReader(directory)
    events.run_started()
    events.cell_progress("primary", "A", "asking")
    assert cells.read_new_events() == {("m", "A"): "asking"}
    events.cell_progress("primary", "B", "asking too")
    events.cell_finished("primary", "A", 0, {"status": "pass"})
    with path.open("ab") as file:
        file.write(b'{"type":"model_pro')
    assert cells.read_new_events() == {("m", "B"): "asking too"}


def test_a_scenarios_cards_tell_what_it_is_about(packs: Packs, chromium: Browser) -> None:
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url)
    path = packs.program.only_run / "run.json"
    manifest = msgspec.json.decode(path.read_bytes())
    manifest["about"]["cards"] = {"A-02": [{"title": "What this tests", "content": "Whether it is said."}]}
    path.write_bytes(msgspec.json.encode(manifest))
    with viewing(packs.program) as viewer, viewer.browser(chromium) as watched:
        viewer.open(watched.page, f"/runs/{packs.program.only_run.name}")
        watched.page.locator(".matrix summary").click()
        told = watched.page.locator(".matrix details")
        expect(told).to_contain_text("What this tests Whether it is said.")
