"""Writes results to files: one file per run, which contains the documented JSON object."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any

from benchwright.catalog.llm_benchmarker_api.base import BenchmarkResult, SampleResult
from benchwright.errors import JournalError
from benchwright.files import write_atomically

if TYPE_CHECKING:
    from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig


def save_result(
    result: BenchmarkResult, config: BenchmarkConfig, output_dir: str | os.PathLike[str] | None = None
) -> Path:
    """Write `<output_dir>/<benchmark>_<model>_<timestamp>Z.json` and return its path.

    Without `output_dir`, the directory is that of the configuration. A missing directory is created. Slashes
    in names become underscores. A second file in the same second gets a number. The file is written
    atomically.

    Raises:
        JournalError: If the file cannot be written.
    """
    import msgspec

    from benchwright.catalog.benchmark import format_timestamp
    from benchwright.runs.journal import encode_json

    moment = format_timestamp(time_ns())
    directory = Path(output_dir if output_dir is not None else config.run.output_dir)
    text = msgspec.json.format(encode_json(result_document(result, config, moment)), indent=2)
    stem = f"{_in_name(result.name)}_{_in_name(config.vllm.model)}_{moment}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        path = _claimed(directory, stem)
    except OSError as error:
        raise JournalError(f"Cannot write the results to {directory}: {error.strerror}.") from None
    try:
        write_atomically(path, text + b"\n", error=JournalError)
    except JournalError:
        path.unlink(missing_ok=True)
        raise
    return path


def result_document(result: BenchmarkResult, config: BenchmarkConfig, moment: str) -> dict[str, Any]:
    """Return the documented JSON object. `moment`: its timestamp, such as 20260220T120000Z."""
    run = config.run
    document: dict[str, Any] = {
        "benchmark": result.name,
        "model": config.vllm.model,
        "timestamp": moment,
        "config": {
            "base_url": config.vllm.base_url,
            "concurrency": run.concurrency,
            "streaming": run.streaming,
            "temperature": run.temperature,
            "max_tokens": run.max_tokens,
            "seed": run.seed,
        },
        "name": result.name,
        "num_samples": result.num_samples,
        "accuracy": result.accuracy,
        "score": result.score,
        "aggregated_metrics": result.aggregated_metrics.to_dict(),
        "sample_results": [_sample(one) for one in result.sample_results],
    }
    for name in ("prometheus_metrics", "prometheus_delta"):
        if getattr(result, name) is not None:
            document[name] = getattr(result, name)
    return document


def _sample(result: SampleResult) -> dict[str, Any]:
    return {**asdict(result), "metrics": None if result.metrics is None else asdict(result.metrics)}


def _claimed(directory: Path, stem: str) -> Path:
    """Create an empty file named after `stem`, and return its path.

    If the name is taken, append the first free number. No other process can get the same file.
    """
    number = 1
    while True:
        path = directory / (f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
        try:
            path.touch(exist_ok=False)
            return path
        except FileExistsError:
            number += 1


def _in_name(text: str) -> str:
    return text.replace("/", "_").replace("\\", "_").replace("\0", "_")
