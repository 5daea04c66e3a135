"""Metadata of SWE-bench Multilingual."""

from __future__ import annotations

from benchwright.catalog.benchmark import About
from benchwright.catalog.swe_bench.about import OPTIONS
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="swe_bench_multilingual",
    splits={"test": ("data/test-*.parquet",)},
    origin=HubRepository("SWE-bench/SWE-bench_Multilingual"),
    licence="MIT; the patches belong to their projects",
)

SWE_BENCH_MULTILINGUAL = About(
    name="swe_bench_multilingual",
    title="SWE-bench Multilingual",
    description="SWE-bench Multilingual — 300 real-world SE tasks in nine languages, in Docker",
    tier=4,
    items=300,
    licence="MIT; the patches belong to their projects",
    protocol="an agent with bash in the official image of the instance, at most 250 answers; the row's own test "
    "script, official readers of logs and rules",
    source="https://github.com/SWE-bench/SWE-bench (swebench.harness 5.0.2, commit 7a21e05); "
    "https://www.swebench.com/multilingual.html",
    dataset=DATASET,
    metric="resolved",
    max_tokens=16384,
    cluster="repo",
    breakdowns=("language", "repo"),
    options={
        **OPTIONS,
        "memory_gib": "GiB of memory that each container may use (default: 16).",
    },
    needs=("containers",),
    can_be_sealed=True,
)

VARIANTS = (SWE_BENCH_MULTILINGUAL,)
