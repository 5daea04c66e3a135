"""Separation of a response's answer from reasoning and template tokens, in whatever way the server mixed them."""

from __future__ import annotations

from typing import NamedTuple

from benchwright.endpoint.flags import (
    ANSWER_AS_THINKING_FLAG,
    LATE_THINKING_FLAG,
    TEMPLATE_TOKENS_FLAG,
    make_flag,
)
from benchwright.endpoint.reasoning_parser import (
    ReasoningSpan,
    answer_offset,
    find_inline_thoughts,
    has_late_thought,
    join_thoughts,
    remove_thoughts,
)
from benchwright.endpoint.template_tokens import read_harmony_text, strip_end_token
from benchwright.endpoint.text_channel import SHORTEST


class AnswerText(NamedTuple):
    """A response's answer and reasoning, separated.

    `answer_offset`: the offset at which the answer begins in the content. `flags`: the repairs that were
    necessary.
    """

    text: str
    reasoning: str
    answer_offset: int = 0
    flags: tuple[str, ...] = ()


def read_answer_text(content: str, apart: str) -> AnswerText:
    """Separate a response's answer and reasoning, and return them.

    `content`: the text of the response's content. `apart`: the reasoning that came in a field of its own.
    """
    flags: list[str] = []
    text, reasoning, begin = content, apart, 0
    if channels := read_harmony_text(content) or (None if content.strip() else read_harmony_text(apart)):
        text, begin = channels.text, channels.answer_offset if content.strip() else 0
        reasoning = _both(apart, channels.reasoning) if content.strip() else channels.reasoning
        flags.append(make_flag(TEMPLATE_TOKENS_FLAG, content or apart))
    elif thoughts := _inline(content, apart):
        text, begin = remove_thoughts(content, thoughts), answer_offset(content, thoughts)
        reasoning = _both(apart, join_thoughts(thoughts))
        if has_late_thought(content, thoughts):
            flags.append(make_flag(LATE_THINKING_FLAG, reasoning))
    if len(reasoning) >= SHORTEST and text.strip() == reasoning.strip():
        reasoning = ""
        flags.append(make_flag(ANSWER_AS_THINKING_FLAG, text))
    text, end = strip_end_token(text)
    if end:
        flags.append(make_flag(TEMPLATE_TOKENS_FLAG, end))
    return AnswerText(text, reasoning, begin, tuple(flags))


def _inline(content: str, apart: str) -> list[ReasoningSpan]:
    """Return the reasoning blocks in a response's content.

    If reasoning also came in a field of its own (`apart`), a tag without its counterpart is taken as a part
    of the answer.
    """
    thoughts = find_inline_thoughts(content)
    return [one for one in thoughts if not (one.is_unopened or one.is_unclosed)] if apart else thoughts


def _both(apart: str, inline: str) -> str:
    """Join the reasoning from the separate field (`apart`) and the reasoning from the content (`inline`).

    Many servers send the same reasoning in both. Therefore `inline` is dropped if `apart` contains it.
    """
    inline = inline.strip()
    return apart if inline in apart else "\n\n".join(filter(None, (apart, inline)))
