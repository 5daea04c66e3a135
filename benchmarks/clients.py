"""The two programs that are compared: the floor client, and `benchwright eval` as a user would run it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.children import Cost, run

PROMPT = "What is the number"


class Result(NamedTuple):
    """A run: its cost, and the time to the first token that the client noted per request id, in ns."""

    cost: Cost
    ttft: dict[str, int]


class Load(NamedTuple):
    """What a client is to do: so many requests, so many at once, streamed or not."""

    base_url: str
    requests: int
    concurrency: int
    stream: bool


Client = Callable[[Load], Result]


def floor(load: Load) -> Result:
    """Has the floor client ask."""
    arguments = ["-m", "benchmarks.floor", "--base-url", load.base_url, "--prompt", PROMPT]
    arguments += ["--requests", str(load.requests), "--concurrency", str(load.concurrency)]
    cost = run(arguments if load.stream else [*arguments, "--no-stream"])
    return Result(cost, json.loads(cost.stdout)["ttft"])


def ours(load: Load) -> Result:
    """Has `benchwright eval` do as many trials in a home of its own: scored, journalled, progress on."""
    with tempfile.TemporaryDirectory() as home:
        dataset = Path(home, "data.jsonl")
        _write_dataset(dataset, load.requests)
        arguments = ["-m", "benchwright", "eval", "-d", str(dataset), "--scorer", "exact", "--json"]
        arguments += ["--model", "m", "--base-url", load.base_url, "--batch-size", str(load.concurrency)]
        if not load.stream:
            arguments.append("--no-stream")
        cost = run(arguments, {"BENCHWRIGHT_HOME": home})
        done = json.loads(cost.stdout)["done"]
        if done != load.requests:
            raise RuntimeError(f"only {done} of {load.requests} trials were done")
        return Result(cost, _journalled_ttft(Path(home)) if load.stream else {})


def _write_dataset(path: Path, rows: int) -> None:
    with path.open("w") as lines:
        for number in range(rows):
            prompt = f"{PROMPT} {number}"
            lines.write(json.dumps({"user_prompt": prompt, "ground_truth": prompt}) + "\n")


def _journalled_ttft(home: Path) -> dict[str, int]:
    (journal,) = home.glob("runs/*/trials.jsonl")
    ttft = {}
    with journal.open("rb") as lines:
        for line in lines:
            for request in json.loads(line).get("requests", []):
                ttft[request["id"]] = request["ttft"]
    return ttft
