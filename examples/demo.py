"""The demo: two simulated models on the same questions, an agent with a tool, a benchmark, and which model is better;
at the end both models on two benchmarks, as one suite with its table.

Run by `make demo`. Everything it starts, it ends; its runs are kept in ./demo.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capitals import CAPITALS

EXAMPLES = Path(__file__).resolve().parent
HOME = EXAMPLES.parent / "demo"
SUITE = """\
name = "demo"

[defaults]
concurrency = 16

[[models]]
model = "simulated-7b"
base_url = "{small}"

[[models]]
model = "simulated-70b"
base_url = "{large}"

[[benchmarks]]
name = "capitals"
plugin = "capitals.py"

[[benchmarks]]
dataset = "questions.jsonl"
scorer = "mcq"
n = 5
"""
BENCHWRIGHT = [sys.executable, "-m", "benchwright"]


def questions() -> list[dict[str, Any]]:
    """The answer key of the multiple-choice questions."""
    return [{"prompt": row["question"], "answer": row["answer"]} for row in rows("questions.jsonl")]


def sums() -> list[dict[str, Any]]:
    """The answer key of the sums, with the expressions that the model gives to the calculator."""
    return [
        {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in rows("arithmetic.jsonl")
    ]


def capitals() -> list[dict[str, Any]]:
    """The answer key of the benchmark."""
    return [
        {"prompt": f"the capital of {country}?", "answer": capital} for country, capital in CAPITALS.items()
    ]


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


@contextmanager
def simulated_model(answer_key: list[dict[str, Any]], accuracy: float = 0.7) -> Iterator[str]:
    """A simulated endpoint in a process of its own, right in this share of answers; yields its base URL."""
    with tempfile.TemporaryDirectory() as directory:
        key, port_file = Path(directory, "key.jsonl"), Path(directory, "port")
        key.write_text("".join(json.dumps(entry) + "\n" for entry in answer_key), encoding="utf-8")
        command = [*BENCHWRIGHT, "simulate", "--port", "0", "--port-file", str(port_file)]
        command += [
            "--answers",
            str(key),
            "--accuracy",
            str(accuracy),
            "--answer-template",
            "The answer is {answer}",
        ]
        command += [
            "--first-token",
            "lognormal:250:0.3",
            "--between-tokens",
            "lognormal:15:0.3",
            "--seed",
            "7",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            while not port_file.exists():
                if process.poll() is not None:
                    sys.exit("The simulated endpoint did not start.")
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
        finally:
            process.terminate()
            process.wait(timeout=10)


def show(title: str, *arguments: str) -> None:
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}")
    print("  benchwright " + shlex.join(arguments), flush=True)
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(HOME)}
    status = subprocess.run([*BENCHWRIGHT, *arguments], cwd=EXAMPLES, env=environment, check=False).returncode
    if status:
        sys.exit(status)


def quiz(model: str, url: str) -> list[str]:
    """The command that asks a model the questions."""
    return [
        *("eval", "-d", "questions.jsonl", "--scorer", "mcq", "--group-by", "category", "--n", "5"),
        *("--batch-size", "16", "--model", model, "--base-url", url, "--fresh"),
    ]


def main() -> None:
    with simulated_model(questions()) as url:
        show("1. Thirty multiple-choice questions, five trials each, no code:", *quiz("simulated-7b", url))
    with simulated_model(questions(), accuracy=0.9) as url:
        show("2. The same for another model:", *quiz("simulated-70b", url))
    with simulated_model(sums()) as url:
        show(
            "3. An agent with a calculator (examples/agent.py), scored by a function of our own:",
            *("eval", "-m", "agent:CalculatorAgent", "-d", "arithmetic.jsonl", "--n", "3"),
            *("--eval-fn", "rewards:right_number", "--batch-size", "8"),
            *("--model", "simulated-7b", "--base-url", url, "--fresh"),
        )
    with simulated_model(capitals()) as url:
        show(
            "4. A benchmark of our own (examples/capitals.py), as those of the catalog are run:",
            *("run", "capitals", "--plugin", "capitals.py", "--model", "simulated-7b", "--base-url", url),
            *("--output-dir", str(HOME / "results")),
        )
    both = [
        str(max(HOME.glob(f"runs/*-questions-{model}-*")).name) for model in ("simulated-7b", "simulated-70b")
    ]
    show("5. Is the second model better than the first?", "compare", *both)
    show("What was run so far:", "runs")
    suite, page = HOME / "suite.toml", HOME / "suite.html"
    key = [*capitals(), *questions()]
    with simulated_model(key) as small, simulated_model(key, accuracy=0.9) as large:
        suite.write_text(SUITE.format(small=small, large=large), encoding="utf-8")
        show(
            "6. A suite: both models on two benchmarks, and their table:",
            *("run", "--suite", str(suite), "--output-dir", str(HOME / "results"), "--fresh"),
        )
    show("Its table as a page:", "table", "--suite", "demo", "-o", str(page))
    program = f"BENCHWRIGHT_HOME={HOME} {EXAMPLES.parent}/.venv/bin/benchwright"
    print(f"\nThe suite's table as a page:  {page.as_uri()}")
    print(f"The same in the viewer:       {program} view --suite demo")
    print(f"Every run, request and answer is under {HOME}/runs, result files in {HOME}/results.")
    print(f"Look at one again:            {program} show RUN")
    print(f"Read them all in the browser: {program} view")


if __name__ == "__main__":
    main()
