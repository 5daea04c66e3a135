"""Metadata of MMLU and its variants."""

from __future__ import annotations

import msgspec

from benchwright.catalog import simple_evals
from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="mmlu",
    splits={"test": ("all/test-*.parquet",), "dev": ("all/dev-*.parquet",)},
    origin=HubRepository("cais/mmlu", "c30699e8356da336a370243923dbaf21066bb9fe"),
    licence="MIT",
)

MMLU = About(
    name="mmlu",
    title="MMLU",
    description="MMLU — 14,042 MCQ, 57 subjects",
    tier=1,
    items=14_042,
    licence="MIT",
    protocol="zero-shot chain of thought at temperature 0.5 with the system message of simple-evals, last line "
    "'Answer: X'; exact letter",
    source=f"{simple_evals.REPOSITORY} (mmlu_eval.py, commit {simple_evals.COMMIT}); arXiv:2009.03300",
    dataset=DATASET,
    version="2",
    max_tokens=simple_evals.MAX_TOKENS,
    temperature=simple_evals.TEMPERATURE,
    breakdowns=("category", "subject"),
    options=simple_evals.SYSTEM_MESSAGE_OPTION,
)

MMLU_FIVE_SHOT = msgspec.structs.replace(
    MMLU,
    variant="5shot",
    description="MMLU, five shots, most probable next letter; for base models",
    protocol="five shots from the dev split, argmax of A to D among the next token's log-probabilities",
    source="https://github.com/hendrycks/test (evaluate.py); arXiv:2009.03300",
    version="1",
    max_tokens=1,
    temperature=0.0,
    options={},
    needs=("completions", "logprobs"),
)

MMLU_DOCUMENTED = msgspec.structs.replace(
    MMLU,
    variant="documented",
    description="MMLU, letter only, as llm-benchmarker documents it",
    protocol="zero-shot, answer with the letter only; documented letter extraction",
    source="llm-benchmarker's documentation",
    version="1",
    max_tokens=32,
    temperature=0.0,
    options={},
    smaller_max_tokens=True,
)

VARIANTS = (MMLU, MMLU_FIVE_SHOT, MMLU_DOCUMENTED)
