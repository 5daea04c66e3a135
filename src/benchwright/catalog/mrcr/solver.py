"""Solver of MRCR's conversations.

It records their length, and cuts the middle out of conversations that are too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchwright.catalog.asking import context_length_detail, outcome_with_notes
from benchwright.catalog.mrcr.rows import CHARACTERS_PER_TOKEN
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Record, Trial


class ContextFittedSolver:
    """Solver that sends the conversation. If it has more than `most` tokens, its middle is cut out.

    The solver records the context length: the server's count, or an estimate from the characters if there is
    none.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send one request, and return its response and the context length."""
        content = trial.sample.content
        messages = content["messages"]
        notes: dict[str, Any] = {}
        if self._most is not None:
            fitted = await fit_conversation(session, messages, self._most)
            messages = fitted.messages
            notes = context_length_detail(fitted.tokens, fitted.is_estimated) | {"cut": fitted.is_cut}
        reply = await session.chat(messages)
        counted = reply.usage.prompt_tokens
        notes = notes or context_length_detail(
            content["tokens"] if counted is None else counted, counted is None
        )
        return outcome_with_notes(messages, reply, notes)


class FittedConversation(Record, frozen=True):
    """A conversation as it is sent.

    `tokens`: its length before cutting. `is_estimated`: True if that length was estimated from the characters.
    """

    messages: list[Message]
    tokens: int
    is_cut: bool
    is_estimated: bool


async def fit_conversation(session: Session, messages: Sequence[Message], most: int) -> FittedConversation:
    """Return the conversation. If it has more than `most` tokens, its middle is cut out.

    What remains is a beginning and an end of half of `most` tokens each. The first message and the last one,
    which contains the question, are always kept, and user and assistant still alternate. The server counts
    the tokens of the whole conversation. The tokens of a single message are estimated from its share of the
    characters.
    """
    text = "\n".join(message["content"] for message in messages)
    counted = await session.count_tokens(text)
    tokens = round(len(text) / CHARACTERS_PER_TOKEN) if counted is None else counted
    if tokens <= most or len(messages) < 3:
        return FittedConversation(list(messages), tokens, is_cut=False, is_estimated=counted is None)
    room = len(text) * most / tokens / 2
    head = _within(messages[:-1], room)
    tail = _within(messages[len(head) :][::-1], room)[::-1]
    while len(tail) > 1 and tail[0]["role"] == head[-1]["role"]:
        tail = tail[1:]
    if tail[0]["role"] == head[-1]["role"]:
        head = head[:-1] if len(head) > 1 else list(messages[:2])
    return FittedConversation([*head, *tail], tokens, is_cut=True, is_estimated=counted is None)


def _within(messages: Sequence[Message], characters: float) -> list[Message]:
    """Return as many of the first messages as fit into `characters` characters. Return at least one message."""
    kept: list[Message] = []
    for message in messages:
        characters -= len(message["content"])
        if kept and characters < 0:
            break
        kept.append(message)
    return kept
