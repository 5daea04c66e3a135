"""Rows and samples of the memory categories: questions, and the conversations before them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import xxhash

from benchwright.catalog.bfcl.categories import CATEGORIES, MEMORY_CLASSES, VECTOR_MEMORY_CATEGORY
from benchwright.catalog.bfcl.memory_prompts import SCENARIO_INTROS
from benchwright.catalog.bfcl.rows import CLASS_MODULES, ClassSources, read_function_documents
from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetValidationError
from benchwright.records import Message, Record, Sample

ConversationTurns = list[list[Message]]
"""Type of a conversation: a list of messages for each turn."""


class MemoryRow(Record, frozen=True):
    """A question of a scenario, or a conversation that precedes the scenario's questions."""

    id: str
    question: ConversationTurns
    scenario: str


class MemoryAnswer(Record, frozen=True):
    """The possible answers to a question. An answer is right if it contains one of these texts."""

    id: str
    ground_truth: list[str]


class Conversations(msgspec.Struct):
    """The conversations of each scenario, in order. They are loaded when the samples are read."""

    by_scenario: dict[str, list[ConversationTurns]] = {}

    def load(self, source: Source) -> None:
        """Read the conversations of a source."""
        self.by_scenario = {}
        for row in source.read(MemoryRow, "conversations"):
            self.by_scenario.setdefault(row.scenario, []).append(row.question)

    def scenario_digest(self, scenario: str) -> str:
        """Return a digest of a scenario's conversations. It changes with any word in the conversations."""
        return xxhash.xxh3_128_hexdigest(msgspec.json.encode(self.by_scenario[scenario]))


REQUIRED_SPLITS = ("memory", "memory_answers", "conversations", "functions", "classes")
"""The splits of the dataset that the memory categories need."""


def memory_samples(
    source: Source,
    categories: Sequence[str],
    executables: ClassSources,
    conversations: Conversations,
    model_digest: str | None = None,
) -> Iterator[Sample]:
    """Yield one sample for each question and category, ordered by category.

    `model_digest`: digest of the embedding model of memory_vector.

    Raises:
        DatasetNotFound: If data that the categories need are missing.
        DatasetError: If a row is invalid.
    """
    if missing := [split for split in REQUIRED_SPLITS if split not in source.splits]:
        raise DatasetNotFound(
            f"{source.root} holds no {' and no '.join(missing)} of the BFCL memory categories: "
            "run benchwright fetch bfcl"
        )
    executables.load(source)
    conversations.load(source)
    documents = read_function_documents(source)
    answers = {row.id: row.ground_truth for row in source.read(MemoryAnswer, "memory_answers")}
    rows = list(source.read(MemoryRow, "memory"))
    for row in rows:
        _check(row, answers, conversations)
    for category in categories:
        functions = _functions(category, documents, executables)
        for row in rows:
            content: dict[str, Any] = {
                "category": category,
                "scenario": row.scenario,
                "question": row.question,
                "functions": functions,
                "answer": answers[row.id],
                "conversations": conversations.scenario_digest(row.scenario),
                "executables": executables.digest,
            }
            if category == VECTOR_MEMORY_CATEGORY:
                content["executables"] = xxhash.xxh3_128_hexdigest(executables.files[VECTOR_MEMORY_CATEGORY])
                content["embedding_model"] = model_digest
            yield _sample(row, content)


def _check(row: MemoryRow, answers: Mapping[str, list[str]], conversations: Conversations) -> None:
    if row.scenario not in SCENARIO_INTROS:
        raise DatasetValidationError(f"{row.id}: scenario: {row.scenario!r} is not known")
    if not conversations.by_scenario.get(row.scenario):
        raise DatasetValidationError(f"{row.id}: there are no conversations of the scenario {row.scenario!r}")
    if len(row.question) != 1 or not row.question[0]:
        raise DatasetValidationError(f"{row.id}: question: it needs one turn")
    if not answers.get(row.id):
        raise DatasetValidationError(f"{row.id}: it has no possible answer")


def _functions(
    category: str, documents: Mapping[str, list[dict[str, Any]]], executables: ClassSources
) -> list[dict[str, Any]]:
    module = CLASS_MODULES[MEMORY_CLASSES[category]]
    if module not in documents or module not in executables.files:
        raise DatasetNotFound(f"The data hold no {module}.json and {module}.py, which {category} needs")
    return documents[module]


def _sample(row: MemoryRow, content: dict[str, Any]) -> Sample:
    category = CATEGORIES[content["category"]]
    return Sample(
        row.id.replace("memory", category.name, 1),
        content,
        labels={"category": category.name, "group": category.group, "scenario": row.scenario},
        input="\n".join(str(message.get("content", "")) for message in row.question[0]),
        target=" or ".join(content["answer"]),
    )
