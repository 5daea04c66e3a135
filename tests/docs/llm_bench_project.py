"""What the shell lines of the llm-benchmarker document name: data, models, files; and what must come of each line.

Which samples the model gets wrong is settled here; the expected numbers are counted from that, never by the program.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.app.benchmark_kit import mmlu_rows
from tests.catalog.catalog_kit import write_rows
from tests.catalog.made_up_rows import COUNT, write_all
from tests.catalog.played import scripts

import llm_benchmarker

ADDRESSES = ("http://localhost:8000/v1", "http://gpu-server:8000/v1", "http://192.168.1.100:8000/v1")
"""The servers of the document; the first is where a model is looked for unless a line says otherwise."""

MODELS = (
    *("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-70B-Instruct", "Qwen/Qwen2.5-72B-Instruct"),
    *("Qwen/Qwen2.5-7B-Instruct", "mistralai/Mistral-7B-Instruct-v0.3", "mymodel"),
    "claude-3-5-sonnet",
)

TIERS = {
    **dict.fromkeys(("mmlu", "mmlu_pro", "humaneval", "ifeval", "hle", "longbench_v2", "graphwalks"), 1),
    **dict.fromkeys(("multi_if", "mrcr"), 2),
    **dict.fromkeys(("bfcl", "tau_bench"), 3),
    **dict.fromkeys(("swe_bench", "swe_bench_pro", "terminal_bench"), 4),
}

MMLU_ROWS = 130

WRONG: Mapping[str, Sequence[int]] = {
    "mmlu": range(0, MMLU_ROWS, 3),
    "mmlu_pro": (0, 3),
    "humaneval": (2,),
    "ifeval": (1,),
    "hle": (0, 1, 2),
    "longbench_v2": (3,),
    "graphwalks": (0, 1, 2, 3),
    "bfcl": (1, 2),
    "my_benchmark": (),
}
"""The numbers of the samples that the model gets wrong; `my_benchmark` is the document's own, of one sample."""

SIZES = dict.fromkeys(WRONG, COUNT) | {"mmlu": MMLU_ROWS, "my_benchmark": 1}

PROTOCOLS = {
    "mmlu": (0.5, 2048),
    "mmlu_pro": (0.0, 2048),
    "humaneval": (0.5, 2048),
    "ifeval": (0.0, 2048),
    "hle": (0.0, 8192),
    "longbench_v2": (0.1, 128),
    "graphwalks": (0.0, 16384),
    "bfcl": (0.001, 4096),
    "my_benchmark": (0.0, 2048),
}
"""Temperature and most tokens of each protocol; what a line says wins."""

TWO_AND_TWO = {"prompt": "What is 2 + 2?", "replies": [{"role": "assistant", "content": "That makes 4."}]}


def write_data(data: Path) -> Path:
    """Lays made-up rows of all benchmarks into a data directory."""
    write_all(data, [name for name in WRONG if name not in ("mmlu", "my_benchmark")])
    write_rows(data / "mmlu" / "test.jsonl", mmlu_rows(MMLU_ROWS))
    return data


async def conversations(data: Path) -> list[dict[str, Any]]:
    """What the model says to each sample."""
    found = [TWO_AND_TWO]
    for name, wrong in WRONG.items():
        if name != "my_benchmark":
            found += await scripts(name, data / name, wrong)
    return found


