"""A user's own benchmark: the documented example, from a file, listed and run like any other."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import only_result
from tests.simulated import simulated_endpoint

EXAMPLE = """
from . import register
from .base import BaseBenchmark, BenchmarkSample, SampleResult

@register
class MyBenchmark(BaseBenchmark):
    name = "my_benchmark"
    description = "My custom benchmark"
    tier = 1

    async def load_dataset(self, data_dir, max_samples=None):
        return [
            BenchmarkSample(
                id=f"sample_{number}",
                messages=[{"role": "user", "content": f"What is {number} + 2?"}],
                metadata={"expected": str(number + 2)},
            )
            for number in range(4)
        ][:max_samples]

    async def evaluate(self, sample, response):
        correct = sample.metadata["expected"] in response
        return SampleResult(
            id=sample.id,
            correct=correct,
            score=1.0 if correct else 0.0,
            predicted=response,
            expected=sample.metadata["expected"],
        )
"""

ANSWERS = [{"prompt": f"What is {number} + 2?", "answer": str(number + 2)} for number in range(4)]


def test_it_is_listed(program: Program) -> None:
    plugin = program.write("mine.py", EXAMPLE)
    listed = program.run("list", "--plugin", plugin)
    assert listed.returncode == 0, listed.stderr
    assert re.search(r"│ my_benchmark +│ +1 +│ My custom benchmark +│", listed.stdout)


def test_it_is_run_like_any_other(program: Program) -> None:
    plugin = program.write("mine.py", EXAMPLE)
    with simulated_endpoint("--accuracy=0.5", answers=ANSWERS) as url:
        ended = program.run("--base-url", url, "--model", "m", "run", "my_benchmark", "--plugin", plugin)
    assert ended.returncode == 0, ended.stderr
    result = only_result(program)
    assert (result["benchmark"], result["accuracy"], result["num_samples"]) == ("my_benchmark", 0.5, 4)
    sample = result["sample_results"][0]
    assert (sample["id"], sample["expected"]) == ("sample_0", "2")
    assert result["protocol"]["departures"] == []


def test_an_edited_helper_makes_it_another_version(program: Program) -> None:
    program.write("rules.py", "RIGHT = True\n")
    plugin = program.write(
        "mine.py", EXAMPLE.replace("correct = sample", "import rules; correct = rules.RIGHT and sample")
    )
    versions = []
    with simulated_endpoint("--accuracy=1", answers=ANSWERS) as url:
        for accuracy in (1.0, 0.0):
            ended = program.run("--base-url", url, "--model", "m", "run", "my_benchmark", "--plugin", plugin)
            assert ended.returncode == 0, ended.stderr
            results = [
                json.loads(path.read_text()) for path in program.directory.glob("results/my_benchmark_*.json")
            ]
            versions = [result["protocol"]["protocol_version"] for result in results]
            assert accuracy in {result["accuracy"] for result in results}
            program.write("rules.py", "RIGHT = False\n")
    assert len(set(versions)) == 2


def test_the_documents_own_example_runs_as_it_stands(program: Program) -> None:
    spec = Path(os.environ.get("BENCHWRIGHT_SPEC_DIR", Path(__file__).parents[3] / "shared" / "spec"))
    document = spec / "llm-benchmarker.md"
    if not document.exists():
        pytest.skip(f"no documents at {spec} (set BENCHWRIGHT_SPEC_DIR)")
    (code,) = re.findall(r"```python\n(from \. import register\n.*?)```", document.read_text(), re.S)
    with simulated_endpoint(answers=[{"prompt": "What is 2 + 2?", "answer": "It is 4."}]) as url:
        ended = program.run(
            *("--base-url", url, "--model", "mymodel", "run", "my_benchmark"),
            *("--plugin", program.write("my_benchmark.py", code)),
        )
    assert ended.returncode == 0, ended.stderr
    assert only_result(program)["accuracy"] == 1.0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_of_the_kind", "nothing_of_the_kind"),
        ("x = 1", "holds no benchmark"),
        (EXAMPLE.replace('"my_benchmark"', '"mmlu"'), "Two benchmarks are named 'mmlu'"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_line(program: Program, code: str, said: str) -> None:
    plugin = program.write("mine.py", code)
    ended = program.run("--base-url", NOWHERE, "--model", "m", "run", "my_benchmark", "--plugin", plugin)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
