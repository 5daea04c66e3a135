"""Metadata of tau-bench, and of its variant as llm-benchmarker documents it."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, GitRepository

DATASET = Dataset(
    name="tau_bench",
    splits={
        "test": ("tau_bench/envs/*/tasks_test.py",),
        "dev": ("tau_bench/envs/*/tasks_dev.py",),
        "train": ("tau_bench/envs/*/tasks_train.py",),
    },
    origin=GitRepository(
        "https://github.com/sierra-research/tau-bench", "59a200c6d575d595120f1cb70fea53cef0632f6b"
    ),
    licence="MIT",
    local={split: (f"*_{split}_tasks*.jsonl",) for split in ("test", "dev", "train")},
)

TAU_BENCH = About(
    name="tau_bench",
    title="tau-bench",
    description="TAU-Bench — 165 multi-turn agentic tasks with real tools and a simulated user",
    tier=3,
    items=165,
    licence="MIT",
    protocol="tool-calling agent with the policy as system prompt, simulated user, at most 30 steps; "
    "final database and required statements",
    source="https://github.com/sierra-research/tau-bench; arXiv:2406.12045",
    dataset=DATASET,
    metric="reward",
    max_tokens=4096,
    cluster="customer",
    breakdowns=("domain",),
    options={
        "domain": "The tasks of retail, of airline, or of both (all).",
        "split": "The tasks of test, or of dev or train, which only retail has.",
    },
    roles=("user",),
    needs=("tools",),
)

TAU_BENCH_DOCUMENTED = msgspec.structs.replace(
    TAU_BENCH,
    variant="documented",
    description="TAU-Bench — Multi-turn agentic tasks with simulated tool execution",
    protocol="up to 20 turns, every tool call answered with a made-up success; the sequence of tool names",
    source="llm-benchmarker's documentation",
    metric="accuracy",
    max_tokens=1024,
    smaller_max_tokens=True,
    roles=(),
)

VARIANTS = (TAU_BENCH, TAU_BENCH_DOCUMENTED)
