"""The page of a measurement under load: its levels, its plots, others laid over it; and the ways to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.compare_kit import STARTED, Made
from tests.web.web_kit import PATIENCE, Viewing, viewing, write

from benchwright.analysis.load.server_metrics_file import write_server_metrics
from benchwright.endpoint.metrics_poller import ServerMetrics
from benchwright.records import Target
from benchwright.runs.tags_and_notes import tag_run

FIRST, SECOND, HOSTILE = "load-20260101T000000-aaaa", "load-20260102T000000-bbbb", 'load-"><script>/?&'
GROWING = "load-20260104T000000-cccc"
LEVELS = (1, 4, 8)


def write_level(program: Program, tag: str, concurrency: int, number: int, **changes: Any) -> str:
    """A level of some seconds that keeps so many requests of a second in flight; returns its id."""
    run = f"2026010{number}T00000{concurrency}-level-{concurrency:08}"
    trials = [Made(str(n), begun=n / concurrency, latency=1.0 + n % 3 / 10) for n in range(12 * concurrency)]
    about = {"load": {"id": tag, "level": {"concurrency": concurrency}, "number": concurrency}}
    path = write(
        program,
        run,
        trials,
        scorers=[],
        about=about,
        created_at=STARTED + number * 100 + concurrency,
        **changes,
    )
    tag_run(str(path), [tag])
    write_server_metrics(
        path, [ServerMetrics(STARTED + second * 10**9, running=float(concurrency)) for second in range(10)]
    )
    return run


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    """Two measurements of three levels, one that grows, and one of which nothing is done yet, with a hostile name."""
    for number, (tag, model) in enumerate(((FIRST, "small"), (SECOND, "<b>large</b>")), 1):
        for concurrency in LEVELS:
            targets = [Target("primary", model, "http://127.0.0.1:9/v1")]
            write_level(shared_program, tag, concurrency, number, targets=targets)
    about = {"load": {"id": HOSTILE, "level": {"concurrency": 1}}}
    write(shared_program, "20260103T000000-hostile-00000000", [], finished=False, about=about)
    write_level(shared_program, GROWING, 1, 4)
    with viewing(shared_program) as viewer:
        yield viewer


@pytest.fixture
def page(viewer: Viewing, chromium: Browser) -> Iterator[Page]:
    """The page of a browser that was let in; nothing on it may go wrong."""
    with viewer.browser(chromium) as watched:
        yield watched.page
        assert watched.troubles == []


def test_it_has_the_levels_and_all_plots(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/loads/{FIRST}")
    expect(page.get_by_role("heading", level=1)).to_have_text("small under load")
    assert page.locator("th a[data-row]").all_inner_texts() == [f"c{level}" for level in LEVELS]
    assert page.locator("figcaption").all_inner_texts() == [
        "Latency against answers per second",
        "Time to first token against answers per second",
        "Answers per second against load",
        "Time to first token",
        *(f"Course: {level} in flight" for level in LEVELS),
    ]


def test_a_level_leads_to_its_run_and_the_run_back(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/loads/{FIRST}")
    page.get_by_role("link", name="c4", exact=True).click()
    page.wait_for_url(f"{viewer.base}/runs/*")
    page.get_by_role("link", name="a measurement").click()
    expect(page).to_have_url(f"{viewer.base}/loads/{FIRST}")


def test_the_list_leads_to_it(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/?kind=load&column=tags")
    page.get_by_role("link", name=SECOND).first.click()
    expect(page).to_have_url(f"{viewer.base}/loads/{SECOND}")


def test_another_one_is_laid_over_it_and_taken_away_again(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/loads/{FIRST}")
    page.get_by_label("Lay another measurement over it").select_option(SECOND)
    page.wait_for_url("**with=*")
    page.wait_for_function("() => !document.querySelector('[data-deferred]')")
    expect(page.locator("main")).to_contain_text("B against A")
    expect(page.locator("svg").first).to_contain_text(f"B: <b>large</b>, {SECOND}")
    page.get_by_role("checkbox", name=SECOND).click()
    expect(page).to_have_url(f"{viewer.base}/loads/{FIRST}")


def test_of_a_level_that_has_just_begun_there_is_a_page_and_its_name_is_text(
    viewer: Viewing, page: Page
) -> None:
    viewer.open(page, f"/loads/{quote(HOSTILE, safe='')}")
    expect(page.locator(".crumbs")).to_contain_text(HOSTILE)
    expect(page.locator("main")).to_contain_text("1 in flight is unfinished")
    assert page.locator("svg").count() == 0


def test_what_is_not_there_is_said(viewer: Viewing) -> None:
    for path in ("/loads/load-none", "/loads/load-none/live", f"/loads/{FIRST}?part=figures&with=load-none"):
        reply = viewer.get(path)
        assert reply.status == 404
        assert "There is no measurement load-none." in reply.text


def test_who_was_not_let_in_sees_none_of_it(viewer: Viewing) -> None:
    for part in ("", "?part=levels", "?part=figures", "/live"):
        assert viewer.ask(f"/loads/{FIRST}{part}").status == 403
        assert viewer.get(f"/loads/{FIRST}{part}", Host="evil.example").status == 403


def test_it_grows_while_it_is_looked_at(viewer: Viewing, page: Page) -> None:
    viewer.open(page, f"/loads/{GROWING}")
    write_level(viewer.program, GROWING, 2, 4)
    expect(page.get_by_role("link", name="c2", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.locator("main")).to_contain_text("Course: 2 in flight", timeout=PATIENCE)


def test_view_opens_it_by_the_beginning_of_its_tag(viewer: Viewing) -> None:
    program = viewer.program
    process = program.start("view", FIRST[:14], "--port", "0", "--no-open")
    try:
        assert process.stdout is not None
        address = process.stdout.readline()
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert re.search(rf"[?&]load={FIRST}\b", address)
    welcome = viewer.ask(f"/?token={viewer.token}&load={quote(HOSTILE)}").text
    assert "url=/loads/load-%22%3E%3Cscript%3E%2F%3F%26" in welcome
