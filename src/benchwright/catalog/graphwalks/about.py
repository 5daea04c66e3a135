"""Metadata of GraphWalks, and of its variant as llm-benchmarker documents it."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="graphwalks",
    splits={"train": ("graphwalks_128k_and_shorter.parquet", "graphwalks_256k_to_1mil.parquet")},
    origin=HubRepository("openai/graphwalks", "f338bb265735a56a79f4b0f5def722c9c3268ead"),
    licence="MIT",
)

GRAPHWALKS = About(
    name="graphwalks",
    title="GraphWalks",
    description="GraphWalks — 1,150 graph reasoning tasks with set comparison",
    tier=1,
    items=1_150,
    licence="MIT",
    protocol="the dataset's own prompt; F1 of the nodes on the last line, as openbench reads it",
    source="https://huggingface.co/datasets/openai/graphwalks; "
    "https://github.com/groq/openbench (scorers/graphwalks.py); most tokens as in lm-evaluation-harness",
    dataset=DATASET,
    metric="f1",
    max_tokens=16_384,
    breakdowns=("problem_type", "length"),
)

GRAPHWALKS_DOCUMENTED = msgspec.structs.replace(
    GRAPHWALKS,
    variant="documented",
    description="GraphWalks, Jaccard similarity, as llm-benchmarker documents it",
    protocol="the dataset's own prompt; Jaccard similarity of the items in the whole response",
    source="llm-benchmarker's documentation",
    metric="jaccard",
    max_tokens=512,
    smaller_max_tokens=True,
)

VARIANTS = (GRAPHWALKS, GRAPHWALKS_DOCUMENTED)
