"""What the shell lines of the Osmosis documents name: a user's files and models; and what must come of each line.

Each model answers a row rightly (`r`), nearly (`n`) or wrongly (`w`), by a pattern of its own that goes round; the
expected numbers are worked out from these patterns, never by the program.
"""

from __future__ import annotations

import json
import math
import shlex
import shutil
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.asking_agent import AGENT

ROWS = 60
ENDPOINT = "http://localhost:8000/v1"
SECOND_ENDPOINT = "http://localhost:8001/v1"
OSMOSIS = "https://inference.osmosis.ai/v1"
OPENAI = "$OPENAI_BASE_URL"
ANTHROPIC = "$ANTHROPIC_API_BASE"

MODELS = {ENDPOINT: "rrnww", SECOND_ENDPOINT: "rnw", OSMOSIS: "rrrn", OPENAI: "rw", ANTHROPIC: "nwww"}
"""How each model answers, row by row, by the address that the documents give or the variable that holds it."""

KEYS = {OSMOSIS: "osmosis-9f3c61d2a8", OPENAI: "sk-4b7e20c95d1f", ANTHROPIC: "sk-ant-8d1e5f7a3c"}
"""The models that refuse whoever comes without a key."""

WORTH = {
    "rewards:compute_reward": {"r": 1.0, "n": 0.6, "w": 0.0},
    "rewards:exact_match": {"r": 1.0, "n": 0.0, "w": 0.0},
    "rewards:partial_match": {"r": 1.0, "n": 0.5, "w": 0.0},
    "rewards:semantic_similarity": {"r": 1.0, "n": 0.8, "w": 0.1},
    "rewards:score": {"r": 1.0, "n": 0.25, "w": 0.0},
}
"""What each eval function gives for an answer. `reward_fn:compute_reward` looks at the tool's result instead."""

REWARDS = """
from osmosis_ai import osmosis_reward


def worth(answer, target, near, wrong=0.0):
    return {target: 1.0, f"{target} or so": near}.get(answer, wrong)


@osmosis_reward
def compute_reward(solution_str: str, ground_truth: str, extra_info: dict = None, **kwargs) -> float:
    return worth(solution_str, ground_truth, 0.6)


def exact_match(solution_str: str, ground_truth: str, extra_info: dict = None, **kwargs) -> float:
    return worth(solution_str, ground_truth, 0.0)


def partial_match(solution_str, ground_truth, extra_info=None):
    return worth(solution_str, extra_info["ground_truth"], 0.5)


async def semantic_similarity(messages: list, ground_truth: str, metadata: dict, **kwargs) -> float:
    return worth(messages[-1]["content"], metadata["ground_truth"], 0.8, wrong=0.1)


def score(solution_str, ground_truth, extra_info=None):
    return worth(solution_str, ground_truth, 0.25)
"""

TOOL_REWARDS = """
def compute_reward(messages: list, ground_truth: str, metadata: dict, **kwargs) -> float:
    return float(any(m["role"] == "tool" and m["content"] == ground_truth for m in messages))
"""

TOOLS = """
from fastmcp import FastMCP

mcp = FastMCP("a book with every other word")


@mcp.tool()
def lookup(key: int) -> str:
    '''Look up a word by its number.'''
    return "not found" if key % 2 else f"word{key}"
"""

FILES = {
    "my_agent.py": AGENT,
    "server.py": AGENT,
    "rewards.py": REWARDS,
    "reward_fn.py": TOOL_REWARDS,
    "mcp/main.py": TOOLS,
}


