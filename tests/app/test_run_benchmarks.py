"""`run`: a benchmark against a model, its documented result file, and what happens when it is interrupted."""

from __future__ import annotations

import json
import re
import shutil
import signal
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program, trials
from tests.app.benchmark_kit import knowing, mmlu_rows, only_result, result_files, write_mmlu
from tests.catalog.catalog_kit import write_rows
from tests.simulated import simulated_endpoint

from benchwright.app.run_lookup.unfinished_runs import UNREPORTED_MARKER
from benchwright.runs.manifest import read_manifest

DOCUMENTED_KEYS = [
    *("benchmark", "model", "timestamp", "config", "name", "num_samples", "accuracy", "score"),
    *("aggregated_metrics", "sample_results"),
]


def running(url: str, *more: str) -> list[str]:
    """The arguments of a run of MMLU."""
    return ["--base-url", url, "--model", "org/model", "run", "mmlu", *more]


class TestTheResult:
    def test_the_accuracy_is_exactly_that_of_the_model(self, program: Program) -> None:
        path = write_mmlu(program, 40)
        with knowing("mmlu", path, 0.7) as url:
            ended = program.run(*running(url))
        assert ended.returncode == 0, ended.stderr
        assert only_result(program)["accuracy"] == 0.7
        assert "accuracy 0.7000" in ended.stdout

    def test_quiet_shows_the_result_only(self, program: Program) -> None:
        path = write_mmlu(program, 4)
        with knowing("mmlu", path) as url:
            ended = program.run(*running(url, "-q"))
        assert "accuracy 1.0000" in ended.stdout
        assert re.fullmatch(r"Results: .+\n", ended.stderr)

    def test_the_file_has_the_documented_shape(self, program: Program) -> None:
        path = write_mmlu(program, 8)
        with knowing("mmlu", path) as url:
            program.run(*running(url, "--concurrency", "3"))
        (name,) = [path.name for path in (program.directory / "results").iterdir()]
        assert re.fullmatch(r"mmlu_org_model_\d{8}T\d{6}Z\.json", name)
        result = only_result(program)
        assert [key for key in result if key in DOCUMENTED_KEYS] == DOCUMENTED_KEYS
        assert result["timestamp"] in name
        assert result["model"] == "org/model"
        assert result["num_samples"] == 8
        assert result["config"] == {
            "base_url": url,
            "concurrency": 3,
            "streaming": True,
            "temperature": 0.5,
            "max_tokens": 2048,
            "seed": 42,
        }
        sample = result["sample_results"][1]
        assert sample["id"] == "mmlu_1"
        assert (sample["correct"], sample["score"]) == (True, 1.0)
        assert (sample["predicted"], sample["expected"]) == ("B", "B")
        assert sample["details"]["subject"] == "astronomy"
        assert sample["metrics"]["ttft_seconds"] > 0
        assert sample["metrics"]["total_latency_seconds"] >= sample["metrics"]["ttft_seconds"]
        assert sample["metrics"]["prompt_tokens"] > 0
        assert result["aggregated_metrics"]["total_requests"] == 8

    def test_the_samples_are_in_the_order_of_the_dataset(self, program: Program) -> None:
        path = write_mmlu(program, 30)
        with knowing("mmlu", path, 1.0, "--first-token=uniform:20:0.9") as url:
            program.run(*running(url, "--concurrency", "10"))
        assert [sample["id"] for sample in only_result(program)["sample_results"]] == [
            f"mmlu_{number}" for number in range(30)
        ]

    def test_without_streaming_there_is_no_first_token(self, program: Program) -> None:
        path = write_mmlu(program, 4)
        with knowing("mmlu", path) as url:
            program.run(*running(url, "--no-stream"))
        result = only_result(program)
        assert result["config"]["streaming"] is False
        assert result["sample_results"][0]["metrics"]["ttft_seconds"] is None
        assert not [name for name in result["aggregated_metrics"] if name.startswith("ttft")]

    def test_repeats_are_all_there(self, program: Program) -> None:
        path = write_mmlu(program, 5)
        with knowing("mmlu", path, 0.6) as url:
            program.run(*running(url, "--n", "3"))
        result = only_result(program)
        assert result["num_samples"] == 5
        assert [sample["repeat"] for sample in result["sample_results"]] == [0, 1, 2] * 5
        assert result["accuracy"] == pytest.approx(0.6)
        assert {entry["k"]: entry["pass_at_k"] for entry in result["passes"]} == {1: 0.6, 3: 0.6}

    def test_the_servers_metrics_are_attached(self, program: Program) -> None:
        path = write_mmlu(program, 6)
        with knowing("mmlu", path) as url:
            program.run(*running(url, "--scrape-prometheus"))
        result = only_result(program)
        assert "# TYPE vllm:" in result["prometheus_metrics"]
        grown = {name.partition("{")[0]: value for name, value in result["prometheus_delta"].items()}
        assert grown["benchwright_simulated_answered_total"] == 6

    def test_metrics_that_cannot_be_read_end_nothing(self, program: Program) -> None:
        path = write_mmlu(program, 2)
        with knowing("mmlu", path) as url:
            ended = program.run(*running(url, "--scrape-prometheus", "--prometheus-url", NOWHERE))
        assert ended.returncode == 0
        assert "Metrics are not recorded" in ended.stderr
        assert "prometheus_metrics" not in only_result(program)


