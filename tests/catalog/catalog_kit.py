"""What tests of benchmarks share: a benchmark by name, its data from a path, and its checks played through."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchwright.catalog.benchmark import Benchmark, Options
from benchwright.catalog.registry import find_about, make_benchmark
from benchwright.catalog.selection import Selection
from benchwright.catalog.validation import ValidationResult, validate_benchmark
from benchwright.data.datasets import Source, find_dataset
from benchwright.records import Outcome, Sample


def benchmark(
    name: str,
    options: Mapping[str, str] | None = None,
    roles: Iterable[str] = (),
    *,
    sealed: bool = True,
    data_dir: Path = Path("data"),
) -> Benchmark:
    """A benchmark of the catalog with these options."""
    return make_benchmark(find_about(name), Options(options or {}, frozenset(roles), data_dir, sealed=sealed))


def source(name: str, path: Path) -> Source:
    """The data of a benchmark at a path."""
    return find_dataset(find_about(name).dataset, path.parent, path=path, offline=True)


def samples(name: str, path: Path, options: Mapping[str, str] | None = None) -> list[Sample]:
    """The samples of a benchmark."""
    return list(benchmark(name, options).samples(source(name, path)))


async def validated(name: str, path: Path, limit: int | None = None, **options: str) -> ValidationResult:
    """Plays the checks of a benchmark's samples."""
    return await validate_benchmark(benchmark(name, options), source(name, path), Selection(limit))


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Writes rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def answered(text: str) -> Outcome:
    """An outcome with this answer."""
    return Outcome(answer=text)
