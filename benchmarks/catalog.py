"""What a benchmark of the catalog costs: all of MMLU, made up and laid out as on the hub."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.children import Endpoint, run, simulated
from benchmarks.measured import Measured

MMLU = 14_042
CONCURRENCY = 256


def catalog(rounds: int) -> list[Measured]:
    """CPU of a sample of MMLU, graded and in the result file."""
    small = MMLU // 10
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory, "data")
        key = write_mmlu(data, MMLU)
        with simulated("--answers", str(key)) as endpoint:
            costs = [
                (_cost(endpoint, data, directory, MMLU) - _cost(endpoint, data, directory, small))
                / (MMLU - small)
                for _ in range(rounds)
            ]
    return [Measured(f"CPU of an MMLU sample, {CONCURRENCY} at once", "ms", median(costs) * 1e3, goal=0.35)]


def _cost(endpoint: Endpoint, data: Path, directory: str, samples: int) -> float:
    arguments = [
        "-m",
        "benchwright",
        "--base-url",
        endpoint.base_url,
        "--model",
        "m",
        "--data-dir",
        str(data),
    ]
    arguments += ["--output-dir", f"{directory}/results", "run", "mmlu", "--concurrency", str(CONCURRENCY)]
    return run([*arguments, "--max-samples", str(samples)], {"BENCHWRIGHT_HOME": f"{directory}/home"}).cpu


def write_mmlu(data: Path, count: int) -> Path:
    """Made-up questions as the hub has them, in Parquet; returns the answer key to them."""
    import pyarrow
    import pyarrow.parquet

    from benchwright.catalog.mmlu.solver import step_by_step_prompt

    rows: list[dict[str, Any]] = [
        {
            "question": f"Which of the following four numbers is the one that was meant by number {number}?",
            "subject": f"subject_{number % 57}",
            "choices": [f"about {number * 4 + place}, more or less" for place in range(4)],
            "answer": number % 4,
        }
        for number in range(count)
    ]
    path = data / "cais" / "mmlu" / "all" / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    key = data / "key.jsonl"
    with key.open("w") as file:
        for row in rows:
            (message,) = step_by_step_prompt(row)
            answer = f"Let me think.\n\nAnswer: {'ABCD'[row['answer']]}"
            file.write(json.dumps({"prompt": message["content"], "answer": answer}) + "\n")
    return key