class TestTheSamples:
    def test_where_takes_those_with_this_metadata(self, program: Program) -> None:
        path = write_mmlu(program, 12)
        with knowing("mmlu", path) as url:
            program.run(*running(url, "--where", "subject=virology"))
        result = only_result(program)
        assert {sample["details"]["subject"] for sample in result["sample_results"]} == {"virology"}
        assert result["num_samples"] == 3

    def test_a_value_that_no_sample_has_is_told_with_the_nearest(self, program: Program) -> None:
        write_mmlu(program, 12)
        ended = program.run(*running(NOWHERE, "--where", "subject=virologie"))
        assert ended.returncode == 1
        assert "Did you mean" in ended.stderr
        assert "virology" in ended.stderr

    def test_the_seed_shuffles_always_alike(self, program: Program) -> None:
        path = write_mmlu(program, 20)
        with knowing("mmlu", path) as url:
            for _ in range(2):
                program.run(*running(url, "--shuffle", "--max-samples", "5", "--seed", "7"))
            program.run(*running(url, "--shuffle", "--max-samples", "5", "--seed", "8"))
        first, second, other = (
            [sample["id"] for sample in result["sample_results"]] for result in result_files(program)
        )
        assert first == second
        assert first != other
        assert first != [f"mmlu_{number}" for number in range(5)]

    def test_a_bad_row_is_told_with_its_number_and_field_before_any_request(self, program: Program) -> None:
        rows = mmlu_rows(6)
        rows[4]["answer"] = "C"
        write_rows(program.directory / "data" / "mmlu" / "test.jsonl", rows)
        ended = program.run(*running(NOWHERE))
        assert ended.returncode == 1
        assert "test.jsonl" in ended.stderr
        assert "Row 4" in ended.stderr
        assert "answer" in ended.stderr
        assert ended.stderr.count("\n") == 1

    def test_data_that_is_nowhere_is_told_at_once_with_the_command_that_fetches(
        self, program: Program
    ) -> None:
        ended = program.run(*running(NOWHERE), HF_HUB_OFFLINE="1")
        assert ended.returncode == 1
        assert "benchwright fetch mmlu" in ended.stderr


class TestProtocol:
    def test_what_departs_from_the_protocol_is_said(self, program: Program) -> None:
        path = write_mmlu(program, 4)
        with knowing("mmlu", path) as url:
            ended = program.run(*running(url, "--temperature", "0", "--max-tokens", "100"))
        unpinned, *departures = only_result(program)["protocol"]["departures"]
        assert "is of no known revision" in unpinned
        assert departures == [
            "temperature 0 instead of 0.5",
            "at most 100 tokens per answer instead of 2,048",
        ]
        assert "Not comparable to published scores" in ended.stdout

    def test_what_is_sent_is_the_protocols_and_the_documented_seed(self, program: Program) -> None:
        path = write_mmlu(program, 1)
        with knowing("mmlu", path) as url:
            program.run(*running(url))
            program.run(*running(url, "--no-seed", "--temperature", "0.3"))
        first, second = (read_manifest(run).targets[0].settings for run in program.runs)
        assert first == {"temperature": 0.5, "max_tokens": 2048, "seed": 42}
        assert second == {"temperature": 0.3, "max_tokens": 2048}

    def test_further_fields_of_the_protocol_are_sent_unless_the_user_says_otherwise(
        self, program: Program, real_rows: Path
    ) -> None:
        path = real_rows / "mmlu_pro"
        with knowing("mmlu_pro", path) as url:
            few = ("--option", f"path={path}", "--max-samples", "1")
            arguments = ("--base-url", url, "--model", "m", "run", "mmlu_pro", *few)
            program.run(*arguments)
            program.run(*arguments, "--param", 'stop=["END"]')
        first, second = (read_manifest(run).targets[0].settings for run in program.runs)
        assert (first["stop"], second["stop"]) == (["Question:"], ["END"])

    def test_what_a_benchmark_always_does_otherwise_is_in_the_result_and_the_list(
        self, program: Program, real_rows: Path
    ) -> None:
        path = real_rows / "mmlu_pro"
        with knowing("mmlu_pro", path) as url:
            program.run("--base-url", url, "--model", "m", "run", "mmlu_pro", "--option", f"path={path}")
        listed = json.loads(program.run("list", "--json").stdout)["benchmarks"]
        (entry,) = [one for one in listed if one["name"] == "mmlu_pro"]
        protocol = only_result(program)["protocol"]
        assert len(entry["departures"]) == 2
        assert protocol["departures"][:2] == entry["departures"]
        assert protocol["protocol_version"] == entry["protocol_version"]

    def test_the_documented_variant_asks_for_the_letter_only(self, program: Program) -> None:
        path = write_mmlu(program, 4)
        with knowing("mmlu:documented", path, 0.5) as url:
            ended = program.run("--base-url", url, "--model", "m", "run", "mmlu:documented")
        assert ended.returncode == 0, ended.stderr
        result = only_result(program)
        assert result["variant"] == "documented"
        assert result["config"]["max_tokens"] == 32
        assert result["accuracy"] == 0.5
        (path,) = (program.directory / "results").iterdir()
        assert path.name.startswith("mmlu-documented_m_")

    def test_an_unknown_option_is_told_with_those_that_there_are(self, program: Program) -> None:
        write_mmlu(program, 1)
        ended = program.run(*running(NOWHERE, "--option", "pth=x"))
        assert ended.returncode == 1
        assert "Did you mean 'path'?" in ended.stderr


