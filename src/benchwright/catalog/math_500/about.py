"""Metadata of MATH-500."""

from __future__ import annotations

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="math_500",
    splits={"test": ("test.jsonl",)},
    origin=HubRepository("HuggingFaceH4/MATH-500"),
    licence="MIT",
)

MATH_500 = About(
    name="math_500",
    title="MATH-500",
    description="MATH-500 — 500 competition problems in seven subjects",
    tier=1,
    items=500,
    licence="MIT",
    protocol="zero-shot, instruction and sampling of DeepSeek-R1's card; last box, compared by math-verify 0.9.0",
    source="https://huggingface.co/deepseek-ai/DeepSeek-R1 (usage recommendations); "
    "https://github.com/huggingface/Math-Verify (0.9.0); arXiv:2305.20050",
    dataset=DATASET,
    max_tokens=32_768,
    temperature=0.6,
    params={"top_p": 0.95},
    breakdowns=("subject", "level"),
)

VARIANTS = (MATH_500,)
