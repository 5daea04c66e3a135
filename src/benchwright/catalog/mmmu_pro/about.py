"""Metadata of MMMU-Pro and its variant."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

STANDARD, VISION = "standard", "vision"
"""`STANDARD`: Benchwright's name for the hub's configuration in which images are separate from the question.

`VISION`: Benchwright's name for the hub's configuration in which each question is a single image.
"""

_FILES: dict[str, tuple[str, ...]] = {
    STANDARD: ("standard (10 options)/test-*.parquet",),
    VISION: ("vision/test-*.parquet",),
}
_HUB = HubRepository("MMMU/MMMU_Pro")

MMMU_PRO = About(
    name="mmmu_pro",
    title="MMMU-Pro",
    description="MMMU-Pro — 1,730 MCQ with images and up to 12 options",
    tier=1,
    items=1_730,
    licence="Apache-2.0",
    protocol="zero-shot chain of thought (or --option prompt=direct) as the authors ask GPT-4o, images behind the "
    "text in the order in which it names them, with the server's usual sampling (temperature 1); letter found in five "
    "stages",
    source="https://github.com/MMMU-Benchmark/MMMU (mmmu-pro, commit bb0b95a); arXiv:2409.02813",
    dataset=Dataset("mmmu_pro", _FILES, _HUB, "Apache-2.0"),
    max_tokens=4096,
    temperature=1.0,
    departures=(
        "an answer without a letter counts as wrong; the authors guess a letter, unseeded (`accuracy_random_guess`)",
    ),
    breakdowns=("domain", "subject", "difficulty"),
    options={
        "prompt": "How to ask: cot (step by step) or direct (the letter alone).",
        "system_message": "Whether to send the protocol's system message: yes or no, for models that refuse one.",
    },
    needs=("images",),
)

MMMU_PRO_VISION = msgspec.structs.replace(
    MMMU_PRO,
    variant="vision",
    description="MMMU-Pro — the same 1,730 questions, each as one image and nothing else",
    protocol="zero-shot chain of thought (or --option prompt=direct) as the authors ask GPT-4o: an instruction and an "
    "image with question and options, with the server's usual sampling (temperature 1); letter found in five stages",
    dataset=Dataset("mmmu_pro", dict(reversed(_FILES.items())), _HUB, "Apache-2.0"),
    breakdowns=("domain", "subject"),
)

VARIANTS = (MMMU_PRO, MMMU_PRO_VISION)
