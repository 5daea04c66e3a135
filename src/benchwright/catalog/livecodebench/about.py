"""Metadata of LiveCodeBench (code generation)."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

_FILES = ("test.jsonl", *(f"test{number}.jsonl" for number in range(2, 7)))

DATASET = Dataset(
    name="livecodebench",
    splits={"v6": _FILES, "v5": _FILES[:-1]},
    origin=HubRepository("livecodebench/code_generation_lite"),
    licence="not stated",
    local={"v6": ("test*.jsonl",), "v5": ("test.jsonl", "test[2-5].jsonl")},
)
"""The dataset. Each release adds a file to the files of the previous release. `fetch` downloads all, 4.5 GB."""

LIVECODEBENCH = About(
    name="livecodebench",
    title="LiveCodeBench",
    description="LiveCodeBench v6 — 1,055 programming problems of contests, May 2023 to April 2025",
    tier=1,
    items=1_055,
    licence=DATASET.licence,
    protocol="the authors' prompt of chat models at temperature 0.2, top_p 0.95; code between the last two fences, "
    "which must pass all public and hidden tests by the official checker's rules, 6 s for each; mean of ten answers",
    source="https://github.com/LiveCodeBench/LiveCodeBench (commit 28fef95ea8c9f7a547c8329f2cd3d32b92c1fa24); "
    "arXiv:2403.07974",
    dataset=DATASET,
    metric="pass@1",
    max_tokens=32_768,
    temperature=0.2,
    params={"top_p": 0.95},
    repeats=10,
    departures=(
        "up to 32,768 tokens for each answer, where the authors' runner has 2,000, which reasoning models exceed",
        "a program has at most 4 GiB of memory; the official checker bounds none",
    ),
    breakdowns=("difficulty", "platform"),
    options={
        "from": "Only problems of contests on or after this day, YYYY-MM-DD.",
        "to": "Only problems of contests up to this day, YYYY-MM-DD.",
    },
    needs=("sandbox",),
)

LIVECODEBENCH_V5 = msgspec.structs.replace(
    LIVECODEBENCH,
    variant="v5",
    description="LiveCodeBench v5 — the 880 problems up to January 2025",
    items=880,
)

VARIANTS = (LIVECODEBENCH, LIVECODEBENCH_V5)
