"""Metadata of LongBench v2 and its variants."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="longbench_v2",
    splits={"train": ("data.json",)},
    origin=HubRepository("THUDM/LongBench-v2", "2b48e494f2c7a2f0af81aae178e05c7e1dde0fe9"),
    licence="Apache-2.0",
)

LONGBENCH_V2 = About(
    name="longbench_v2",
    title="LongBench v2",
    description="LongBench v2 — 503 long-context MCQ spanning 8k to 2M words",
    tier=1,
    items=503,
    licence="Apache-2.0",
    protocol="the official zero-shot prompt; 'The correct answer is (X)'",
    source="https://github.com/THUDM/LongBench (pred.py, prompts/0shot.txt); arXiv:2412.15204",
    dataset=DATASET,
    max_tokens=128,
    temperature=0.1,
    breakdowns=("difficulty", "length", "domain"),
    options={
        "max_input_tokens": "Cut the middle out of prompts with more tokens than this, as officially done."
    },
)

LONGBENCH_V2_COT = msgspec.structs.replace(
    LONGBENCH_V2,
    variant="cot",
    description="LongBench v2, chain of thought, then a second request for the letter",
    protocol="the official chain-of-thought prompt; the letter is asked for in a second request, without the text",
    source="https://github.com/THUDM/LongBench (pred.py, prompts/0shot_cot.txt); arXiv:2412.15204",
    max_tokens=1024,
)

LONGBENCH_V2_DOCUMENTED = msgspec.structs.replace(
    LONGBENCH_V2,
    variant="documented",
    description="LongBench v2, letter only, as llm-benchmarker documents it",
    protocol="the full text, question and choices; documented letter extraction",
    source="llm-benchmarker's documentation",
    max_tokens=32,
    smaller_max_tokens=True,
    temperature=0.0,
    options={},
)

VARIANTS = (LONGBENCH_V2, LONGBENCH_V2_COT, LONGBENCH_V2_DOCUMENTED)
