"""The table of a suite in a real browser: its newest runs, whatever else was run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.compare_kit import made
from tests.web.web_kit import Viewing, viewing, write

from benchwright.records import Target

RUNS = [("small", "nightly", 4), ("small", "nightly", 9), ("large", "nightly", 15), ("other", None, 20)]
"""Models, suites and right answers of twenty, the oldest run first."""


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    for number, (model, suite, right) in enumerate(RUNS, 1):
        write(
            shared_program,
            f"2026010{number}T000000-questions-{model}",
            made([float(n < right) for n in range(20)]),
            name="questions",
            targets=[Target("primary", model, "http://127.0.0.1:9/v1")],
            typed_models={"primary": model},
            created_at=number,
            settings={} if suite is None else {"suite": suite},
        )
    with viewing(shared_program) as viewer:
        yield viewer


@pytest.fixture
def page(viewer: Viewing, chromium: Browser) -> Iterator[Page]:
    with viewer.browser(chromium) as watched:
        yield watched.page
        assert watched.troubles == []


def test_of_each_part_the_newest_run_counts(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/table?suite=nightly")
    expect(page.get_by_role("heading", level=1)).to_have_text("Leaderboard: nightly")
    assert page.locator("table.board a.mean").all_inner_texts() == ["0.750", "0.450"]


def test_all_runs_are_a_choice_away(viewer: Viewing, page: Page) -> None:
    viewer.open(page, "/table?suite=nightly")
    page.get_by_label("Suite").select_option("all runs")
    page.wait_for_url("**/table")
    page.wait_for_function("() => !document.querySelector('[data-deferred]')")
    assert page.locator("table.board tbody tr").count() == len(RUNS)


def test_the_address_that_view_prints_for_a_suite_leads_to_its_table(viewer: Viewing) -> None:
    reply = viewer.ask(f"/?token={viewer.token}&suite=a%22%20%26b")
    assert 'content="0;url=/table?suite=a%22+%26b"' in reply.text


def test_that_for_a_run_leads_to_its_page_and_nowhere_else(viewer: Viewing) -> None:
    reply = viewer.ask(f"/?token={viewer.token}&run=%2F%2Felsewhere.org%2F%22")
    assert 'content="0;url=/runs/%2F%2Felsewhere.org%2F%22"' in reply.text
