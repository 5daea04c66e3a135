"""The demo: a simulated model, and two evaluations of it — one without any code, one of an agent with a tool.

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
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
HOME = EXAMPLES.parent / "demo"
BENCHWRIGHT = [sys.executable, "-m", "benchwright"]


def answer_key(path: Path) -> None:
    """What the simulated model is told: the right letters, and the sums to give to the calculator."""
    entries = [
        {"prompt": row["question"], "answer": row["answer"]} for row in rows(EXAMPLES / "questions.jsonl")
    ]
    entries += [
        {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in rows(EXAMPLES / "arithmetic.jsonl")
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def start_simulator(directory: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A simulated endpoint in a process of its own; (process, base URL)."""
    key, port_file = directory / "key.jsonl", directory / "port"
    answer_key(key)
    command = [*BENCHWRIGHT, "simulate", "--port", "0", "--port-file", str(port_file), "--answers", str(key)]
    command += ["--accuracy", "0.7", "--answer-template", "The answer is {answer}"]
    command += ["--first-token", "lognormal:250:0.3", "--between-tokens", "lognormal:15:0.3", "--seed", "7"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for _ in range(200):
        if port_file.exists():
            return process, f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
        if process.poll() is not None:
            break
        time.sleep(0.05)
    process.terminate()
    sys.exit("The simulated endpoint did not start.")


def show(title: str, *arguments: str) -> None:
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}")
    print("  benchwright " + shlex.join(arguments), flush=True)
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(HOME)}
    status = subprocess.run([*BENCHWRIGHT, *arguments], cwd=EXAMPLES, env=environment, check=False).returncode
    if status:
        sys.exit(status)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        simulator, url = start_simulator(Path(directory))
        endpoint = ["--model", "simulated-7b", "--base-url", url]
        try:
            show(
                "1. Thirty multiple-choice questions, five trials each, no code:",
                *("eval", "-d", "questions.jsonl", "--scorer", "mcq", "--group-by", "category"),
                *("--n", "5", "--batch-size", "16", "--fresh", *endpoint),
            )
            show(
                "2. An agent with a calculator (examples/agent.py), scored by functions of our own:",
                *("eval", "-m", "agent:CalculatorAgent", "-d", "arithmetic.jsonl"),
                *("--eval-fn", "rewards:right_number", "--n", "3", "--batch-size", "8", "--fresh", *endpoint),
            )
        finally:
            simulator.terminate()
            simulator.wait(timeout=10)
    show("What was run:", "runs")
    print(f"\nEvery run, request and answer is under {HOME}/runs. Look at one again:")
    print(f"  BENCHWRIGHT_HOME={HOME} {EXAMPLES.parent}/.venv/bin/benchwright show RUN")


if __name__ == "__main__":
    main()
