"""Scripted conversations of a simulated model. The beginning of a conversation determines its script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile
from pathlib import Path
from typing import Any

import msgspec
import xxhash

from benchwright.endpoint.simulate.request_parsing import ParsedRequest
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS, Record


class Script(Record, frozen=True):
    """A scripted conversation.

    `prompt`: a text that occurs in the conversation's system message or first user message. `replies`: the
    assistant messages, turn by turn; the last message is repeated if there are more turns. `wrong`: the
    messages of a failing model, used when the accuracy requires a failure.
    """

    prompt: str
    replies: list[dict[str, Any]]
    wrong: list[dict[str, Any]] = []


class Scripts:
    """Finds the scripted reply to a conversation.

    Of N scripts that can fail, round(accuracy * N) succeed. A seeded hash of the prompt determines which
    scripts succeed, so that all turns of a conversation agree.
    """

    def __init__(self, scripts: Sequence[Script], accuracy: float, seed: int) -> None:
        self._longest_first = sorted(scripts, key=lambda script: len(script.prompt), reverse=True)
        self._find = lru_cache(maxsize=4096)(self._search)
        can_fail = sorted(
            (script.prompt for script in scripts if script.wrong),
            key=lambda prompt: xxhash.xxh3_64_intdigest(prompt.encode(), seed=seed),
        )
        self._wrong = frozenset(can_fail[round(accuracy * len(can_fail)) :])

    def find_reply(self, question: ParsedRequest) -> dict[str, Any] | None:
        """Return the assistant message that answers a conversation. Return None if no script matches."""
        script = self._find(_opening(question))
        if script is None:
            return None
        replies = script.wrong if script.prompt in self._wrong else script.replies
        spoken = dropwhile(lambda message: message.role != "user", question.messages)
        turn = sum(message.role == "assistant" for message in spoken)
        return replies[min(turn, len(replies) - 1)]

    def _search(self, opening: str) -> Script | None:
        return next((script for script in self._longest_first if script.prompt in opening), None)


def _opening(question: ParsedRequest) -> str:
    """Return the text of all messages up to and including the first user message."""
    if not question.is_chat:
        return question.prompt
    texts = []
    for message in question.messages:
        texts.append(message.text)
        if message.role == "user":
            break
    return "\n".join(texts)


def read_scripts(path: Path) -> tuple[Script, ...]:
    """Return the scripts in a file: JSON Lines of {"prompt", "replies", "wrong"}.

    Raises:
        UserError: If the file cannot be read, if a line does not have that shape, or if a line has no reply.
    """
    decode = msgspec.json.Decoder(Script).decode
    scripts = []
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        script = decode(line)
                    except DECODE_ERRORS as error:
                        raise UserError(f"{path}, line {number}: no script ({error}).") from None
                    if not script.prompt or not script.replies:
                        raise UserError(
                            f"{path}, line {number}: a script has a prompt and at least one reply."
                        )
                    scripts.append(script)
    except OSError as error:
        raise UserError(f"Cannot read the scripts {path}: {error.strerror}.") from None
    return tuple(scripts)
