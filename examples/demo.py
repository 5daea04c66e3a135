"""The demo: two simulated models on the same questions, an agent with a tool, a benchmark, both models on two
benchmarks as one suite with its table, and last, which model is better.

Run by `make demo`. It prints the main parts of each command's output. ./demo keeps the runs, and the whole outputs in
./demo/output. All processes that it starts are ended.
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
OUTPUT = HOME / "output"
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


def run(name: str, *arguments: str) -> str:
    """Run a command of Benchwright, and keep its output with its messages in a file of this name; return the output."""
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(HOME)}
    done = subprocess.run(
        [*BENCHWRIGHT, *arguments], cwd=EXAMPLES, env=environment, capture_output=True, text=True, check=False
    )
    OUTPUT.mkdir(parents=True, exist_ok=True)
    OUTPUT.joinpath(f"{name}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        sys.exit(done.returncode)
    return done.stdout


def announce(title: str, *arguments: str) -> None:
    """Print the title of a step and its command."""
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}")
    print("  benchwright " + shlex.join(arguments), flush=True)


def show(title: str, name: str, parts: tuple[str, ...], *arguments: str) -> None:
    """Run a command, and print those paragraphs of its output that contain one of these words."""
    announce(title, *arguments)
    for paragraph in run(name, *arguments).split("\n\n"):
        if any(part in paragraph for part in parts):
            print(paragraph.strip("\n"), flush=True)


def quiz(model: str, url: str) -> list[str]:
    """The command that asks a model the questions."""
    return [
        *("eval", "-d", "questions.jsonl", "--scorer", "mcq", "--group-by", "category", "--n", "5"),
        *("--batch-size", "16", "--model", model, "--base-url", url, "--fresh"),
    ]


def main() -> None:
    print(f"Two simulated models. These are parts of the outputs; the whole ones are in {OUTPUT}.")
    with simulated_model(questions()) as url:
        show(
            "1. Thirty multiple-choice questions, five trials each, no code:",
            *("1-questions", ("SIMULATED", "primary:", "Speed")),
            *quiz("simulated-7b", url),
        )
    with simulated_model(questions(), accuracy=0.9) as url:
        show(
            "2. The same for another model:",
            *("2-other-model", ("primary:",)),
            *quiz("simulated-70b", url),
        )
    both = [
        str(max(HOME.glob(f"runs/*-questions-{model}-*")).name) for model in ("simulated-7b", "simulated-70b")
    ]
    with simulated_model(sums()) as url:
        show(
            "3. An agent with a calculator (examples/agent.py), scored by a function of our own:",
            *("3-agent", ("primary:",)),
            *("eval", "-m", "agent:CalculatorAgent", "-d", "arithmetic.jsonl", "--n", "3"),
            *("--eval-fn", "rewards:right_number", "--batch-size", "8"),
            *("--model", "simulated-7b", "--base-url", url, "--fresh"),
        )
    with simulated_model(capitals()) as url:
        show(
            "4. A benchmark of our own (examples/capitals.py), as those of the catalog are run:",
            *("4-benchmark", ("primary:", "Protocol:")),
            *("run", "capitals", "--plugin", "capitals.py", "--model", "simulated-7b", "--base-url", url),
            *("--output-dir", str(HOME / "results")),
        )
    run("runs", "runs")
    suite, page = HOME / "suite.toml", HOME / "suite.html"
    key = [*capitals(), *questions()]
    with simulated_model(key) as small, simulated_model(key, accuracy=0.9) as large:
        suite.write_text(SUITE.format(small=small, large=large), encoding="utf-8")
        show(
            "5. A suite: both models on two benchmarks, and their table:",
            *("5-suite", ("eval questions",)),
            *("run", "--suite", str(suite), "--output-dir", str(HOME / "results"), "--fresh"),
        )
    run("page", "table", "--suite", "demo", "-o", str(page))
    program = f"BENCHWRIGHT_HOME={HOME} {EXAMPLES.parent}/.venv/bin/benchwright"
    print("\nWhere to look:")
    print(f"  the suite's table as a page   {page.as_uri()}")
    print(f"  the same in the viewer        {program} view --suite demo")
    print(f"  every run                     {program} view, or {program} show RUN")
    print(f"  every request and answer      {HOME}/runs")
    print(f"  result files                  {HOME}/results")
    announce("6. Is the second model better than the first?", "compare", *both)
    verdict, _, rest = run("6-verdict", "compare", *both).partition("\n")
    for paragraph in rest.split("\n\n"):
        if "difference" in paragraph and "interval" in paragraph:
            print(paragraph)
    print(f"\n{verdict}")


if __name__ == "__main__":
    main()
