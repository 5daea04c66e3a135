"""The page of a trial in a real browser: what matters on top, turns as a tree, ways to what is wrong or changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made
from tests.browser import Watched
from tests.drawn import png, shown, url
from tests.known import known
from tests.web.web_kit import Viewing, viewing, write

from benchwright.records import Message, ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import Journal, TrialBody, encode_json

PLAIN = "20260101T000000-plain-00000000"
BETTER = "20260102T000000-better-00000000"
AGENT = "20260103T000000-agent-00000000"
SEEN = "20260105T000000-seen-00000000"
REPEATED = "20260104T000000-repeated-00000000"


def call(name: str, number: int) -> dict[str, Any]:
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": '{"q": "needle"}'},
    }


CONVERSATION: list[Message] = [
    {"role": "system", "content": "Search first."},
    {"role": "user", "content": "Instructions for all. Who found it?"},
    {"role": "assistant", "content": None, "tool_calls": [call("search", 1), call("fetch", 2)]},
    {"role": "tool", "tool_call_id": "call_2", "content": "the page of the needle"},
    {"role": "tool", "tool_call_id": "call_1", "content": "three hits"},
    {"role": "assistant", "content": None, "tool_calls": [call("search", 3)]},
    {"role": "tool", "tool_call_id": "call_3", "content": "one hit"},
    {"role": "assistant", "content": "I searched twice. Ada found it."},
]


def write_agent(run: Path) -> None:
    key = "f" * 32
    journal = Journal(run)
    body = TrialBody(
        key,
        input="Who found it?",
        target="Bo",
        messages=CONVERSATION,
        answer="I searched twice. Ada found it.",
    )
    journal.write_trial(TrialRecord(key, "who", "primary", Status.ANSWERED), encode_json(body))
    why = "The judge says that it was Bo."
    journal.write_lines(ScoreRecord("s", key, "exact", 0.0, span="Ada", explanation=why))
    journal.close()


def write_seen(run: Path) -> None:
    key = "e" * 32
    said = url(b"<svg onload=alert(1)>", "image/svg+xml")
    content = [{"type": "text", "text": "What is it?"}, shown(url(png(1, 30, 20))), shown(said)]
    content += [shown("https://example.org/never-asked-for.png")]
    messages: list[Message] = [
        {"role": "user", "content": content},
        {"role": "assistant", "content": f"![it]({url(png(2))}) <img src='https://example.org/a.png'>"},
    ]
    journal = Journal(run)
    journal.write_trial(
        TrialRecord(key, "seen", "primary", Status.ANSWERED), encode_json(TrialBody(key, messages=messages))
    )
    journal.close()


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    wrong = {3, 7, 8}
    write(shared_program, PLAIN, made([float(number not in wrong) for number in range(10)]))
    write(shared_program, BETTER, made([float(number not in {3, 5}) for number in range(10)]))
    write_agent(write(shared_program, AGENT, []))
    again = [Made("0", failed=Status.PROVIDER_ERROR), Made("0", 1.0, attempt=1, answer="the second try")]
    repeats = [Made("0", 0.0, repeat=1, answer="another answer"), Made("0", 1.0, repeat=2)]
    write(shared_program, REPEATED, [*again, *repeats])
    write_seen(write(shared_program, SEEN, []))
    with viewing(shared_program) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def watched(viewer: Viewing, chromium: Browser) -> Iterator[Watched]:
    with viewer.browser(chromium, permissions=["clipboard-read", "clipboard-write"]) as watched:
        yield watched


@pytest.fixture
def page(watched: Watched) -> Iterator[Page]:
    watched.page.set_viewport_size({"width": 1280, "height": 900})
    watched.page.emulate_media(color_scheme="light")
    watched.troubles.clear()
    yield watched.page
    assert watched.troubles == []


def test_question_expected_and_given_answer_and_why_are_on_top(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{AGENT}/sample?id=who")
    short = page.get_by_label("In short")
    assert [short.locator(f"#{name}").inner_text() for name in ("input", "target", "answer")] == [
        "Who found it?", "Bo", "I searched twice. Ada found it.",
    ]  # fmt: skip
    assert short.locator("mark").all_inner_texts() == ["Ada"]
    expect(short.locator(".why")).to_have_text("exact 0 The judge says that it was Bo.")


def test_they_stay_in_sight_on_a_wide_screen(viewer: Viewing, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    viewer.open(page, f"/runs/{AGENT}/sample?id=who")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator("#input")).to_be_in_viewport()
    expect(page.locator("[data-find-words]")).to_be_in_viewport()


def test_the_turns_of_an_agent_are_a_tree_with_each_result_under_its_call(
    viewer: Viewing, page: Page
) -> None:
    viewer.open(page, f"/runs/{AGENT}/sample?id=who")
    turns = page.locator("details.turn")
    assert [turn.locator("> summary").inner_text() for turn in turns.all()] == [
        "Turn 1 search fetch", "Turn 2 search", "Turn 3 answers",
    ]  # fmt: skip
    first = turns.nth(0).locator("details.call")
    expect(first.nth(0)).to_contain_text("three hits")
    expect(first.nth(1)).to_contain_text("the page of the needle")
    page.get_by_role("button", name="Close all").click()
    expect(first.nth(0)).not_to_be_visible()
    page.get_by_role("button", name="Open all").click()
    expect(first.nth(0)).to_be_visible()


def test_an_image_of_the_run_is_shown_and_nothing_else_is_fetched(viewer: Viewing, page: Page) -> None:
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    viewer.open(page, f"/runs/{SEEN}/sample?id=seen")
    image = page.get_by_alt_text("[image png 30×20, 1 kB]")
    assert page.locator("main img").count() == image.count() == 1
    expect(image).to_have_js_property("naturalWidth", 30)
    assert all(one.startswith(viewer.base) for one in asked_for)
    assert page.get_by_text("[image_url]").count() > 0


def test_images_are_served_as_what_they_are_and_by_their_names_only(viewer: Viewing) -> None:
    (path,) = (viewer.program.home / "runs" / SEEN / "pictures").iterdir()
    answer = viewer.ask(f"/runs/{SEEN}/pictures/{path.name}", Cookie=viewer.cookie)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "image/png")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "img-src 'self';" in answer.headers["Content-Security-Policy"]
    for name in ("..%2frun.json", f"{'0' * 64}.png", path.name.replace("png", "svg")):
        assert viewer.ask(f"/runs/{SEEN}/pictures/{name}", Cookie=viewer.cookie).status == 404
    assert viewer.ask(f"/runs/{SEEN}/pictures/{path.name}").status == 403


def test_a_search_within_opens_what_it_finds(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{AGENT}/sample?id=who")
    page.get_by_role("button", name="Close all").click()
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    expect(page.locator("[data-find-count]")).to_have_text("1 of 4")
    expect(page.locator("details.turn").nth(0)).to_have_attribute("open", "")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-count]")).to_have_text("2 of 4")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("[data-find-count]")).to_have_text("4 of 4")
    page.keyboard.type(" in hay")
    expect(page.locator("[data-find-count]")).to_have_text("not found")


def test_a_text_is_copied_as_it_is(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{AGENT}/sample?id=who")
    page.get_by_role("button", name="Copy the answer").click()
    expect(page.get_by_role("button", name="Copy the answer")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "I searched twice. Ada found it."


def test_repeats_and_attempts_stand_side_by_side(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{REPEATED}/sample?id=0&repeat=1")
    cards = page.locator(".cards > section")
    assert [" ".join(card.locator("h3").inner_text().split()) for card in cards.all()] == [
        "repeat 1 attempt 1", "repeat 1 attempt 2", "repeat 2 (this one)", "repeat 3",
    ]  # fmt: skip
    expect(cards.nth(1)).to_contain_text("the second try")
    boxes = [known(cards.nth(place).bounding_box()) for place in range(4)]
    assert len({box["y"] for box in boxes}) == 1
    cards.nth(3).get_by_role("link").click()
    page.wait_for_url("**repeat=2*")


def test_keys_lead_from_one_failing_trial_to_the_next(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{PLAIN}/sample?id=0")
    for key, sample in (("f", "3"), ("f", "7"), ("F", "3"), ("j", "4"), ("f", "7"), ("f", "8")):
        page.keyboard.press(key)
        page.wait_for_url(f"**/sample?id={sample}&*")
    page.wait_for_load_state()
    assert page.locator("[data-next-failing]").count() == 0


def test_a_trial_come_to_from_a_comparison_leads_to_the_next_changed_one(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/compare?a={PLAIN}&b={BETTER}")
    page.locator("[data-row]").nth(0).click()
    page.wait_for_url("**/compare/sample?*id=5*")
    page.get_by_role("link", name="all of it").nth(0).click()
    page.wait_for_url(f"**/runs/{PLAIN}/sample?id=5*")
    for key, sample in (("c", "7"), ("c", "8"), ("C", "7")):
        page.keyboard.press(key)
        page.wait_for_url(f"**/runs/{PLAIN}/sample?id={sample}&*")
    page.get_by_role("link", name="comparison").click()
    page.wait_for_url(f"**/compare?a={PLAIN}&b={BETTER}*")


def test_the_table_of_trials_has_question_expected_and_given_answer(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/runs/{AGENT}")
    (line,) = page.locator("table.samples tbody tr").all()
    assert [line.locator(f".c-{name}").inner_text() for name in ("line", "expected", "answer")] == [
        "Who found it?", "Bo", "Ada",
    ]  # fmt: skip
    page.set_viewport_size({"width": 390, "height": 800})
    expect(line.locator(".c-sample")).to_contain_text("Who found it?")


@pytest.mark.parametrize("path", [f"/runs/{AGENT}/sample?id=who", f"/runs/{REPEATED}/sample?id=0&repeat=1"])
def test_everyone_can_use_it_everywhere(viewer: Viewing, page: Page, path: str) -> None:
    viewer.open(page, path)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
