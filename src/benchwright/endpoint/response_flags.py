"""Flags for oddities in a parsed response. They concern tool calls, token counts, and missing answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from benchwright.endpoint.calls_in_text import find_call_text
from benchwright.endpoint.finish_reasons import is_failed_call, is_known_finish_reason
from benchwright.endpoint.flags import (
    CALL_AS_TEXT_FLAG,
    CALL_MISSING_FLAG,
    CALL_UNREAD_FLAG,
    NO_ANSWER_FLAG,
    THINKING_BY_TOTAL_FLAG,
    TOTAL_UNEXPLAINED_FLAG,
    UNKNOWN_FINISH_REASON_FLAG,
    make_flag,
)
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.usage import total_gap
from benchwright.formats import count_with_noun

END_OF_TURN_TOKENS = 1
"""Number of tokens that a server counts for an empty answer. The one token is the end of the turn."""


def flags_of_call(unread: Sequence[str], reply: Reply) -> Iterator[str]:
    """Yield a flag for invalid tool calls, and a flag for a finish reason that announces a missing call.

    An unknown finish reason is flagged, too. `unread`: the invalid calls.
    """
    reason = reply.finish_reason
    if is_failed_call(reason):
        yield make_flag(CALL_UNREAD_FLAG, f"finish reason {reason}")
    elif unread and reason != "length":
        yield make_flag(CALL_UNREAD_FLAG, unread[0])
    elif not is_known_finish_reason(reason):
        yield make_flag(UNKNOWN_FINISH_REASON_FLAG, str(reason))
    if reason == "tool_calls" and not reply.tool_calls:
        yield CALL_MISSING_FLAG


def flags_of_usage(usage: Any) -> Iterator[str]:
    """Yield a flag if `total_tokens` is more than the sum of prompt tokens and completion tokens."""
    gap = total_gap(usage)
    if gap is not None and gap.are_reasoning_tokens:
        yield make_flag(THINKING_BY_TOTAL_FLAG, count_with_noun(gap.tokens, "token"))
    elif gap is not None:
        yield make_flag(TOTAL_UNEXPLAINED_FLAG, f"by {count_with_noun(gap.tokens, 'token')}")


def flags_without_answer(reply: Reply) -> Iterator[str]:
    """Yield a flag if a complete response has reasoning or a token count, but no text, refusal or tool call.

    A response without text and without a token count is flagged, too.
    """
    is_cut = reply.finish_reason in ("length", "content_filter") or is_failed_call(reply.finish_reason)
    if reply.text.strip() or reply.tool_calls or reply.refusal or is_cut:
        return
    tokens = reply.usage.completion_tokens
    if reply.reasoning.strip():
        yield make_flag(NO_ANSWER_FLAG, f"all text came as thinking: {reply.reasoning}")
    elif tokens is None:
        yield NO_ANSWER_FLAG
    elif tokens > END_OF_TURN_TOKENS:
        yield make_flag(NO_ANSWER_FLAG, f"{count_with_noun(tokens, 'token')} came without text")


def flags_of_text(reply: Reply, offered: Collection[str]) -> Iterator[str]:
    """Yield a flag if an answer holds a tool call as text.

    `offered`: the names of the tools that the request offered. The reasoning is searched, too, because some
    servers leave calls there.
    """
    call = find_call_text(reply.text, offered)
    if call is None and not reply.tool_calls and not reply.text.strip():
        call = find_call_text(reply.reasoning, offered)
    if call is not None:
        yield make_flag(CALL_AS_TEXT_FLAG, call)
