"""The pages as a person sees them, in a real browser: what they show is what the command line says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.compare_kit import STARTED, Made, made
from tests.browser import Watched
from tests.known import known
from tests.web.web_kit import Viewing, mixed_run, viewing, write

from benchwright.endpoint.card import Card, Finding, State
from benchwright.records import Target
from benchwright.runs.cards import write_cards

MIXED = "20260101T000000-mixed-00000000"
BETTER = "20260102T000000-better-00000000"
REPEATED = "20260103T000000-repeated-00000000"

PAGES = (
    "/",
    f"/runs/{MIXED}",
    f"/runs/{MIXED}/sample?id=3",
    f"/compare?a={MIXED}&b={BETTER}",
    "/table",
    "/start",
)


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    mixed_run(shared_program)
    better = [Target("primary", "better", "http://127.0.0.1:9/v1")]
    trials = made([1.0] * 36 + [0.0] * 5, span="an answer")
    write(
        shared_program,
        BETTER,
        trials,
        created_at=STARTED + 1,
        targets=better,
        typed_models={"primary": "org/better"},
    )
    write(
        shared_program,
        REPEATED,
        [Made(str(n), float(r <= n), repeat=r) for n in range(3) for r in range(3)],
        created_at=STARTED + 2,
        kind="benchmark",
        about={"benchmark": "repeated"},
    )
    (shared_program.home / "runs" / BETTER / "tags.json").write_text('["candidate"]')
    with viewing(shared_program) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def watched(viewer: Viewing, chromium: Browser) -> Iterator[Watched]:
    """One browser window for all tests; each goes where it wants to be."""
    with viewer.browser(chromium) as watched:
        yield watched


@pytest.fixture
def page(watched: Watched) -> Iterator[Page]:
    """The page of a browser that was let in; nothing on it may go wrong."""
    watched.page.set_viewport_size({"width": 1280, "height": 900})
    watched.page.emulate_media(color_scheme="light")
    watched.troubles.clear()
    yield watched.page
    assert watched.troubles == []


def test_nothing_is_asked_of_any_other_host(viewer: Viewing, watched: Watched) -> None:
    for path in PAGES:
        viewer.open(watched.page, path)
    assert [url for url in watched.requests if not url.startswith(viewer.base)] == []


def names(page: Page) -> list[str]:
    return page.locator("[data-row]").all_inner_texts()


def ids(page: Page) -> list[str]:
    return [known(row.get_attribute("data-key")) for row in page.locator("table.runs tbody tr").all()]


def test_the_list_has_all_runs_the_newest_first(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/")
    assert ids(page) == [REPEATED, BETTER, MIXED]
    expect(page.locator(f'[data-key="{BETTER}"]')).to_contain_text("candidate")


def test_words_filter_the_list_as_they_are_typed(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/")
    page.locator("[data-search]").fill("org/BETTER candidate")
    page.wait_for_url("**/?q=*")
    assert ids(page) == [BETTER]
    expect(page.locator("[data-search]")).to_be_focused()


def test_the_list_is_filtered_by_kind_and_the_address_says_so(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/")
    page.get_by_role("combobox", name="Kind").select_option("benchmark")
    page.wait_for_url("**/?kind=benchmark")
    assert ids(page) == [REPEATED]


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ("All", 48),
        ("Failed", 14),
        ("Passed", 30),
        ("Unparsed", 3),
        ("Truncated", 2),
        ("Errors", 4),
        ("Slow", 3),
    ],
)
def test_trials_are_filtered_by_how_they_ended(viewer: Viewing, page: Page, only: str, count: int) -> None:
    viewer.open(page, f"/runs/{MIXED}")
    page.get_by_role("link", name=re.compile(f"^{only}\\d")).click()
    page.wait_for_load_state()
    assert page.locator("table.samples tbody tr").count() == count
    assert page.locator(".tabs [aria-current] .n").inner_text() == str(count)


def test_flipped_samples_are_those_whose_repeats_disagree(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{REPEATED}?only=flipped")
    assert set(names(page)) == {"0", "1"}
    assert len(names(page)) == 6


def test_the_figures_are_those_of_show(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{MIXED}")
    told = json.loads(viewer.program.run("show", MIXED, "--json").stdout)
    score = told["targets"][0]["scores"][0]
    row = page.locator("tr.noted").first
    expect(row).to_contain_text(f"{score['mean_scored']:.3f}")
    expect(row).to_contain_text(f"[{score['low']:.3f}, {score['high']:.3f}]")
    expect(row).to_contain_text(f"{score['n_scored']} of {score['n']}")


def test_the_bars_of_a_group_are_its_own_trials(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{MIXED}")
    figure = page.locator("figure", has_text="by group")
    figure.locator("summary").click()
    shown = figure.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in shown] == ["g0", "g1", "g2", "g3"]
    assert sum(int(row.split("\t")[3].split(" of ")[0]) for row in shown) == 44


def test_a_trial_shows_what_was_said_and_marks_the_answer(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{MIXED}/sample?id=3")
    expect(page.locator(".said.user")).to_contain_text("question 3")
    assert page.locator(".banner mark").all_inner_texts() == ["an answer"]


def test_the_keyboard_goes_through_rows_trials_and_up_again(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{MIXED}?only=unparsed")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator("[data-row]").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/sample?id=38*")
    page.keyboard.press("j")
    page.wait_for_url("**/sample?id=39*")
    page.keyboard.press("k")
    page.wait_for_url("**/sample?id=38*")
    page.keyboard.press("u")
    page.wait_for_url(f"**/runs/{MIXED}?only=unparsed#samples")
    page.keyboard.press("/")
    expect(page.locator("[data-search]")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_a_trial_that_is_not_there_is_told_of(viewer: Viewing) -> None:
    assert viewer.get(f"/runs/{MIXED}/sample?id=none").status == 404


def test_two_runs_are_ticked_and_compared(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/?q=00000000")
    for run in (MIXED, BETTER):
        page.locator(f'input[value="{run}"]').check()
    page.get_by_role("button", name="Compare the two").click()
    page.wait_for_url("**/compare?*")
    expect(page.locator(".verdict")).to_contain_text("org/better is better than model by")


def test_a_comparison_says_what_compare_says_and_shows_flips_first(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/compare?a={MIXED}&b={BETTER}")
    program = viewer.program
    told = program.run("compare", f"{program.home}/runs/{MIXED}", f"{program.home}/runs/{BETTER}").stdout
    verdict = page.locator(".verdict").inner_text()
    assert verdict.split(" (")[0] in " ".join(told.split())
    assert names(page) == ["30", "31", "32", "33", "34", "35"]
    page.get_by_role("link", name="Lost0").click()
    page.wait_for_url("**only=lost*")
    expect(page.locator(".empty")).to_have_text("No sample is like that.")


def test_what_changed_shows_the_question_and_both_answers(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/compare?a={MIXED}&b={BETTER}")
    flip = page.locator(".flip").first
    expect(flip.locator(".asked")).to_contain_text("question 30")
    assert flip.locator(".who").all_inner_texts() == ["model", "org/better"]
    assert flip.locator(".sides > :not(.asked) mark").all_inner_texts() == ["an answer", "an answer"]


def test_both_conversations_of_a_sample_stand_side_by_side(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/compare?a={MIXED}&b={BETTER}")
    page.locator("[data-row]").nth(1).click()
    page.wait_for_url("**/compare/sample?*")
    assert page.locator(".sides > section").count() == 2
    left, right = (known(page.locator(".sides > section").nth(place).bounding_box()) for place in (0, 1))
    assert left["y"] == right["y"]
    page.keyboard.press("j")
    page.wait_for_url("**id=32*")


def test_runs_that_cannot_be_compared_say_why(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/compare?a={MIXED}&b={REPEATED}")
    expect(page.locator(".banner.warn").first).to_contain_text("NOT COMPARED")


def test_the_configuration_has_what_the_endpoint_was_found_to_do(program: Program) -> None:
    run = mixed_run(program)
    finding = Finding(State.YES, "known", "vLLM <0.11> (recognised by /version)")
    write_cards(run, {"primary": Card("http://a/v1", "m", 1, findings={"server": finding})})
    with viewing(program) as viewer:
        page = viewer.get(f"/runs/{run.name}").text
    assert "<dt>Endpoint (primary)</dt><dd>server: vLLM &lt;0.11&gt; (recognised by /version)</dd>" in page
