"""Metadata of MRCR, and of its variant as llm-benchmarker documents it."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="mrcr",
    splits={"train": ("2needle/2needle_*.parquet", "4needle/4needle_*.parquet", "8needle/8needle_*.parquet")},
    origin=HubRepository("openai/mrcr", "f4c69fae7cf81f7ca26b9fee34b392a50f6b8a1d"),
    licence="MIT",
    local={"train": ("2needle.parquet", "4needle.parquet", "8needle.parquet")},
)

MRCR = About(
    name="mrcr",
    title="MRCR",
    description="MRCR — 2,400 multi-round long-context needle retrieval",
    tier=2,
    items=2_400,
    licence="MIT",
    protocol="the dataset's own conversation; likeness of texts behind a gate of the random prefix",
    source="https://huggingface.co/datasets/openai/mrcr; arXiv:2409.12640",
    dataset=DATASET,
    metric="mrcr",
    max_tokens=4096,
    breakdowns=("n_needles", "context"),
    options={
        "max_context": "Leave out conversations with more tokens than this (4.9 characters a token).",
        "max_input_tokens": "Cut messages out of the middle of conversations with more tokens than this.",
    },
)

MRCR_DOCUMENTED = msgspec.structs.replace(
    MRCR,
    variant="documented",
    description="MRCR, exact or contained answer, as llm-benchmarker documents it",
    protocol="the dataset's own conversation; documented exact or contains match",
    source="llm-benchmarker's documentation",
    metric="accuracy",
    max_tokens=256,
    smaller_max_tokens=True,
)

VARIANTS = (MRCR, MRCR_DOCUMENTED)
