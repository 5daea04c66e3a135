"""The row format of MRCR, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from benchwright.data.datasets import Source
from benchwright.records import DECODE_ERRORS, Record, Sample

CHARACTERS_PER_TOKEN = 4.9
"""Average number of characters per token of o200k_base in these conversations (± 2 %).

The published bins of context lengths count tokens of o200k_base.
"""

MIN_TOKENS = 4096
CONTEXT_BINS = ("4k-8k", "8k-16k", "16k-32k", "32k-64k", "64k-128k", "128k-256k", "256k-512k", "512k-1M")
"""Names of the published bins of context lengths in tokens.

The first bin starts at 4,096 tokens. Each bin is twice as large as the previous. The upper end belongs to the bin.
"""


class ChatMessage(Record, frozen=True):
    """One message of the conversation."""

    role: str
    content: str


class MrcrRow(Record, frozen=True):
    """One conversation in the Hugging Face layout.

    `prompt`: a JSON list of messages, as text. `conversation`: the parsed `prompt`, which is not a column.
    """

    prompt: str
    answer: str
    random_string_to_prepend: Annotated[str, msgspec.Meta(min_length=1)]
    n_needles: int
    n_chars: int | None = None
    date_added: str = "unknown"
    conversation: msgspec.UnsetType | list[ChatMessage] = msgspec.UNSET

    def __post_init__(self) -> None:
        try:
            conversation = msgspec.json.decode(self.prompt, type=list[ChatMessage])
        except DECODE_ERRORS as error:
            raise ValueError(f"`prompt` is not a JSON list of messages: {error}") from None
        if not self.answer.startswith(self.random_string_to_prepend):
            raise ValueError("`answer` does not start with `random_string_to_prepend`")
        msgspec.structs.force_setattr(self, "conversation", conversation)

    @property
    def estimated_tokens(self) -> int:
        """The estimated number of tokens of conversation and answer."""
        return round(((self.n_chars or len(self.prompt)) + len(self.answer)) / CHARACTERS_PER_TOKEN)


def samples(source: Source, max_context: int | None = None) -> Iterator[Sample]:
    """Yield one sample per conversation of at most `max_context` tokens. The tokens are estimated.

    If `max_context` is None, yield all conversations.
    """
    for number, row in enumerate(source.read(MrcrRow, "train")):
        if max_context is None or row.estimated_tokens <= max_context:
            yield _sample(number, row)


def context_bin(tokens: int) -> str:
    """Return the bin of context lengths for a number of tokens.

    The first bin also contains shorter conversations, and the last bin also contains longer ones.
    """
    upper = MIN_TOKENS * 2
    for name in CONTEXT_BINS[:-1]:
        if tokens <= upper:
            return name
        upper *= 2
    return CONTEXT_BINS[-1]


def _sample(number: int, row: MrcrRow) -> Sample:
    content: dict[str, Any] = {
        "messages": msgspec.to_builtins(row.conversation),
        "answer": row.answer,
        "prefix": row.random_string_to_prepend,
        "tokens": row.estimated_tokens,
    }
    labels = {
        "n_needles": str(row.n_needles),
        "context": context_bin(row.estimated_tokens),
        "date_added": row.date_added,
    }
    asked = content["messages"][-1]["content"] if content["messages"] else None
    return Sample(f"mrcr_{number}", content, labels=labels, input=asked, target=row.answer)
