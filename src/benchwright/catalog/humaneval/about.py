"""Metadata of HumanEval, and of its variant as llm-benchmarker documents it."""

from __future__ import annotations

import msgspec

from benchwright.catalog import simple_evals
from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

DATASET = Dataset(
    name="humaneval",
    splits={"test": ("openai_humaneval/test-*.parquet",)},
    origin=HubRepository("openai/openai_humaneval", "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544"),
    licence="MIT",
)

HUMANEVAL = About(
    name="humaneval",
    title="HumanEval",
    description="HumanEval — 164 Python code generation tasks",
    tier=1,
    items=164,
    licence="MIT",
    protocol="the chat prompt of simple-evals at temperature 0.5 with its system message, and its way of finding "
    "the code; the official program must reach its end within 3 s",
    source=f"{simple_evals.REPOSITORY} (humaneval_eval.py, commit {simple_evals.COMMIT}); "
    "https://github.com/openai/human-eval (execution.py); arXiv:2107.03374",
    dataset=DATASET,
    version="2",
    metric="pass@1",
    max_tokens=simple_evals.MAX_TOKENS,
    temperature=simple_evals.TEMPERATURE,
    options=simple_evals.SYSTEM_MESSAGE_OPTION,
    needs=("sandbox",),
)

HUMANEVAL_DOCUMENTED = msgspec.structs.replace(
    HUMANEVAL,
    variant="documented",
    description="HumanEval, as llm-benchmarker documents it",
    protocol="system prompt, code only; exit code 0 within 10 s passes",
    source="llm-benchmarker's documentation",
    version="1",
    max_tokens=512,
    temperature=0.0,
    options={},
    smaller_max_tokens=True,
)

VARIANTS = (HUMANEVAL, HUMANEVAL_DOCUMENTED)
