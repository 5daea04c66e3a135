"""Separation of a model's reasoning from its answer.

Reasoning comes in fields of its own, or between tags in the answer's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_FIELDS = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_text",
    "thinking_blocks",
    "reasoning_details",
)
"""Names of fields that hold reasoning.

The first field with text is used, because some servers send the same reasoning in two fields.
"""

_TEXTS = ("text", "content", "thinking", "reasoning", "summary")
"""Names of fields that hold the text of an object which was sent in place of a string."""

THOUGHT_FIELDS = frozenset({*_FIELDS, "thought"})


def read_thought(message: dict[str, Any]) -> str:
    """Return the reasoning in a delta or message. Return "" if there is no reasoning."""
    if THOUGHT_FIELDS.isdisjoint(message):
        return ""
    return next((text for name in _FIELDS if (text := reasoning_text(message.get(name)))), "")


def is_marked_thought(delta: dict[str, Any]) -> bool:
    """Return True if a delta's content is marked as reasoning, as Vertex does in `extra_content.google.thought`."""
    extra = delta.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    return isinstance(google, dict) and google.get("thought") is True


def reasoning_text(value: Any) -> str:
    """Return the text in a value. Return "" if the value holds no text.

    The value is a string, an object with a string in a field, or a list of strings and such objects.

    Raises:
        TypeError: If the value is anything else.
    """
    if isinstance(value, str):
        return value
    if not value:
        return ""
    if isinstance(value, list):
        return "".join(map(reasoning_text, value))
    if isinstance(value, dict):
        return next((text for name in _TEXTS if (text := reasoning_text(value.get(name)))), "")
    raise TypeError(f"text was expected, not {value!r:.40}")


# Inline reasoning

_NAME = r"(?:(?:seed:|mm:|longcat_)?think(?:ing)?|thought)"
_TAG = re.compile(
    rf"(?P<open><{_NAME}>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|channel>thought\b)"
    rf"|(?P<close></{_NAME}>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<channel\|>)"
)
"""Matches the tags around reasoning.

The tags are those of DeepSeek, Qwen and most other models; Seed-OSS, MiniMax, LongCat; Gemini; Mistral;
Kimi-VL; Command R; Gemma 4.
"""

_SIGNS = ("think", "THINK", "thought", "<channel|>")
"""Strings of which every text with a tag contains at least one. It is faster to search for these strings first."""

_QUOTES = "`\"'"
_FENCE = "```"
_BLANKS = re.compile(r"\s*")


class ReasoningSpan(NamedTuple):
    """A block of reasoning within an answer's text.

    `begin`, `end`: the offsets of the block, tags included. `text`: the text between the tags. `is_unopened`:
    True if the block has no opening tag, because the chat template contains that tag. `is_unclosed`: True if
    the block has no closing tag.
    """

    begin: int
    end: int
    text: str
    is_unopened: bool = False
    is_unclosed: bool = False


def find_inline_thoughts(content: str) -> list[ReasoningSpan]:
    """Return the blocks of reasoning in the text of an answer, in order.

    Models write `<think>…</think>` before the answer, and some models again within the answer. Many chat
    templates contain the opening tag, so that the text has only the closing tag. A block without a closing
    tag extends to the end of the text if it begins at the start of the text or of a line. Tags in quotation
    marks or backticks belong to the answer.
    """
    if not any(sign in content for sign in _SIGNS):
        return []
    tags = list(_unquoted_tags(content))
    if not tags:
        return []
    closing = _end_of_opened(content, tags)
    opened = [] if closing is None else [_thought(content, 0, 0, closing)]
    return [*opened, *_blocks(content, tags, opened[0].end if opened else 0)]


def split_reasoning(content: str) -> tuple[str, str]:
    """Return (reasoning, answer) of a text that may contain blocks of reasoning; see `find_inline_thoughts`."""
    thoughts = find_inline_thoughts(content)
    return join_thoughts(thoughts), remove_thoughts(content, thoughts)


def find_answer_offset(content: str) -> int:
    """Return the offset of the answer in a text that may contain blocks of reasoning.

    Return the length of the text if it contains no answer.
    """
    return answer_offset(content, find_inline_thoughts(content))


def join_thoughts(thoughts: list[ReasoningSpan]) -> str:
    """Return the texts of these blocks of reasoning, joined."""
    return "\n\n".join(filter(None, (thought.text.strip() for thought in thoughts)))


