"""Metadata of Humanity's Last Exam and its variants."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="hle",
    splits={"test": ("data/test-*.parquet",)},
    origin=HubRepository("cais/hle", "5a81a4c7271a2a2a312b9a690f0c2fde837e4c29", gated=True),
    licence="MIT",
)

HLE = About(
    name="hle",
    title="Humanity's Last Exam",
    description="Humanity's Last Exam — 2,158 text-only expert-level MCQ and short-answer",
    tier=1,
    items=2_158,
    licence="MIT",
    protocol="text-only questions; explanation, answer and confidence; another model judges the answer",
    source="https://github.com/centerforaisafety/hle (run_judge_results.py); arXiv:2501.14249",
    dataset=DATASET,
    max_tokens=8192,
    breakdowns=("category", "answer_type"),
    roles=("judge",),
    gated=True,
)

HLE_IMAGES = msgspec.structs.replace(
    HLE,
    variant="images",
    description="Humanity's Last Exam — all 2,500 questions, 342 of them with an image",
    items=2_500,
    protocol="all questions, an image behind the text; explanation, answer and confidence; another model judges the "
    "answer",
    breakdowns=("image", *HLE.breakdowns),
    needs=("some_images",),
)

HLE_DOCUMENTED = msgspec.structs.replace(
    HLE,
    variant="documented",
    description="Humanity's Last Exam, graded by matching, as llm-benchmarker documents it",
    protocol="the question alone; documented letter extraction (four options), or exact or contained answer",
    source="llm-benchmarker's documentation",
    max_tokens=256,
    smaller_max_tokens=True,
    roles=(),
)

VARIANTS = (HLE, HLE_IMAGES, HLE_DOCUMENTED)
