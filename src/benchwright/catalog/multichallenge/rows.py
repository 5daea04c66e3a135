"""MultiChallenge's two row formats (its repository's and Hugging Face's), and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from benchwright.data.datasets import Source
from benchwright.records import Record, Sample

ExpectedVerdict = Literal["YES", "NO"]


class Turn(Record, frozen=True):
    """One message of a conversation: its role and its text."""

    role: Literal["system", "user", "assistant"]
    content: str


class HubRow(Record, frozen=True):
    """One conversation in the Hugging Face layout, which ends with a user message.

    `target_question`: the question that the judge is asked about the response.
    """

    question_id: str
    axis: str
    conversation: list[Turn]
    target_question: str
    pass_criteria: ExpectedVerdict

    def __post_init__(self) -> None:
        _check_end(self.conversation)


class RepositoryRow(Record, frozen=True, rename="upper"):
    """One conversation in the format of MultiChallenge's repository.

    The fields are those of `HubRow`, with names in upper case (`QUESTION_ID`).
    """

    question_id: str
    axis: str
    conversation: list[Turn]
    target_question: str
    pass_criteria: ExpectedVerdict

    def __post_init__(self) -> None:
        _check_end(self.conversation)


def _check_end(conversation: list[Turn]) -> None:
    """Raise ValueError unless the last message is from the user."""
    if not conversation or conversation[-1].role != "user":
        raise ValueError("the conversation does not end with a message of the user")


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per conversation. The rows are in the hub's format, or in the repository's."""
    first = next(source.read(dict[str, Any], "test"), {})
    rows: Iterator[RepositoryRow] | Iterator[HubRow]
    rows = source.read(RepositoryRow, "test") if "QUESTION_ID" in first else source.read(HubRow, "test")
    for row in rows:
        content = {
            "conversation": [{"role": turn.role, "content": turn.content} for turn in row.conversation],
            "question": row.target_question,
            "passes": row.pass_criteria,
        }
        shown = "\n\n".join(f"{turn.role}: {turn.content}" for turn in row.conversation)
        target = f"{row.pass_criteria}: {row.target_question}"
        yield Sample(row.question_id, content, labels={"axis": row.axis}, input=shown, target=target)
