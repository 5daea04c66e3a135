"""Metadata of MultiChallenge: of its first set of conversations, and of its later set."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, GitRepository

COMMIT = "5ccefcca6a39020d66c1383c4e6a809cb07afa33"

DATASET = Dataset(
    name="multichallenge",
    splits={"test": ("data/benchmark_questions.jsonl",)},
    origin=GitRepository("https://github.com/ekwinox117/multi-challenge", COMMIT),
    licence="not stated",
    local={"test": ("benchmark_questions.jsonl",)},
)

HUB_DATASET = Dataset(
    name="multichallenge_hub",
    splits={"test": ("data/*.parquet",)},
    licence="CC-BY-4.0",
    local={"test": ("*.parquet", "*.jsonl")},
)

MULTICHALLENGE = About(
    name="multichallenge",
    title="MultiChallenge",
    description="MultiChallenge — 273 conversations whose last turn needs the earlier ones, with a judge",
    tier=2,
    items=273,
    licence=DATASET.licence,
    protocol="the conversation as it is, one attempt; another model says whether the last answer meets a criterion; "
    "the published score is the unweighted mean over the four axes",
    source=f"https://github.com/ekwinox117/multi-challenge (evaluator.py, commit {COMMIT}); arXiv:2501.17399",
    dataset=DATASET,
    metric="passed",
    max_tokens=32_768,
    departures=("up to 32,768 tokens for each answer; the authors leave the limit to each provider",),
    breakdowns=("axis",),
    roles=("judge",),
)

MULTICHALLENGE_HUB = msgspec.structs.replace(
    MULTICHALLENGE,
    variant="hub",
    description="MultiChallenge — the 266 conversations that are on the hub",
    items=266,
    licence=HUB_DATASET.licence,
    dataset=HUB_DATASET,
)

VARIANTS = (MULTICHALLENGE, MULTICHALLENGE_HUB)
