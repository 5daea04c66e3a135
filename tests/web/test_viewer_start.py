"""Runs are started from a page by the usual command line, and are then runs like any other."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from tests.app.app_kit import Program
from tests.app.benchmark_kit import write_mmlu
from tests.simulated import simulated_endpoint
from tests.web.web_kit import Viewing

from benchwright.runs.manifest import read_manifest


def test_a_benchmark_is_started_and_turns_up_in_the_list(
    viewer: Viewing, page: Page, program: Program
) -> None:
    write_mmlu(program, 6)
    with simulated_endpoint() as url:
        viewer.open(page, "/start")
        assert Axe().run(page).response["violations"] == []
        page.get_by_role("combobox", name="What").select_option("benchmark:mmlu")
        page.get_by_role("textbox", name="Model").fill("my-model")
        page.get_by_role("textbox", name="Address").fill(url)
        page.get_by_label("Most samples").fill("4")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#started-1 .chip")).to_have_text("done")
    viewer.open(page, "/")
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    manifest = read_manifest(program.only_run)
    assert (manifest.kind, manifest.targets[0].model, manifest.data[0].samples) == (
        "benchmark",
        "my-model",
        4,
    )


def test_a_run_is_run_again_with_another_model(viewer: Viewing, page: Page, program: Program) -> None:
    with simulated_endpoint() as url:
        assert program.run(*program.evaluating(program.rows(5), url)).returncode == 0
        first = program.only_run.name
        viewer.open(page, f"/runs/{first}")
        page.get_by_role("link", name="Run it again…").click()
        expect(page.get_by_role("textbox", name="Address")).to_have_value(url)
        page.get_by_role("textbox", name="Model").fill("another")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#started-1 .chip")).to_have_text("done")
    manifests = [read_manifest(run) for run in program.runs]
    assert [manifest.targets[0].model for manifest in manifests] == ["m", "another"]
    assert manifests[0].data == manifests[1].data


def test_a_configuration_file_of_the_directory_is_started(
    viewer: Viewing, page: Page, program: Program
) -> None:
    program.write("pyproject.toml", "[project]\nname = 'no evaluation'\n")
    program.write("broken.toml", "[eval")
    program.write("quiz.toml", f"[eval]\ndataset = '{program.rows(6)}'\nscorer = ['exact']\nmodel = 'm'\n")
    with simulated_endpoint() as url:
        viewer.open(page, "/start")
        group = page.locator("optgroup[label='Configurations of evaluations here'] option")
        expect(group).to_have_text(["quiz.toml"])
        page.get_by_role("combobox", name="What").select_option("configuration:quiz.toml")
        page.get_by_role("textbox", name="Address").fill(url)
        page.get_by_label("Most samples").fill("4")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#started-1 .chip")).to_have_text("done")
    manifest = read_manifest(program.only_run)
    assert (manifest.kind, manifest.targets[0].model, manifest.data[0].samples) == ("eval", "m", 4)


def test_an_endpoint_is_checked_before(viewer: Viewing, page: Page) -> None:
    with simulated_endpoint("--model", "served") as url:
        viewer.open(page, "/start")
        page.get_by_role("textbox", name="Model").fill("served")
        page.get_by_role("textbox", name="Address").fill(url)
        page.get_by_role("button", name="Check the endpoint").click()
        expect(page.locator("#started-1")).to_contain_text("done")
        page.locator("#started-1 summary").click()
        expect(page.locator("#started-1 pre")).to_contain_text("Model 'served' is available")


def test_a_key_reaches_the_endpoint_and_no_page_nor_argument(
    viewer: Viewing, page: Page, program: Program
) -> None:
    key = "sk-very-secret-key"
    with simulated_endpoint("--api-key", key) as url:
        viewer.open(page, "/start")
        page.get_by_role("textbox", name="Model").fill("any")
        page.get_by_role("textbox", name="Address").fill(url)
        page.get_by_label("Key, if").fill(key)
        page.get_by_role("button", name="Check the endpoint").click()
        expect(page.locator("#started-1 .chip")).to_have_text("done")
    assert key not in viewer.get("/start").text


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("what=&model=m", "Choose what to run."),
        ("what=benchmark:no_such&model=m", "Choose what to run."),
        ("what=run:../../etc&model=m", "Choose what to run."),
        ("what=benchmark:mmlu&model=", "Enter a model."),
        ("what=benchmark:mmlu&model=m&n=many", "is not a number."),
    ],
)
def test_a_form_that_means_nothing_starts_nothing(viewer: Viewing, form: str, told: str) -> None:
    assert told in viewer.post("/start", form).text
    assert "Nothing yet." in viewer.get("/start").text
