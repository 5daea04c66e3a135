"""The row format of GraphWalks, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.data.datasets import Source
from benchwright.records import Record, Sample

QUESTION_START = "Operation:"
"""Beginning of the last section of every prompt, which asks the question."""

NO_NODES_TEXT = "(no node)"

MAX_SHORT_CHARACTERS = 220_000
"""Maximum length, in characters, of a prompt in the file "128k and shorter". Its longest prompt has 219,451."""


class GraphWalksRow(Record, frozen=True):
    """One graph and the operation on the graph, in the Hugging Face layout.

    `prompt_chars`: length of the prompt in characters; None if the row does not state it.
    """

    prompt: str
    answer_nodes: list[str]
    problem_type: str
    prompt_chars: int | None = None
    date_added: str = "unknown"


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per row."""
    for number, row in enumerate(source.read(GraphWalksRow, "train")):
        labels = {
            "problem_type": row.problem_type.lower(),
            "length": length_label(row.prompt_chars or len(row.prompt)),
            "date_added": row.date_added,
        }
        content = {"prompt": row.prompt, "answer_nodes": row.answer_nodes}
        yield Sample(
            f"graphwalks_{number}",
            content,
            labels=labels,
            input=graph_question(row.prompt),
            target=", ".join(row.answer_nodes) or NO_NODES_TEXT,
        )


def graph_question(prompt: str) -> str:
    """Return the question about the graph: the prompt from `QUESTION_START` on.

    Return the whole prompt if it does not contain `QUESTION_START`.
    """
    return prompt.rpartition(QUESTION_START)[2].strip() or prompt


def length_label(characters: int) -> str:
    """Return the name of the dataset's file for prompts of this length in characters."""
    return "128k and shorter" if characters <= MAX_SHORT_CHARACTERS else "256k to 1M"
