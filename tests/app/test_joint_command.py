"""The joint view on the command line, over runs that were really made against the simulated endpoint."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import GrowingJournal, Program, trials
from tests.app.benchmark_kit import knowing, write_mmlu
from tests.simulated import simulated_endpoint

SAMPLES = 40
CORRECT = 28
CONCURRENCIES = (1, 4, 16)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """MMLU by a model that knows 28 of 40 answers, at three concurrencies."""
    program = Program(tmp_path_factory.mktemp("joint"))
    path = write_mmlu(program, SAMPLES)
    with knowing("mmlu", path, CORRECT / SAMPLES, "--first-token", "20", "--between-tokens", "2") as url:
        for concurrency in CONCURRENCIES:
            ended = program.run(
                *("--base-url", url, "--model", "m", "run", "mmlu", "--fresh"),
                *("--concurrency", str(concurrency), "--output-dir", f"at{concurrency}"),
            )
            assert ended.returncode == 0, ended.stderr
    return program


def ids(program: Program) -> list[str]:
    return [run.name for run in program.runs]


def printed(program: Program, *arguments: str) -> Any:
    ended = program.run(*arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


class TestShow:
    def test_the_json_has_the_view_of_each_target(self, runs: Program) -> None:
        shown = printed(runs, "show", ids(runs)[0])
        (view,) = shown["joint"]
        done = trials(runs.runs[0])
        working = sum(trial.duration for trial in done) / 1e9
        assert shown["done"] == view["judged"]["trials"] == SAMPLES
        assert view["working_seconds"] == pytest.approx(working, rel=0.02)  # one at a time
        assert view["correct_per_second"]["value"] == pytest.approx(CORRECT / view["working_seconds"])
        tokens = sum(request.completion_tokens for trial in done for request in trial.requests)
        assert view["correct_per_1000_completion_tokens"]["value"] == pytest.approx(CORRECT / tokens * 1000)
        assert [speed["metric"] for speed in view["by_speed"]] == ["latency", "ttft"]
        assert sum(bucket["n"] for bucket in view["by_speed"][0]["buckets"]) == SAMPLES

    def test_the_section_stands_beneath_the_summary(self, runs: Program) -> None:
        ended = runs.run("show", ids(runs)[2])
        assert ended.returncode == 0, ended.stderr
        summary, _, section = ended.stdout.partition("Correct answers")
        assert "40 requests in" in summary
        assert "SIMULATED" in summary
        assert re.search(r"^primary +second +[\d.]+ +\[", section, re.MULTILINE)
        assert "28 correct of 40 graded, none failed" in section
        assert "Fast and slow" in section
        assert "an association is not a cause" in " ".join(section.split())

    def test_a_run_that_is_too_short_has_no_section(self, program: Program) -> None:
        with simulated_endpoint() as url:
            assert program.run(*program.evaluating(program.rows(3), url)).returncode == 0
        ended = program.run("show", program.only_run.name)
        assert ended.returncode == 0, ended.stderr
        assert "Correct answers" not in ended.stdout
        assert not printed(program, "show", program.only_run.name).get("joint")


class TestCompare:
    def test_each_run_has_its_view_and_all_of_them_a_table(self, runs: Program) -> None:
        found = printed(runs, "compare", *ids(runs))
        assert [view["letter"] for view in found["joint"]] == ["A", "B", "C"]
        (table,) = found["by_concurrency"]
        assert [row["concurrency"] for row in table["rows"]] == list(CONCURRENCIES)
        assert {row["judged"]["correct"] for row in table["rows"]} == {CORRECT}
        rates = [row["requests_per_second"] for row in table["rows"]]
        assert rates[1] > 2 * rates[0]
        assert table["trend"]["samples"] == SAMPLES
        assert table["simulated"]

    def test_the_tables_and_the_trend_are_printed(self, runs: Program, tmp_path: Path) -> None:
        markdown = tmp_path / "compare.md"
        ended = runs.run("compare", *ids(runs), "--details", "--markdown", str(markdown))
        assert ended.returncode == 0, ended.stderr
        for text in (ended.stdout, markdown.read_text()):
            assert "By concurrency" in text
            assert "No trend of accuracy with concurrency found" in text
            assert "Fast and slow" in text
            assert "A (simulated): 28 correct of 40 graded, none failed" in " ".join(text.split())

    def test_a_single_result_file_is_its_documented_table_alone(self, runs: Program) -> None:
        (file,) = (runs.directory / "at4").glob("*.json")
        ended = runs.run("compare", str(file))
        assert ended.stdout.partition("┘\n")[2] == "SIMULATED: some of these answers are not from a model.\n"
        assert "Correct answers" not in ended.stdout

    def test_files_whose_runs_are_gone_have_tokens_and_quarters_and_no_time(
        self, runs: Program, tmp_path: Path
    ) -> None:
        files = [str(next((runs.directory / f"at{one}").glob("*.json"))) for one in CONCURRENCIES]
        elsewhere, here = printed(Program(tmp_path), "compare", *files), printed(runs, "compare", *files)
        for alone, known in zip(elsewhere["joint"], here["joint"], strict=True):
            assert "correct_per_second" not in alone
            assert "it is not known when its trials ran" in alone["notes"][0]
            per_tokens = "correct_per_1000_completion_tokens"
            assert alone[per_tokens]["value"] == pytest.approx(known[per_tokens]["value"])
            assert alone["by_speed"][0]["wrong_slower"] == known["by_speed"][0]["wrong_slower"]
        assert [row["concurrency"] for row in elsewhere["by_concurrency"][0]["rows"]] == list(CONCURRENCIES)


def test_the_pause_of_a_run_that_went_on_later_is_no_working_time(program: Program) -> None:
    pause = 1.5
    with simulated_endpoint("--first-token", "100") as url:
        process = program.start(*program.evaluating(program.rows(14), url, "--batch-size", "1"))
        GrowingJournal(program).wait_for(4, process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        time.sleep(pause)
        run = program.only_run
        ended = program.run("resume", run.name)
        assert ended.returncode == 0, ended.stderr
    (view,) = printed(program, "show", run.name)["joint"]
    done = trials(run)
    working = sum(trial.duration for trial in done) / 1e9
    span = max(one.started_at + one.duration for one in done) - min(one.started_at for one in done)
    assert view["judged"]["trials"] == 14
    assert view["working_seconds"] == pytest.approx(working, rel=0.02)
    assert view["working_seconds"] < span / 1e9 - pause
