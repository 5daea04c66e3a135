"""Metadata of SimpleQA."""

from __future__ import annotations

from benchwright.catalog import simple_evals
from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset

DATASET = Dataset(
    name="simpleqa",
    splits={"test": ("simple_qa_test_set.csv",)},
    licence="MIT",
    local={"test": ("simple_qa_test_set.csv",)},
)

SIMPLEQA = About(
    name="simpleqa",
    title="SimpleQA",
    description="SimpleQA — 4,326 short questions about facts, with a judge",
    tier=1,
    items=4_326,
    licence="MIT",
    protocol="the question alone, as simple-evals asks its chat models; another model grades the answer as correct, "
    "incorrect or not attempted",
    source=f"{simple_evals.REPOSITORY} (simpleqa_eval.py, commit {simple_evals.COMMIT}); arXiv:2411.04368",
    dataset=DATASET,
    max_tokens=simple_evals.MAX_TOKENS,
    temperature=simple_evals.TEMPERATURE,
    breakdowns=("topic", "answer_type"),
    options=simple_evals.SYSTEM_MESSAGE_OPTION,
    roles=("judge",),
)

VARIANTS = (SIMPLEQA,)
