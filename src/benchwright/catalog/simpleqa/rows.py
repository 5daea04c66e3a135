"""The row formats of SimpleQA and SimpleQA Verified, and the conversion into samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class SimpleQaRow(Record, frozen=True):
    """One question of OpenAI's CSV. `metadata` is a Python dict literal."""

    problem: str
    answer: str
    metadata: str = "{}"


class VerifiedRow(Record, frozen=True):
    """One question of SimpleQA Verified. The answer may end with the range of numbers that are acceptable."""

    original_index: int
    problem: str
    answer: str
    topic: str = ""
    answer_type: str = ""


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question of SimpleQA."""
    for number, row in enumerate(source.read(SimpleQaRow, "test")):
        yield _sample(f"simpleqa_{number}", row.problem, row.answer, parse_labels(row.metadata))


def verified_samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question of SimpleQA Verified. The sample's id is the question's index in SimpleQA."""
    for row in source.read(VerifiedRow, "eval"):
        found = {"topic": row.topic, "answer_type": row.answer_type}
        yield _sample(f"simpleqa_{row.original_index}", row.problem, row.answer, found)


def parse_labels(metadata: str) -> dict[str, str]:
    """Return the topic and the answer type from a question's metadata, which is a Python literal.

    Return {} if the literal is no dict. Nothing is executed.
    """
    try:
        read = ast.literal_eval(metadata)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    known = read.items() if isinstance(read, dict) else ()
    return {key: str(value) for key, value in known if key in ("topic", "answer_type")}


def _sample(identity: str, problem: str, answer: str, found: dict[str, str]) -> Sample:
    content = {"question": problem, "answer": answer}
    return Sample(identity, content, labels=found, input=problem, target=answer)
