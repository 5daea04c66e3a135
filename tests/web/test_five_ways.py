"""What five kinds of users come for, each from the command line to the answer on a page, in a real browser."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.app.pack_kit import Packs
from tests.simulated import simulated_endpoint
from tests.web.web_kit import Viewing

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def questions() -> list[dict[str, str]]:
    """The answer key of examples/questions.jsonl."""
    rows = [json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text().splitlines()]
    return [{"prompt": row["question"], "answer": row["answer"]} for row in rows]


@pytest.fixture
def project(program: Program) -> Program:
    """The program in a directory with the examples."""
    for name in ("questions.jsonl", "arithmetic.jsonl", "agent.py", "rewards.py"):
        shutil.copy(EXAMPLES / name, program.directory)
    return program


def run(program: Program, *arguments: str) -> None:
    ended = program.run(*arguments)
    assert ended.returncode == 0, ended.stderr


def tick(page: Page, names: Sequence[str]) -> None:
    for name in names:
        page.get_by_role("row", name=name).get_by_role("checkbox").check()


def test_a_trainer_compares_two_checkpoints_and_reads_what_got_worse(
    project: Program, viewer: Viewing, page: Page, questions: list[dict[str, str]]
) -> None:
    for model, accuracy in (("checkpoint-1", "0.5"), ("checkpoint-2", "0.9")):
        with simulated_endpoint("--accuracy", accuracy, "--seed", accuracy[-1], answers=questions) as url:
            asked = ["eval", "-d", "questions.jsonl", "--scorer", "mcq", "--group-by", "category", "--n", "5"]
            run(project, *asked, "--model", model, "--base-url", url)
    viewer.open(page, "/")
    tick(page, ["checkpoint-1", "checkpoint-2"])
    page.get_by_role("button", name="Compare the two").click()
    page.wait_for_url("**/compare?*")
    expect(page.get_by_text("checkpoint-2 is better than checkpoint-1")).to_be_visible()
    page.get_by_role("link", name="lost").first.click()
    page.wait_for_function("() => !document.querySelector('[data-deferred]')")
    changed = page.locator(".flip").first
    expect(changed).to_contain_text("Expected:")
    changed.get_by_role("link").first.click()
    page.wait_for_url("**/compare/sample?*")
    for model in ("checkpoint-1", "checkpoint-2"):
        expect(page.get_by_role("heading", name=model)).to_be_visible()


def test_an_inference_engineer_sees_how_latency_and_accuracy_change_with_load(
    project: Program, viewer: Viewing, page: Page, questions: list[dict[str, str]]
) -> None:
    with simulated_endpoint("--slots", "2", "--first-token", "20", answers=questions) as url:
        load = [
            "load",
            "-d",
            "questions.jsonl",
            "--scorer",
            "mcq",
            "--concurrency",
            "1,4",
            "--requests",
            "30",
        ]
        run(project, *load, "--model", "served", "--base-url", url)
    viewer.open(page, "/?kind=load")
    assert page.locator("main table tbody tr").count() == 2
    tick(page, ["questions c1", "questions c4"])
    page.get_by_role("button", name="Leaderboard").click()
    page.wait_for_url("**/table?*")
    page.wait_for_function("() => !document.querySelector('[data-deferred]')")
    expect(page.locator("main svg").first).to_be_visible()
    viewer.open(page, "/?kind=load")
    page.get_by_role("link", name="questions c4").click()
    expect(page.get_by_text("time to first token, ms").first).to_be_visible()


def test_an_agent_builder_steps_through_the_failures_of_an_agent(
    project: Program, viewer: Viewing, page: Page
) -> None:
    rows = [json.loads(line) for line in (EXAMPLES / "arithmetic.jsonl").read_text().splitlines()]
    key = [
        {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in rows
    ]
    with simulated_endpoint("--accuracy", "0.7", answers=key) as url:
        agent = ["eval", "-m", "agent:CalculatorAgent", "-d", "arithmetic.jsonl"]
        run(project, *agent, "--eval-fn", "rewards:right_number", "--model", "m", "--base-url", url)
    viewer.open(page, f"/runs/{project.only_run.name}")
    page.get_by_role("link", name="Failed").first.click()
    page.wait_for_function("() => !document.querySelector('[data-deferred], [data-reading]')")
    page.locator(".samples tbody a").first.click()
    expect(page.get_by_role("heading", name="Expected")).to_be_visible()
    expect(page.get_by_text("calls calculate").first).to_be_visible()
    first = page.url
    page.get_by_role("link", name="failing →").click()
    page.wait_for_function("before => location.href !== before", arg=first)
    expect(page.get_by_role("heading", name="Expected")).to_be_visible()


def test_a_pack_user_reads_the_matrix_and_why_a_scenario_failed(
    project: Program, viewer: Viewing, page: Page
) -> None:
    packs = Packs(project)
    with simulated_endpoint() as url:
        packs.run(packs.pack("mixed"), url, models=("glm", "qwen"))
    viewer.open(page, "/?kind=pack")
    page.locator("main table tbody a").first.click()
    page.wait_for_url("**/runs/*")
    page.locator(".matrix .cell").filter(has_text="fail").first.click()
    page.wait_for_url("**/sample?id=B-02*")
    expect(page.locator(".banner .chip").first).to_have_text("fail")


def test_a_researcher_takes_the_table_of_a_suite_to_a_paper(
    project: Program, viewer: Viewing, page: Page, questions: list[dict[str, str]], chromium: Browser
) -> None:
    project.write(
        "paper.toml",
        'models = ["first", "second"]\n'
        '[[benchmarks]]\ndataset = "questions.jsonl"\nscorer = "mcq"\n'
        '[[benchmarks]]\nname = "again"\ndataset = "questions.jsonl"\nscorer = "mcq"\nlimit = 20\nmax_tokens = 500\n',
    )
    with simulated_endpoint("--accuracy", "0.7", answers=questions) as url:
        run(project, "run", "--suite", "paper.toml", "--base-url", url)
    viewer.open(page, "/table?suite=paper")
    board = page.locator("table.board").first
    assert board.locator("tbody tr").count() == 2
    assert len(board.locator("a.mean").all()) == 4
    shown = {link.inner_text() for link in board.locator("a.mean").all()}
    printed = project.run("table", "--suite", "paper", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    means = {f"{float(row[task]):.3f}" for row in rows for task in ("eval questions", "again")}
    assert shown == means, "the paper has the figures of the page"
    assert "\\begin{tabular}" in project.run("table", "--suite", "paper", "--format", "latex").stdout
