"""A trial with flags says so wherever it is shown, with the evidence; a run counts its suspicious passes."""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.web.web_kit import Viewing, viewing

RUN = "20260101T000000-flagged-00000000"
EVIDENCE = "the agent gave <b>cat /tests/test_outputs.py</b>"
TRIALS = [*made([1.0, 0.0]), Made("forged", 1.0, flags={"read_the_tests": EVIDENCE})]
SUMMARY = "1 of 2 passes is suspicious: 1 read the tests"
ABOUT: dict[str, object] = {
    "benchmark": "terminal_bench",
    "variant": None,
    "metric": "exact",
    "departures": [],
}


@pytest.fixture
def flagged(program: Program) -> Program:
    write_run(program.home / "runs" / RUN, TRIALS)
    return program


def test_the_summary_of_a_run_counts_them(flagged: Program) -> None:
    assert SUMMARY in flagged.run("show", RUN).stdout
    summary = json.loads(flagged.run("show", RUN, "--json").stdout)
    assert summary["targets"][0]["suspicious"] == {
        "passes": 2,
        "suspicious": 1,
        "kinds": {"read_the_tests": 1},
    }


def test_a_run_without_flags_says_nothing_of_them(program: Program) -> None:
    write_run(program.home / "runs" / RUN, made([1.0, 0.0]))
    assert "suspicious" not in program.run("show", RUN).stdout
    assert "suspicious" not in program.run("show", RUN, "--json").stdout


def test_a_sample_in_the_terminal_has_the_evidence(flagged: Program) -> None:
    shown = " ".join(flagged.run("show", RUN, "--sample", "forged").stdout.split())
    assert f"Flag read the tests: {EVIDENCE}" in shown


def test_exported_rows_have_a_column_of_flags(flagged: Program) -> None:
    flagged.run("export", RUN, "-o", "trials.csv")
    rows = list(csv.DictReader((flagged.directory / "trials.csv").read_text().splitlines()))
    assert [row["flags"] for row in rows] == ["", "", f"read_the_tests: {EVIDENCE}"]


@pytest.mark.parametrize("form", ["atif", "inspect", "eee", "lm-eval"])
def test_exports_for_other_programs_keep_them(flagged: Program, form: str) -> None:
    ended = flagged.run("export", RUN, "--format", form, "--developer", "lab", "-o", "out") \
        if form == "eee" else flagged.run("export", RUN, "--format", form, "-o", "out")  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    written = b"".join(path.read_bytes() for path in Path(flagged.directory, "out").rglob("*.json*"))
    assert b"read_the_tests" in written or form == "inspect"
    if form == "inspect":
        assert flagged.run("import", "out").returncode == 0
        (imported,) = [run for run in flagged.runs if run.name != RUN]
        assert SUMMARY.partition(":")[0] in flagged.run("show", imported.name).stdout


def test_a_published_result_says_how_many_passes_are_suspicious(program: Program) -> None:
    write_run(program.home / "runs" / RUN, TRIALS, kind="benchmark", about=ABOUT)
    assert program.run("export", RUN, "--format", "hf", "-o", "out").returncode == 0
    (entry,) = yaml.safe_load((program.directory / "out/.eval_results/terminal_bench.yaml").read_text())
    assert "1 of 2 passes is suspicious" in entry["notes"]


def test_a_report_has_the_count_and_the_evidence_as_text(flagged: Program) -> None:
    flagged.run("report", RUN, "-o", "report.html")
    page = (flagged.directory / "report.html").read_text()
    assert SUMMARY in page
    assert html.escape(EVIDENCE) in page
    assert EVIDENCE not in page


class TestViewer:
    @pytest.fixture
    def viewer(self, flagged: Program) -> Iterator[Viewing]:
        with viewing(flagged) as viewer:
            yield viewer

    def test_flagged_trials_can_be_chosen(self, viewer: Viewing) -> None:
        page = viewer.get(f"/runs/{RUN}?part=samples&only=flagged").text
        assert "forged" in page
        assert page.count("data-row>") == 1

    def test_the_tab_is_there_only_where_trials_have_flags(self, viewer: Viewing, program: Program) -> None:
        assert "only=flagged" in viewer.get(f"/runs/{RUN}").text
        write_run(program.home / "runs" / "20260102T000000-plain-00000000", made([1.0]))
        assert "only=flagged" not in viewer.get("/runs/20260102T000000-plain-00000000").text

    def test_the_page_of_a_trial_has_the_evidence_as_text(self, viewer: Viewing) -> None:
        page = viewer.get(viewer.sample(RUN, "forged")).text
        assert '<span class="chip flagged">read the tests</span>' in page
        assert html.escape(EVIDENCE) in page
        assert EVIDENCE not in page

    def test_the_summary_of_the_run_counts_them(self, viewer: Viewing) -> None:
        assert SUMMARY in viewer.get(f"/runs/{RUN}").text
