"""What is odd in a server's answer is told with its trial wherever that is shown, and counted; it changes no score."""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Iterator

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.simulated import simulated_endpoint
from tests.web.web_kit import Viewing, viewing

RUN = "20260101T000000-odd-00000000"
EVIDENCE = "<tool_call> <b>look</b>"
ODD = [f"call_as_text: {EVIDENCE}", "no_done", "broken_character"]
TRIALS = [*made([1.0, 0.0]), Made("odd", 0.0, odd=ODD)]
WORDS = "the server sent a tool call as text"

TOOLS = """
from fastmcp import FastMCP

mcp = FastMCP("looking")


@mcp.tool()
def look(at: str) -> str:
    return f"I see {at}"
"""


@pytest.fixture
def odd(program: Program) -> Program:
    write_run(program.home / "runs" / RUN, TRIALS)
    return program


def test_the_summary_of_a_run_counts_them_and_says_what_to_do(odd: Program) -> None:
    shown = " ".join(odd.run("show", RUN).stdout.split())
    assert f"In 1 request {WORDS}: start it with the tool parser" in shown
    assert "In 1 request a character came in parts" in shown
    summary = json.loads(odd.run("show", RUN, "--json").stdout)
    assert summary["targets"][0]["requests"]["noted_requests"] == {"broken_character": 1, "call_as_text": 1}


def test_a_run_without_them_says_nothing_of_them(program: Program) -> None:
    write_run(program.home / "runs" / RUN, made([1.0, 0.0]))
    assert WORDS not in program.run("show", RUN).stdout
    assert "noted_requests" not in program.run("show", RUN, "--json").stdout


def test_a_sample_in_the_terminal_has_the_evidence(odd: Program) -> None:
    shown = " ".join(odd.run("show", RUN, "--sample", "odd").stdout.split())
    assert f"Note {WORDS}: {EVIDENCE}" in shown
    assert "no_done" not in shown


def test_an_exported_request_has_the_kinds_of_its_flags(odd: Program) -> None:
    odd.run("export", RUN, "--what", "requests", "-o", "requests.csv")
    rows = list(csv.DictReader((odd.directory / "requests.csv").read_text().splitlines()))
    assert [row["flags"] for row in rows] == ["", "", "call_as_text,no_done,broken_character"]


def test_a_report_has_the_count_and_the_evidence_as_text(odd: Program) -> None:
    odd.run("report", RUN, "-o", "report.html")
    page = (odd.directory / "report.html").read_text()
    assert f"In 1 request {WORDS}" in page
    assert html.escape(EVIDENCE) in page
    assert EVIDENCE not in page


class TestViewer:
    @pytest.fixture
    def viewer(self, odd: Program) -> Iterator[Viewing]:
        with viewing(odd) as viewer:
            yield viewer

    def test_the_page_of_a_trial_has_the_evidence_as_text(self, viewer: Viewing) -> None:
        page = viewer.get(viewer.sample(RUN, "odd")).text
        assert WORDS in page
        assert html.escape(EVIDENCE) in page
        assert EVIDENCE not in page

    def test_the_summary_of_the_run_counts_them(self, viewer: Viewing) -> None:
        assert f"In 1 request {WORDS}" in viewer.get(f"/runs/{RUN}").text


def test_a_call_that_came_as_text_is_not_executed_but_told(program: Program) -> None:
    (program.directory / "tools").mkdir()
    program.write("tools/main.py", TOOLS)
    program.write("data.jsonl", '{"system_prompt": "s", "user_prompt": "x", "ground_truth": "I see x"}\n')
    program.write("rewards.py", "def right(solution_str, ground_truth, extra_info=None):\n"
                  "    return float(solution_str == ground_truth)\n")  # fmt: skip
    command = ["eval", "--mcp", "tools", "-d", "data.jsonl", "--eval-fn", "rewards:right", "--model", "m"]
    with simulated_endpoint("--tools") as server:
        assert program.run(*command, "--base-url", server, "--fresh").returncode == 0
    with simulated_endpoint("--tools", "--fault", "call_as_text=1") as server:
        ended = program.run(*command, "--base-url", server, "--fresh")
    assert ended.returncode == 0, ended.stderr
    assert f"In 1 request {WORDS}" in " ".join((ended.stdout + ended.stderr).split())
    plain, as_text = sorted(program.runs, key=lambda run: run.stat().st_mtime)
    assert "Note" not in program.run("show", plain.name, "--row", "0").stdout
    shown = " ".join(program.run("show", as_text.name, "--row", "0").stdout.split())
    assert f'Note {WORDS}: <tool_call> {{"name": "look"' in shown
    assert "I see x" not in shown.partition("Answer")[2].partition("Score")[0]
