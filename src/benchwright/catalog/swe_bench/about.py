"""Metadata of SWE-bench Verified."""

from __future__ import annotations

import msgspec

from benchwright.catalog.agent_options import NETWORK_OPTIONS, agent_options
from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="swe_bench",
    splits={"test": ("data/test-*.parquet",)},
    origin=HubRepository("SWE-bench/SWE-bench_Verified", "91aa3ed51b709be6457e12d00300a6a596d4c6a3"),
    licence="MIT; the patches belong to their projects",
)

OPTIONS = {
    "mode": "How the model works: agent (in the container, default) or patch (one answer, shown the right files).",
    "predictions": "Grade the patches of this file (official .jsonl or .json), or of a folder of SWE-agent or "
    "mini-SWE-agent, and ask no model.",
    "test_seconds": "How long the tests of one instance may run (default: 1800).",
    **NETWORK_OPTIONS,
    **agent_options("instance", 250, 60),
}

SWE_BENCH = About(
    name="swe_bench",
    title="SWE-bench Verified",
    description="SWE-bench Verified — 500 real-world SE tasks in Docker",
    tier=4,
    items=500,
    licence="MIT; the patches belong to their projects",
    protocol="an agent with bash in the official image of the instance, at most 250 answers; official tests and rules",
    source="https://github.com/SWE-bench/SWE-bench (swebench.harness 5.0); arXiv:2310.06770; "
    "https://openai.com/index/introducing-swe-bench-verified",
    dataset=DATASET,
    metric="resolved",
    max_tokens=16384,
    cluster="repo",
    breakdowns=("repo", "difficulty"),
    options=OPTIONS,
    needs=("containers",),
    can_be_sealed=True,
)

DOCUMENTED_OPTIONS = {
    "repositories": "A directory of local mirrors (<owner>/<name>.git); by default GitHub's are cloned once and kept.",
    "image": "The image with git and pytest in which the tests run (default: python:3.11).",
    "containers": "How many containers run at once (default: 4).",
}

SWE_BENCH_DOCUMENTED = msgspec.structs.replace(
    SWE_BENCH,
    variant="documented",
    can_be_sealed=False,
    protocol="one answer with a unified diff, shown the issue; pytest in python:3.11, all FAIL_TO_PASS and up to 10 "
    "PASS_TO_PASS",
    source="llm-benchmarker's documentation",
    metric="accuracy",
    max_tokens=4096,
    smaller_max_tokens=True,
    breakdowns=("repo",),
    options=DOCUMENTED_OPTIONS,
)

VARIANTS = (SWE_BENCH, SWE_BENCH_DOCUMENTED)
