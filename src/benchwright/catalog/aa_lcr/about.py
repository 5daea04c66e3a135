"""Metadata of AA-LCR."""

from __future__ import annotations

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="aa_lcr",
    splits={
        "test": ("AA-LCR_Dataset.csv",),
        "documents": ("extracted_text/AA-LCR_extracted-text.zip",),
    },
    origin=HubRepository("ArtificialAnalysis/AA-LCR"),
    licence="Apache-2.0",
    local={"test": ("*.csv",), "documents": ("extracted_text/*.zip", "extracted_text/lcr/*/*/*.txt")},
)

AA_LCR = About(
    name="aa_lcr",
    title="AA-LCR",
    description="AA-LCR — 100 questions about sets of documents of about 100,000 tokens, with a judge",
    tier=1,
    items=100,
    licence="Apache-2.0",
    protocol="all documents of a question in their order, then the question, at temperature 0; another model says "
    "whether the answer is consistent with the right one; mean of three answers",
    source="https://huggingface.co/datasets/ArtificialAnalysis/AA-LCR (card; prompts of the first version, 2025)",
    dataset=DATASET,
    max_tokens=16_384,
    departures=(
        "temperature 0 for every model; published scores of reasoning models are at 0.6 (--temperature 0.6)",
    ),
    repeats=3,
    breakdowns=("category",),
    roles=("judge",),
)

VARIANTS = (AA_LCR,)
