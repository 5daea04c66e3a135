"""Metadata of MMLU-Pro, and of its variant as llm-benchmarker documents it."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="mmlu_pro",
    splits={"test": ("data/test-*.parquet",), "validation": ("data/validation-*.parquet",)},
    origin=HubRepository("TIGER-Lab/MMLU-Pro", "b189ec765aa7ed75c8acfea42df31fdae71f97be"),
    licence="MIT",
)

MMLU_PRO = About(
    name="mmlu_pro",
    title="MMLU-Pro",
    description="MMLU-Pro — 12,032 MCQ with up to 10 options per question",
    tier=1,
    items=12_032,
    licence="MIT",
    protocol="five shots of chain of thought from the validation split; letter found in three stages",
    source="https://github.com/TIGER-AI-Lab/MMLU-Pro (evaluate_from_local.py, commit f418b11); arXiv:2406.01574",
    dataset=DATASET,
    version="2",
    max_tokens=2048,
    params={"stop": ["Question:"]},
    departures=(
        "the prompt is a message of a chat, with all five shots; the authors have it continued as text, and leave "
        "shots out of prompts of 2,048 tokens and more",
        "an answer without a letter counts as wrong; the authors guess a letter (`accuracy_random_guess`)",
    ),
    breakdowns=("category",),
)

MMLU_PRO_DOCUMENTED = msgspec.structs.replace(
    MMLU_PRO,
    variant="documented",
    description="MMLU-Pro, letter only, as llm-benchmarker documents it",
    protocol="zero-shot, answer with the letter only; documented letter extraction",
    source="llm-benchmarker's documentation",
    version="1",
    max_tokens=64,
    params={},
    departures=(),
    smaller_max_tokens=True,
)

VARIANTS = (MMLU_PRO, MMLU_PRO_DOCUMENTED)
