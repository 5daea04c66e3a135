"""`check`, `list` and `compare`, as documented."""

from __future__ import annotations

import json

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.simulated import simulated_endpoint


class TestCheck:
    def test_a_model_that_is_served_is_available(self, program: Program) -> None:
        with simulated_endpoint("--model", "org/small") as url:
            ended = program.run("--base-url", url, "--model", "org/small", "check")
        assert ended.returncode == 0
        assert "'org/small' is available" in ended.stdout

    def test_one_that_is_not_listed_is_a_warning(self, program: Program) -> None:
        with simulated_endpoint("--model", "org/small") as url:
            ended = program.run("check", "--base-url", url, "--model", "org/smal")
        assert ended.returncode == 0
        assert "does not list the model 'org/smal'" in ended.stdout
        assert "Did you mean 'org/small'?" in ended.stdout

    def test_a_server_that_is_not_there_is_an_error(self, program: Program) -> None:
        ended = program.run("--base-url", NOWHERE, "--model", "m", "check")
        assert ended.returncode == 1
        assert "Connection failed" in ended.stderr
        assert "Traceback" not in ended.stderr

    def test_a_wrong_key_is_an_error(self, program: Program) -> None:
        with simulated_endpoint("--api-key", "right") as url:
            ended = program.run("--base-url", url, "--model", "m", "--api-key", "not-this-one", "check")
        assert ended.returncode == 1
        assert "refused the key" in ended.stderr
        assert "not-this-one" not in ended.stderr + ended.stdout

    def test_the_model_is_needed(self, program: Program) -> None:
        ended = program.run("check")
        assert ended.returncode == 2
        assert "--model" in ended.stderr


class TestList:
    def test_the_table_has_the_documented_columns_and_benchmarks(self, program: Program) -> None:
        ended = program.run("--model", "taken-and-not-needed", "list")
        assert ended.returncode == 0, ended.stderr
        assert "Available Benchmarks" in ended.stdout
        benchmarks, _, variants = ended.stdout.partition("Further Benchmarks")
        rows = [line.split("│") for line in benchmarks.splitlines() if line.startswith("│")]
        assert [cell.strip() for cell in rows[0][1:4]] == ["Name", "Tier", "Description"]
        names = [row[1].strip() for row in rows[1:]]
        assert names == sorted(names)
        assert {"mmlu", "mmlu_pro", "humaneval", "ifeval", "hle", "longbench_v2", "graphwalks"} <= set(names)
        assert {"multi_if", "mrcr", "bfcl", "tau_bench"} <= set(names)
        assert "mmlu:documented" in variants

    def test_json_says_what_each_is(self, program: Program) -> None:
        entries = json.loads(program.run("list", "--json").stdout)["benchmarks"]
        for entry in entries:
            assert entry["protocol"]
            assert entry["source"]
            assert entry["licence"]
            assert entry["items"] > 0
            assert "path" in entry["options"]


class TestCompare:
    RESULT = {
        "benchmark": "mmlu",
        "model": "model-a",
        "num_samples": 4,
        "accuracy": 0.75,
        "score": 0.8125,
        "aggregated_metrics": {
            "ttft_mean": 0.2014, "ttft_p50": 0.1823, "ttft_p95": 0.4512, "generation_tps_mean": 142.34,
            "latency_mean": 0.2481, "latency_p95": 0.5024, "effective_throughput_rps": 8.641,
        },
        "sample_results": [{"correct": correct} for correct in (True, True, True, False)],
    }  # fmt: skip

    def table(self, program: Program, *results: dict[str, object]) -> list[list[str]]:
        names = []
        for number, result in enumerate(results):
            names.append(program.write(f"{number}.json", json.dumps(result)))
        ended = program.run("compare", *names)
        assert ended.returncode == 0, ended.stderr
        lines = [line for line in ended.stdout.splitlines() if line.startswith(("│", "┃"))]
        return [[cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")] for line in lines]

    def test_the_documented_rows_and_figures(self, program: Program) -> None:
        other = self.RESULT | {"model": "model-b", "accuracy": 1.0}
        header, models, *rows = self.table(program, self.RESULT, other)
        assert header == ["", "mmlu", "mmlu"]
        assert models == ["Metric", "model-a", "model-b"]
        assert [row[:2] for row in rows] == [
            ["Accuracy", "0.7500"],
            ["Samples", "4"],
            ["Score", "0.8125"],
            ["95% CI", "[0.3256, 1.1744]"],  # 0.75 ± 1.96 * sqrt(0.75 * 0.25 / 4)
            ["95% CI (Wilson)", "[0.3006, 0.9544]"],
            ["TTFT Mean (s)", "0.201"],
            ["TTFT P50 (s)", "0.182"],
            ["TTFT P95 (s)", "0.451"],
            ["Gen TPS Mean", "142.3"],
            ["Latency Mean (s)", "0.248"],
            ["Latency P95 (s)", "0.502"],
            ["Throughput (req/s)", "8.64"],
        ]

    def test_what_a_file_does_not_have_is_a_dash(self, program: Program) -> None:
        bare = {"benchmark": "mmlu", "model": "m", "accuracy": 0.5}
        rows = dict(row for row in self.table(program, bare)[2:])
        assert "Score" not in rows
        assert rows["TTFT Mean (s)"] == "–"

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"benchmark": 3, "model": "m"}'])
    def test_what_is_no_result_file_is_told(self, program: Program, content: str) -> None:
        ended = program.run("compare", program.write("other.json", content))
        assert ended.returncode == 1
        assert "other.json is not a result file" in ended.stderr
        assert "Traceback" not in ended.stderr