def remove_thoughts(content: str, thoughts: list[ReasoningSpan]) -> str:
    """Return a text without these blocks of reasoning."""
    if not thoughts:
        return content
    starts, ends = [0, *(one.end for one in thoughts)], [*(one.begin for one in thoughts), len(content)]
    pieces = (content[start:end] for start, end in zip(starts, ends, strict=True))
    return "".join(piece if place or piece.strip() else "" for place, piece in enumerate(pieces))


def answer_offset(content: str, thoughts: list[ReasoningSpan]) -> int:
    """Return the offset of the answer in a text with these blocks of reasoning.

    Return the length of the text if it contains no answer.
    """
    start = 0
    for thought in thoughts:
        if content[start : thought.begin].strip():
            break
        start = thought.end
    return start


def has_late_thought(content: str, thoughts: list[ReasoningSpan]) -> bool:
    """Return True if any of these blocks of reasoning comes after the beginning of the answer."""
    starts = [0, *(thought.end for thought in thoughts)]
    return any(content[start : one.begin].strip() for start, one in zip(starts, thoughts, strict=False))


def _end_of_opened(content: str, tags: list[re.Match[str]]) -> re.Match[str] | None:
    """Return the tag that closes a block of reasoning which the chat template opened.

    Return None if the chat template opened no block.
    """
    if tags[0]["close"]:
        return tags[0]
    closings = [tag for tag in tags if tag["close"]]
    if content[: tags[0].start()].strip() and 2 * len(closings) > len(tags):
        return closings[-1]
    return None


def _blocks(content: str, tags: list[re.Match[str]], start: int) -> Iterator[ReasoningSpan]:
    """Yield the blocks of reasoning from the offset `start` on.

    Text between the blocks belongs to the answer. Tags in a block of code belong to the answer, too.
    """
    closings = iter([tag for tag in tags if tag["close"]])
    closing = next(closings, None)
    is_answered, fences = False, 0
    for tag in tags:
        if tag.start() < start:
            continue
        between, start = content[start : tag.start()], tag.end()
        is_answered = is_answered or bool(between.strip())
        fences += between.count(_FENCE)
        while closing is not None and closing.start() < tag.start():
            closing = next(closings, None)
        if tag["close"] and not is_answered:  # closed twice
            thought = _thought(content, tag.start(), tag.start(), tag)
        elif tag["open"] and fences % 2 == 0 and closing is not None:
            thought = _thought(content, tag.start(), tag.end(), closing, is_answered)
        elif tag["open"] and fences % 2 == 0 and (not is_answered or _ends_line(between)):
            thought = ReasoningSpan(tag.start(), len(content), content[tag.end() :], is_unclosed=True)
        else:
            is_answered = True
            continue
        yield thought
        start, is_answered, fences = thought.end, False, 0


def _ends_line(text: str) -> bool:
    """Return True if the text ends at the beginning of a line. Blanks after the last line end are ignored."""
    line = text.rpartition("\n")
    return bool(line[1]) and not line[2].strip()


def _thought(
    content: str, begin: int, inner: int, closing: re.Match[str], is_answered: bool = False
) -> ReasoningSpan:
    """Return the block of reasoning that ends with the tag `closing`.

    The block includes the blanks that separate it from the answer.
    """
    opened, end = content[inner : closing.start()], closing.end()
    if not is_answered or content[begin - 1].isspace():
        blanks = _BLANKS.match(content, end)
        end = end if blanks is None else blanks.end()
    return ReasoningSpan(begin, end, _TAG.sub("", opened), begin == inner)


def _unquoted_tags(content: str) -> Iterator[re.Match[str]]:
    """Yield the tags around reasoning, without those that are quoted in the answer.

    An opening tag is quoted if a quotation mark precedes it. A closing tag is quoted if a quotation mark
    follows it, and the same quotation mark precedes the closing tag or its opening tag.
    """
    quote = ""
    for tag in _TAG.finditer(content):
        before, after = content[tag.start() - 1 : tag.start()], content[tag.end() : tag.end() + 1]
        mark = before if before in _QUOTES else ""
        if tag["open"] and mark:
            quote = mark
        elif tag["close"] and after and after in (mark, quote):
            quote = ""
        else:
            yield tag
