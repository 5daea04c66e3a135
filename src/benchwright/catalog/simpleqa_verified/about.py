"""Metadata of SimpleQA Verified."""

from __future__ import annotations

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="simpleqa_verified",
    splits={"eval": ("simpleqa_verified.csv",)},
    origin=HubRepository("google/simpleqa-verified"),
    licence="MIT",
)

SIMPLEQA_VERIFIED = About(
    name="simpleqa_verified",
    title="SimpleQA Verified",
    description="SimpleQA Verified — 1,000 short questions about facts, with a judge",
    tier=1,
    items=1_000,
    licence="MIT",
    protocol="the question alone, with the server's usual sampling (temperature 1); another model grades the answer as "
    "correct, incorrect or not attempted, with a prompt of its own; published scores are F1",
    source="https://www.kaggle.com/datasets/deepmind/simpleqa-verified (starter code); arXiv:2509.07968",
    dataset=DATASET,
    max_tokens=8192,
    temperature=1.0,
    breakdowns=("topic", "answer_type"),
    roles=("judge",),
)

VARIANTS = (SIMPLEQA_VERIFIED,)
