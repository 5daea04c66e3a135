"""Metadata of SWE-bench Pro and its variant."""

from __future__ import annotations

import msgspec

from benchwright.catalog.agent_options import NETWORK_OPTIONS, agent_options
from benchwright.catalog.benchmark import About
from benchwright.catalog.swe_bench.about import DOCUMENTED_OPTIONS
from benchwright.data.dataset_spec import Dataset, GitRepository, HubRepository

DATASET = Dataset(
    name="swe_bench_pro",
    splits={"test": ("data/test-*.parquet",)},
    origin=HubRepository("ScaleAI/SWE-bench_Pro", "7ab5114912baf22bb098818e604c02fe7ad2c11f"),
    licence="MIT; the patches belong to their projects",
)

SCRIPTS_DATASET = Dataset(
    name="swe_bench_pro_scripts",
    splits={"test": ("run_scripts/*/run_script.sh", "run_scripts/*/parser.py")},
    origin=GitRepository(
        "https://github.com/scaleapi/SWE-bench_Pro-os", "ca10a60a5fcae51e6948ffe1485d4153d421e6c5"
    ),
    licence="MIT",
)
"""The scripts that run each instance's tests and parse their log. They are in a separate repository."""

OPTIONS = {
    "mode": "How the model works: agent (in the container, default) or patch (one answer, shown only the issue).",
    "predictions": "Grade the patches of this file (official .json, or .jsonl), or of a folder of SWE-agent or "
    "mini-SWE-agent, and ask no model.",
    "run_scripts": "The directory of run scripts, or a checkout of SWE-bench_Pro-os that holds it.",
    "test_seconds": "How long the tests of one instance may run (default: 3600).",
    "memory_gib": "GiB of memory that each container may use (default: 30).",
    **NETWORK_OPTIONS,
    **agent_options("instance", 250, 120),
}

SWE_BENCH_PRO = About(
    name="swe_bench_pro",
    title="SWE-bench Pro",
    description="SWE-bench Pro — 731 real-world SE tasks in Docker",
    tier=4,
    items=731,
    licence="MIT; the patches belong to their projects",
    protocol="an agent with bash in the image of the instance, at most 250 answers; the official run scripts, parsers "
    "and rule",
    source="https://github.com/scaleapi/SWE-bench_Pro-os; arXiv:2509.16941",
    dataset=DATASET,
    metric="resolved",
    max_tokens=16384,
    cluster="repo",
    breakdowns=("language", "repo"),
    options=OPTIONS,
    needs=("containers",),
    can_be_sealed=True,
    more_data=(SCRIPTS_DATASET,),
)

SWE_BENCH_PRO_DOCUMENTED = msgspec.structs.replace(
    SWE_BENCH_PRO,
    variant="documented",
    can_be_sealed=False,
    title="SWE-bench (full)",
    description="SWE-bench Pro — Full unverified SWE-bench in Docker",
    items=2294,
    licence="MIT; the patches belong to their projects",
    protocol="one answer with a unified diff, shown the issue; pytest in python:3.11, all FAIL_TO_PASS and up to 10 "
    "PASS_TO_PASS",
    source="llm-benchmarker's documentation",
    dataset=Dataset(
        name="swe_bench_pro:documented",
        splits={"test": ("data/test-*.parquet",)},
        origin=HubRepository("SWE-bench/SWE-bench"),
        licence="MIT; the patches belong to their projects",
    ),
    metric="accuracy",
    max_tokens=4096,
    smaller_max_tokens=True,
    breakdowns=("repo",),
    options=DOCUMENTED_OPTIONS,
    more_data=(),
)

VARIANTS = (SWE_BENCH_PRO, SWE_BENCH_PRO_DOCUMENTED)