def write_project(directory: Path) -> None:
    """Writes everything that the lines name."""
    for name, text in FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    rows = ({"system_prompt": "Be brief.", "user_prompt": prompt(row), "ground_truth": f"word{row}"}
            for row in range(ROWS))  # fmt: skip
    (directory / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def clean(directory: Path) -> None:
    """Forgets everything that was written beside the project."""
    for path in directory.iterdir():
        if path.is_dir() and path.name != "mcp":
            shutil.rmtree(path)
        elif path.name not in (*FILES, "data.jsonl", "mcp"):
            path.unlink()


def prompt(row: int) -> str:
    return f"Which word has the number {row}?"


def grade(address: str, row: int) -> str:
    pattern = MODELS[address]
    return pattern[row % len(pattern)]


def answer(address: str, row: int) -> str:
    return {"r": f"word{row}", "n": f"word{row} or so", "w": "no idea"}[grade(address, row)]


def answer_key(address: str) -> list[dict[str, Any]]:
    """What a simulated endpoint is to answer; where it is offered tools it looks the word up first."""
    return [
        {
            "prompt": prompt(row),
            "answer": answer(address, row),
            "tool_calls": [{"name": "lookup", "arguments": {"key": row}}],
        }
        for row in range(ROWS)
    ]


class Tried(NamedTuple):
    """A model in an evaluation: its name as typed, where it is, and its tag where there are two."""

    model: str
    address: str
    tag: str | None


class Evaluation:
    """What a line asks for, read from its options, and what has to come out."""

    def __init__(self, line: str) -> None:
        words = shlex.split(line)
        self.command = words[1]
        self.given: dict[str, list[str]] = {}
        name = ""
        for word in words[2:]:
            if word.startswith("-"):
                name = word.replace("_", "-")
                self.given.setdefault(name, [])
            else:
                self.given[name].append(word)
        self.repeats = int(self.option("--n", "1"))
        self.threshold = float(self.option("--pass-threshold", "1"))
        self.eval_fns = self.given["--eval-fn"]
        offset = int(self.option("--offset", "0"))
        self.rows = range(offset, min(ROWS, offset + int(self.option("--limit", str(ROWS)))))

    def option(self, name: str, default: str = "") -> str:
        return self.given.get(name, [default])[0]

    @property
    def tried(self) -> list[Tried]:
        baseline = self.option("--baseline-model")
        model = self.option("--model")
        primary = Tried(model, _address(model, self.option("--base-url")), "primary" if baseline else None)
        if not baseline:
            return [primary]
        return [primary, Tried(baseline, _address(baseline, self.option("--baseline-base-url")), "baseline")]

    @property
    def requests(self) -> Counter[str]:
        """Requests by address: with tools the model first asks for one, then answers."""
        turns = 2 if "--mcp" in self.given else 1
        counts: Counter[str] = Counter()
        for one in self.tried:
            counts[one.address] += len(self.rows) * self.repeats * turns
        return counts

    @property
    def runs(self) -> Iterator[tuple[int, int, str | None, dict[str, float]]]:
        """(row, run, tag, scores) of every run, in the documented order."""
        for row in self.rows:
            for one in self.tried:
                for repeat in range(self.repeats):
                    yield row, repeat, one.tag, {fn: worth(fn, one.address, row) for fn in self.eval_fns}

    def summary(self, one: Tried) -> dict[str, dict[str, float]]:
        """The documented figures of one model, by eval function."""
        return {fn: self._summary([worth(fn, one.address, row) for row in self.rows]) for fn in self.eval_fns}

    def _summary(self, values: list[float]) -> dict[str, float]:
        """Every run of a row is worth the same, so that pass@k is the share of rows that pass, for every k."""
        passing = sum(value >= self.threshold for value in values) / len(values)
        ks = [k for k in (1, 3, 5, 10) if 1 < self.repeats >= k]
        return {
            "mean": math.fsum(values) / len(values),
            "std": statistics.pstdev(values),
            "min": min(values),
            "max": max(values),
            **{f"pass_at_{k}": passing for k in ks},
        }


def worth(eval_fn: str, address: str, row: int) -> float:
    if eval_fn == "reward_fn:compute_reward":
        return float(row % 2 == 0)
    return WORTH[eval_fn][grade(address, row)]


def _address(model: str, base_url: str) -> str:
    return base_url or (ANTHROPIC if model.startswith("anthropic/") else OPENAI)


def holding(directory: Path, text: str) -> list[Path]:
    """The files below a directory that hold a text."""
    return [path for path in directory.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
