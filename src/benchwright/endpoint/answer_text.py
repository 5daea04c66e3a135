"""The text of an answer apart from what the model thought, in whichever way the server mixed them."""

from __future__ import annotations

from typing import NamedTuple

from benchwright.endpoint.channel import SHORTEST
from benchwright.endpoint.flags import ANSWER_AS_THINKING, LATE_THINKING, TEMPLATE_TOKENS, noted
from benchwright.endpoint.template_tokens import read_channels, without_end
from benchwright.endpoint.thoughts import answer_start, inline_thoughts, is_late, split_reasoning


class AnswerText(NamedTuple):
    """An answer proper, the reasoning, and where the answer begins in the content; `flags` tell what was repaired."""

    text: str
    reasoning: str
    begin: int = 0
    flags: tuple[str, ...] = ()


def read_answer_text(content: str, apart: str) -> AnswerText:
    """Split an answer from its reasoning; `apart` is the reasoning that came in a field of its own."""
    flags: list[str] = []
    text, reasoning, begin = content, apart, 0
    if channels := read_channels(content) or (None if content.strip() else read_channels(apart)):
        text, begin = channels.text, channels.begin if content.strip() else 0
        reasoning = _both(apart, channels.reasoning) if content.strip() else channels.reasoning
        flags.append(noted(TEMPLATE_TOKENS, content or apart))
    elif not apart:
        reasoning, text = split_reasoning(content)
        begin = answer_start(content)
        if reasoning and is_late(content):
            flags.append(noted(LATE_THINKING, reasoning))
    elif text.lstrip()[:1] in _TAGS_BEGIN and (inline := _opening_thought(content)):
        begin, inner = inline
        text, reasoning = content[begin:], _both(apart, inner)
    if len(reasoning) >= SHORTEST and text.strip() == reasoning.strip():
        reasoning = ""
        flags.append(noted(ANSWER_AS_THINKING, text))
    text, end = without_end(text)
    if end:
        flags.append(noted(TEMPLATE_TOKENS, end))
    return AnswerText(text, reasoning, begin, tuple(flags))


_TAGS_BEGIN = ("<", "[", "◁")


def _opening_thought(content: str) -> tuple[int, str] | None:
    """Return where a block of thinking ends that a text begins with, and what is in it; None if there is none."""
    thoughts = inline_thoughts(content)
    if not thoughts or content[: thoughts[0].begin].strip():
        return None
    first = thoughts[0]
    return None if first.is_unopened or first.is_unclosed else (first.end, first.inner)


def _both(apart: str, inline: str) -> str:
    """Join reasoning that came in two ways; many servers send the same in both."""
    inline = inline.strip()
    return apart if inline in apart else "\n\n".join(filter(None, (apart, inline)))
