"""Metadata of Multi-IF, and of its variant as llm-benchmarker documents it."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.catalog.ifeval.about import PUNKT_DATASET
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="multi_if",
    splits={"train": ("multiIF_20241018.csv",)},
    origin=HubRepository("facebook/Multi-IF", "0ab97ce0b45c7f57772e8ba2ac1616f4b00bd3aa"),
    licence="CC-BY-NC-2.0",
    local={"train": ("test.*", "test-*.parquet")},
)

MULTI_IF = About(
    name="multi_if",
    title="Multi-IF",
    description="Multi-IF — 4,501 multi-turn multilingual instruction following",
    tier=2,
    items=4_501,
    licence="CC-BY-NC-2.0 (not for commercial use)",
    protocol="three turns in one conversation at temperature 0.6 and top_p 0.9; per turn the mean of prompt and "
    "instruction accuracy, strict and loose",
    source="https://github.com/facebookresearch/Multi-IF (commit 1cdb53e); arXiv:2410.15553",
    dataset=DATASET,
    version="2",
    metric="turn_average",
    max_tokens=1024,
    temperature=0.6,
    params={"top_p": 0.9},
    cluster="origin",
    breakdowns=("language",),
    more_data=(PUNKT_DATASET,),
)

MULTI_IF_DOCUMENTED = msgspec.structs.replace(
    MULTI_IF,
    variant="documented",
    description="Multi-IF with the simpler rules that llm-benchmarker documents; all turns must pass",
    protocol="three turns in one conversation; the documented rules, correct if all turns pass",
    source="llm-benchmarker's documentation",
    version="1",
    metric="accuracy",
    max_tokens=None,
    temperature=0.0,
    params={},
    smaller_max_tokens=True,
    more_data=(),
)

VARIANTS = (MULTI_IF, MULTI_IF_DOCUMENTED)
