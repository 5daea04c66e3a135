"""Every Python block of the llm-benchmarker document runs as written, or says what holds here.

The document is read where BENCHWRIGHT_SPEC_DIR says; `llm_bench_python.md` holds blocks of the same kind in our own
words, which always run. Two of its blocks are pieces of a program: what they lack is there beforehand.
"""

from __future__ import annotations

import ast
import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from tests.catalog.documented.answering import answering
from tests.docs.llm_bench_project import write_own_package

from llm_benchmarker.benchmarks.base import BaseBenchmark, BenchmarkSample, SampleResult
from llm_benchmarker.config import BenchmarkConfig, RunConfig, VLLMConfig
from llm_benchmarker.runner import BenchmarkRunner

HERE = Path(__file__).parent
SPEC = Path(os.environ.get("BENCHWRIGHT_SPEC_DIR", HERE.parents[2] / "shared" / "spec"))
OURS, DOCUMENT = HERE / "llm_bench_python.md", SPEC / "llm-benchmarker.md"

SEMAPHORE, SETTINGS = "self._semaphore = ", "class BenchmarkConfig("
BENCHMARK, IMPORT = "@register", "from . import my_benchmark"
"""What the four blocks are known by; the import line belongs to the benchmark, with which it runs."""


def blocks(document: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)


def documents() -> Iterator[Any]:
    for document in (OURS, DOCUMENT):
        reason = f"{document.name} is not there; BENCHWRIGHT_SPEC_DIR says where the documents are"
        absent = [] if document.exists() else [pytest.mark.skip(reason=reason)]
        yield pytest.param(document, id=document.stem, marks=absent)


each_document = pytest.mark.parametrize("document", list(documents()))


def block(document: Path, sign: str) -> str:
    (found,) = [text for text in blocks(document) if sign in text]
    return found


class Waiting(BaseBenchmark):
    """Twelve samples that take a moment each."""

    name = "waiting"

    async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> list[BenchmarkSample]:
        return [BenchmarkSample(str(n), [{"role": "user", "content": str(n)}]) for n in range(12)]

    async def evaluate(self, sample: BenchmarkSample, response: str) -> SampleResult:
        return SampleResult(sample.id, response == sample.id)


@each_document
async def test_as_many_samples_are_under_way_as_the_semaphore_would_let(document: Path) -> None:
    async with answering(seconds=0.02) as server:
        config = BenchmarkConfig(
            vllm=VLLMConfig(model="m", base_url=server.base_url), run=RunConfig(concurrency=5)
        )
        runner = SimpleNamespace()
        exec(block(document, SEMAPHORE), {"self": runner, "asyncio": asyncio, "config": config})
        result = await BenchmarkRunner(config).run(Waiting())
    assert result.accuracy == 1.0
    assert server.most_at_once == runner._semaphore._value == 5


@each_document
def test_the_settings_are_those_of_the_class(document: Path) -> None:
    names: dict[str, Any] = {"BaseModel": BaseModel, "VLLMConfig": VLLMConfig, "RunConfig": RunConfig}
    exec(compile(block(document, SETTINGS), "block", "exec", dont_inherit=True), names)
    shown = names["BenchmarkConfig"]
    assert shown is not BenchmarkConfig
    given: dict[str, Any] = {"vllm": {"model": "m"}, "run": {"concurrency": 3}}
    assert BenchmarkConfig(**given).model_dump() == shown(**given).model_dump()
    annotations: Callable[[Any], dict[str, Any]] = lambda model: {  # noqa: E731
        name: field.annotation for name, field in model.model_fields.items()
    }
    assert annotations(BenchmarkConfig) == annotations(shown)


PROGRAM = """
import asyncio
from llm_benchmarker.benchmarks import get_benchmark, list_benchmarks

(entry,) = [one for one in list_benchmarks() if one["name"] == "my_benchmark"]
print(entry["tier"], entry["description"])
mine = get_benchmark("my_benchmark")
(sample,) = asyncio.run(mine.load_dataset("data"))
print(sample.messages)
for said in ("It is 4.", "It is 5."):
    result = asyncio.run(mine.evaluate(sample, said))
    print(result.id, result.correct, result.score, result.predicted, result.expected)
"""


@each_document
def test_the_benchmark_is_registered_by_the_import_in_the_package(document: Path, tmp_path: Path) -> None:
    write_own_package(tmp_path, block(document, BENCHMARK), block(document, IMPORT))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines() == [
        "1 My custom benchmark",
        "[{'role': 'user', 'content': 'What is 2 + 2?'}]",
        "sample_0 True 1.0 It is 4. 4",
        "sample_0 False 0.0 It is 5. 4",
    ], done.stderr


@each_document
def test_every_block_is_one_that_is_run(document: Path) -> None:
    found = blocks(document)
    fences = sum(line.startswith("```python") for line in document.read_text(encoding="utf-8").splitlines())
    assert len(found) == fences == 4
    for text in found:
        ast.parse(text)
        assert sum(sign in text for sign in (SEMAPHORE, SETTINGS, BENCHMARK, IMPORT)) == 1