def write_own_package(directory: Path, benchmark: str, importing: str) -> None:
    """The package `llm_benchmarker` with a user's benchmark put into it, as the document says."""
    package = directory / "llm_benchmarker"
    shutil.copytree(
        Path(llm_benchmarker.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    (package / "benchmarks" / "my_benchmark.py").write_text(benchmark)
    with (package / "benchmarks" / "__init__.py").open("a") as file:
        file.write(f"\n{importing}")


class Scored(NamedTuple):
    """What must come of one benchmark in a run: for each sample whether it is correct."""

    benchmark: str
    correct: list[bool]

    @property
    def accuracy(self) -> float:
        return sum(self.correct) / len(self.correct)


class Run:
    """One `llm-bench … run …`, read from its words."""

    def __init__(self, command: str) -> None:
        _, *words = shlex.split(command)
        self.options: dict[str, str] = {}
        self.benchmarks: list[str] = []
        while words:
            word = words.pop(0)
            if word in ("--no-stream", "--scrape-prometheus"):
                self.options[word] = ""
            elif word.startswith("--"):
                self.options[word] = words.pop(0)
            elif word != "run":
                self.benchmarks.append(word)
        self.model = self.options["--model"]
        self.directory = self.options.get("--output-dir", "results")
        self.streaming = "--no-stream" not in self.options
        self.scrapes = "--scrape-prometheus" in self.options

    @property
    def scored(self) -> Iterator[Scored]:
        limit = int(self.options.get("--max-samples", "1000000"))
        for name in self.benchmarks:
            yield Scored(name, [number not in WRONG[name] for number in range(min(SIZES[name], limit))])

    def config(self, benchmark: str, base_url: str) -> dict[str, Any]:
        """What the result file must say of the run."""
        temperature, tokens = PROTOCOLS[benchmark]
        return {
            "base_url": base_url,
            "concurrency": int(self.options.get("--concurrency", "8")),
            "streaming": self.streaming,
            "temperature": float(self.options.get("--temperature", temperature)),
            "max_tokens": int(self.options.get("--max-tokens", tokens)),
            "seed": int(self.options.get("--seed", "42")),
        }

    def file_name(self, benchmark: str) -> str:
        """The pattern of the result file's name."""
        return rf"{benchmark}_{re.escape(self.model.replace('/', '_'))}_\d{{8}}T\d{{6}}Z\.json"


def runs(line: str) -> list[Run]:
    """The runs of a line; one for each word of a `for` loop."""
    loop = re.fullmatch(r"for (\w+) in (.*); do\n\s*(.*)\ndone", line)
    if loop is None:
        return [Run(line)]
    variable, values, body = loop.groups()
    return [Run(body.replace(f"${variable}", value)) for value in values.split()]


def compared(line: str) -> list[str]:
    """The files that a `compare` names, with a date in place of each `*`."""
    return [word.replace("*", "20260220T120000Z") for word in shlex.split(line)[2:]]


MODELS_COMPARED = ({"model": "model-a", "right": 3, "of": 4}, {"model": "org/model-b", "right": 9, "of": 10})

COMPARISON = {
    "Accuracy": ("0.7500", "0.9000"),
    "Samples": ("4", "10"),
    "Score": ("0.7500", "0.9000"),
    "95% CI": ("[0.3256, 1.1744]", "[0.7141, 1.0859]"),  # p ± 1.96 sqrt(p (1 - p) / n)
    "95% CI (Wilson)": ("[0.3006, 0.9544]", "[0.5958, 0.9821]"),
    "TTFT Mean (s)": ("0.100", "0.200"),
    "TTFT P50 (s)": ("0.110", "0.220"),
    "TTFT P95 (s)": ("0.120", "0.240"),
    "Gen TPS Mean": ("130.0", "260.0"),
    "Latency Mean (s)": ("0.140", "0.280"),
    "Latency P95 (s)": ("0.150", "0.300"),
    "Throughput (req/s)": ("1.60", "3.20"),
}
"""The rows of the table for the two files of `write_results`."""


def write_results(directory: Path, names: Sequence[str]) -> None:
    """Writes result files under these names, in the shape that the document shows."""
    for number, (name, model) in enumerate(zip(names, MODELS_COMPARED, strict=True), 1):
        right, count = model["right"], model["of"]
        assert isinstance(right, int)
        assert isinstance(count, int)
        result = {
            "benchmark": "mmlu",
            "model": model["model"],
            "num_samples": count,
            "accuracy": right / count,
            "score": right / count,
            "aggregated_metrics": {
                "ttft_mean": 0.1 * number,
                "ttft_p50": 0.11 * number,
                "ttft_p95": 0.12 * number,
                "generation_tps_mean": 130.0 * number,
                "latency_mean": 0.14 * number,
                "latency_p95": 0.15 * number,
                "effective_throughput_rps": 1.6 * number,
            },
            "sample_results": [{"id": f"mmlu_{n}", "correct": n < right, "score": 1.0} for n in range(count)],
        }
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result))
