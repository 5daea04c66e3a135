"""The page of a measurement under load: its curves, its levels by time, other measurements laid over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure
from tests.simulated import simulated_endpoint
from tests.web.web_kit import Viewing, viewing

from benchwright.analysis.load.records import LoadReport
from benchwright.reports.load.tables import rate_text

HOSTILE = "<b>m</b>[/x]\u202e"


class Measured(NamedTuple):
    viewer: Viewing
    loads: list[LoadReport]


@pytest.fixture(scope="module")
def measured(shared_program: Program) -> Iterator[Measured]:
    """Two measurements of a server that is not real, the second of a model with a hostile name."""
    synthetic = (
        "--synthetic-input",
        "32",
        "--synthetic-output",
        "6",
        "--requests",
        "24",
        "--concurrency",
        "1,4",
    )
    with simulated_endpoint("--first-token", "5", "--between-tokens", "2") as url:
        loads = [measure(shared_program, url, *synthetic)]
        ended = shared_program.run("load", "--model", HOSTILE, "--base-url", url, *synthetic, "--json", "-q")
        loads.append(msgspec.json.decode(ended.stdout, type=LoadReport))
    with viewing(shared_program) as viewer:
        yield Measured(viewer, loads)


@pytest.fixture
def page(measured: Measured, chromium: Browser) -> Iterator[Page]:
    with measured.viewer.browser(chromium) as watched:
        yield watched.page
        assert watched.troubles == []


def test_a_level_leads_to_its_measurement_and_back(measured: Measured, page: Page) -> None:
    viewer, (load, _) = measured
    viewer.open(page, f"/runs/{load.levels[1].run}")
    page.get_by_role("link", name=load.id).first.click()
    page.wait_for_function("() => !document.querySelector('[data-deferred], [data-reading]')")
    expect(page.get_by_role("img", name="Latency against answers per second")).to_be_visible()
    expect(page.get_by_role("img", name="The course of level 4")).to_be_visible()
    page.locator("section").get_by_role("link", name="1", exact=True).click()
    expect(page).to_have_url(f"{viewer.base}/runs/{load.levels[0].run}")


def test_another_measurement_is_laid_over_it(measured: Measured, page: Page) -> None:
    viewer, (load, other) = measured
    viewer.open(page, f"/loads/{load.id}")
    page.get_by_label("Compare with").select_option(other.id)
    page.get_by_role("button", name="Show").click()
    page.wait_for_function("() => !document.querySelector('[data-deferred], [data-reading]')")
    curves = page.get_by_role("img", name="Latency against answers per second. 2 curves")
    expect(curves).to_be_visible()
    assert page.locator("main b").count() == 0, "a model's name is no markup"


def test_figures_are_those_of_the_report(measured: Measured, page: Page) -> None:
    viewer, (load, _) = measured
    viewer.open(page, f"/loads/{load.id}")
    rates = [level.achieved for level in load.levels]
    shown = page.locator("main").inner_text()
    assert all(rate_text(rate) in shown for rate in rates)


@pytest.mark.parametrize(
    "path", ["/loads/load-none", "/loads/load-none?part=figures", "/loads/..%2f..%2fetc"]
)
def test_what_is_no_measurement_is_not_there(measured: Measured, path: str) -> None:
    assert measured.viewer.get(path).status == 404


def test_only_who_came_by_the_address_sees_it(measured: Measured) -> None:
    assert measured.viewer.ask(f"/loads/{measured.loads[0].id}").status == 403
