"""A task for Inspect over one of the data sets that come with it; tests/readers.py runs it by `run inspect:`."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, example_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate, system_message


@task  # type: ignore[untyped-decorator]
def popularity() -> Task:
    """Yes or no questions, each answered by one word."""
    return Task(
        dataset=example_dataset("popularity", FieldSpec(input="question", target="answer_matching_behavior")),
        solver=[system_message("Answer with Yes or No."), generate()],
        scorer=match(location="begin"),
    )
