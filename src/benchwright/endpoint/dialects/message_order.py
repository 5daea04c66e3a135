"""The order of messages that servers of chat completions require.

One turn of a model is one assistant message: all text and calls of the model between two results. The results
of the turn's calls follow directly. Each call has exactly one result. Any other message comes after all
results.

Source: OpenAI's API answers 400 to any other order: "An assistant message with 'tool_calls' must be followed
by tool messages responding to each 'tool_call_id'", "messages with role 'tool' must be a response to a
preceding message with 'tool_calls'".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Literal, NamedTuple

from benchwright.records import Message

NO_RESULT_TEXT = "[This call has no result: it was interrupted.]"
LOST_CALL_TEXT = "[The result of a call that is no longer in this conversation:]"
TEXT_SEPARATOR = "\n\n"


class ConversationEntry(NamedTuple):
    """One entry of a conversation: text or reasoning of the model, a call, a result, or another message.

    `kind`: the kind of entry; an `interrupted` entry is a call without a result. `message`: the fields of the
    chat message. `id`: the id of the call, for calls and results.
    """

    kind: Literal["answer", "call", "interrupted", "result", "other"]
    message: Message
    id: str = ""


MERGED_ENTRY_PLACEHOLDER = ConversationEntry("other", {})
"""Placeholder for an entry that was merged into an earlier entry."""


def order_messages(entries: Iterable[ConversationEntry]) -> list[Message]:
    """Return the messages of a conversation in the order that servers require."""
    waiting = deque(_paired(list(entries)))
    messages: list[Message] = []
    while waiting:
        if waiting[0].kind == "other":
            messages.append(waiting.popleft().message)
        else:
            messages += _take_turn(waiting)
    return messages


def _paired(entries: list[ConversationEntry]) -> list[ConversationEntry]:
    """Return the entries after pairing calls with results.

    Calls without a result are marked as interrupted. Results without a call become user messages. A result
    belongs to the last call with the same id. A second result of a call (Codex's `notify`) is merged into the
    first result, because servers accept only one.
    """
    calls: dict[str, int] = {}
    results: dict[str, int] = {}
    paired = list(entries)
    for place, entry in enumerate(entries):
        if entry.kind == "call":
            calls[entry.id] = place
            results.pop(entry.id, None)
            paired[place] = entry._replace(kind="interrupted")
        elif entry.kind == "result" and entry.id in calls:
            call = calls.pop(entry.id)
            paired[call] = entries[call]
            results[entry.id] = place
        elif entry.kind == "result" and entry.id in results:
            first = paired[results[entry.id]]
            content = _joined(first.message["content"], entry.message["content"])
            paired[results[entry.id]] = first._replace(message={**first.message, "content": content})
            paired[place] = MERGED_ENTRY_PLACEHOLDER
        elif entry.kind == "result":
            text = f"{LOST_CALL_TEXT}\n{entry.message['content']}"
            paired[place] = ConversationEntry("other", {"role": "user", "content": text})
    return [entry for entry in paired if entry is not MERGED_ENTRY_PLACEHOLDER]


def _take_turn(entries: deque[ConversationEntry]) -> list[Message]:
    """Remove the model's first turn from the entries, and return the messages of that turn.

    Other messages that come before the turn's last result stay in the entries, so that they follow the turn.
    """
    answer: Message = {"role": "assistant", "content": None}
    results: list[Message] = []
    interrupted: list[Message] = []
    unanswered: set[str] = set()
    held: list[ConversationEntry] = []
    while entries:
        entry = entries[0]
        if entry.kind == "result" and entry.id in unanswered:
            results.append(entry.message)
            unanswered.discard(entry.id)
            if not unanswered:
                entries.popleft()
                break
        elif entry.kind in ("answer", "call", "interrupted") and not results:
            _add(answer, entry)
            if entry.kind == "call":
                unanswered.add(entry.id)
            elif entry.kind == "interrupted":
                interrupted.append({"role": "tool", "tool_call_id": entry.id, "content": NO_RESULT_TEXT})
        elif unanswered:
            held.append(entry)
        else:
            break
        entries.popleft()
    entries.extendleft(reversed(held))
    if answer["content"] is None and "tool_calls" not in answer:
        answer["content"] = ""
    return [answer, *results, *interrupted]


def _add(answer: Message, entry: ConversationEntry) -> None:
    """Add an entry to an assistant message. Blank text is dropped after a call or another text."""
    said = entry.message
    if calls := said.get("tool_calls"):
        answer.setdefault("tool_calls", []).extend(calls)
    text = said.get("content")
    if text and (text.strip() or not (answer["content"] or "tool_calls" in answer)):
        answer["content"] = _joined(answer["content"], text)
    if thought := said.get("reasoning_content"):
        answer["reasoning_content"] = _joined(answer.get("reasoning_content"), thought)


def _joined(before: str | None, text: str) -> str:
    return f"{before}{TEXT_SEPARATOR}{text}" if before else text