class TestInterruption:
    def test_the_same_command_goes_on_where_it_was_interrupted(self, program: Program) -> None:
        path = write_mmlu(program, 30)
        with knowing("mmlu", path, 1.0, "--first-token=150") as url:
            process = program.start(*running(url, "--concurrency", "2"))
            wait_for_trials(program, 4)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
            assert process.returncode == 130, said
            assert "Re-run the same command" in said
            assert not (program.directory / "results").exists()
            again = program.run(*running(url, "--concurrency", "10"))
        assert again.returncode == 0, again.stderr
        done = trials(program.only_run)
        assert len({trial.key for trial in done if trial.status == "answered"}) == 30
        assert len([trial for trial in done if trial.status == "answered"]) == 30
        assert only_result(program)["num_samples"] == 30

    def test_a_killed_one_loses_nothing(self, program: Program) -> None:
        path = write_mmlu(program, 30)
        with knowing("mmlu", path, 1.0, "--first-token=150") as url:
            process = program.start(*running(url, "--concurrency", "2"))
            wait_for_trials(program, 4)
            process.kill()
            process.communicate(timeout=30)
            kept = {trial.key for trial in trials(program.only_run)}
            program.run(*running(url, "--concurrency", "10"))
        answered = [trial.key for trial in trials(program.only_run) if trial.status == "answered"]
        assert kept <= set(answered)
        assert len(answered) == len(set(answered)) == 30

    def test_a_finished_one_is_run_anew(self, program: Program) -> None:
        path = write_mmlu(program, 3)
        with knowing("mmlu", path) as url:
            program.run(*running(url))
            program.run(*running(url))
        assert len(program.runs) == 2
        assert len(result_files(program)) == 2

    def test_a_server_that_is_not_there_ends_it_with_one_line(self, program: Program) -> None:
        write_mmlu(program, 30)
        ended = program.run(*running(NOWHERE))
        assert ended.returncode == 1
        assert "127.0.0.1:9" in ended.stderr
        assert "Traceback" not in ended.stderr

    def test_killed_before_its_result_was_written_it_asks_nothing_again(self, program: Program) -> None:
        rows = write_mmlu(program, 4)
        with knowing("mmlu", rows) as url:
            command = ["run", "mmlu", "--model=m", f"--base-url={url}"]
            assert program.run(*command).returncode == 0
            shutil.rmtree(program.directory / "results")
            (program.only_run / UNREPORTED_MARKER).touch()
            assert program.run(*command).returncode == 0
            assert only_result(program)["accuracy"] == 1.0
            assert len(trials(program.only_run)) == 4
            program.run(*command)
        assert len(program.runs) == 2, "a finished run with its result is run again"


class TestSeveral:
    def test_each_benchmark_gets_a_file(self, program: Program) -> None:
        path = write_mmlu(program, 4)
        with knowing("mmlu", path) as url:
            ended = program.run("--base-url", url, "--model", "m", "run", "mmlu", "mmlu:documented")
        assert ended.returncode == 0, ended.stderr
        assert [result["variant"] for result in result_files(program)] == [None, "documented"]

    def test_all_are_checked_before_the_first_is_run(self, program: Program) -> None:
        write_mmlu(program, 4)
        with simulated_endpoint() as url:
            ended = program.run("--base-url", url, "--model", "m", "run", "mmlu", "mlmu")
        assert ended.returncode == 1
        assert "Did you mean 'mmlu'?" in ended.stderr
        assert program.runs == []


def test_json_is_one_object(program: Program) -> None:
    path = write_mmlu(program, 4)
    with knowing("mmlu", path, 0.5) as url:
        ended = program.run(*running(url, "--json"))
    (benchmark,) = json.loads(ended.stdout)["benchmarks"]
    assert benchmark["accuracy"] == 0.5
    assert benchmark["totals"]["correct"] == 2
    assert Path(program.directory / benchmark["path"]).exists()


def test_a_dry_run_asks_nothing(program: Program) -> None:
    write_mmlu(program, 4)
    ended = program.run(*running(NOWHERE, "--dry-run"))
    assert ended.returncode == 0
    assert "4 trials" in ended.stdout
    assert program.runs == []


def wait_for_trials(program: Program, count: int) -> None:
    """Until the journal of the only run holds so many trials."""
    import time

    for _ in range(400):
        if len(program.runs) == 1 and len(trials(program.only_run)) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("the run does not get on")
