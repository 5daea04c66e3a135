"""Metadata of GPQA Diamond."""

from __future__ import annotations

from benchwright.catalog import simple_evals
from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="gpqa_diamond",
    splits={"train": ("gpqa_diamond.csv",)},
    origin=HubRepository("Idavidrein/gpqa", gated=True),
    licence="CC-BY-4.0",
)

GPQA_DIAMOND = About(
    name="gpqa_diamond",
    title="GPQA Diamond",
    description="GPQA Diamond — 198 graduate-level MCQ in biology, physics and chemistry",
    tier=1,
    items=198,
    licence="CC-BY-4.0",
    protocol="zero-shot chain of thought as simple-evals asks its chat models, the options in an order of their own in "
    "each of ten repeats; first 'Answer: X', exact letter",
    source=f"{simple_evals.REPOSITORY} (gpqa_eval.py, commit {simple_evals.COMMIT}); arXiv:2311.12022",
    dataset=DATASET,
    max_tokens=simple_evals.MAX_TOKENS,
    temperature=simple_evals.TEMPERATURE,
    repeats=10,
    breakdowns=("domain", "subdomain"),
    options=simple_evals.SYSTEM_MESSAGE_OPTION,
    gated=True,
)

VARIANTS = (GPQA_DIAMOND,)
