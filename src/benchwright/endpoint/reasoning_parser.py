"""Separation of a model's reasoning from its answer.

Reasoning comes in fields of its own, or inline in the answer's text.
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
"""Fields for reasoning. The first one that holds text is used, because some servers send it in two."""

_TEXTS = ("text", "content", "thinking", "reasoning", "summary")
"""Fields that hold the text of an object that is sent in place of a string."""

THOUGHT_FIELDS = frozenset({*_FIELDS, "thought"})


def read_thought(message: dict[str, Any]) -> str:
    """Return the reasoning in a delta or message; "" if there is none."""
    if THOUGHT_FIELDS.isdisjoint(message):
        return ""
    return next((text for name in _FIELDS if (text := text_of_value(message.get(name)))), "")


def is_marked_thought(delta: dict[str, Any]) -> bool:
    """Return True if a delta's content is marked as reasoning, as Vertex does in `extra_content.google.thought`."""
    extra = delta.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    return isinstance(google, dict) and google.get("thought") is True


def text_of_value(value: Any) -> str:
    """Return the text in a value; "" if there is none.

    The value is a string, an object that holds one, or a list of these.

    Raises:
        TypeError: If the value is anything else.
    """
    if isinstance(value, str):
        return value
    if not value:
        return ""
    if isinstance(value, list):
        return "".join(map(text_of_value, value))
    if isinstance(value, dict):
        return next((text for name in _TEXTS if (text := text_of_value(value.get(name)))), "")
    raise TypeError(f"text was expected, not {value!r:.40}")


# Inline reasoning

_NAME = r"(?:(?:seed:|mm:|longcat_)?think(?:ing)?|thought)"
_TAG = re.compile(
    rf"(?P<open><{_NAME}>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|channel>thought\b)"
    rf"|(?P<close></{_NAME}>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<channel\|>)"
)
"""Pattern of the tags around reasoning.

They are those of DeepSeek, Qwen and most others; Seed-OSS, MiniMax, LongCat; Gemini; Mistral; Kimi-VL;
Command R; Gemma 4.
"""

_SIGNS = ("think", "THINK", "thought", "<channel|>")
"""Words of which every text with a tag contains at least one. Searching for them first is faster."""

_QUOTES = "`\"'"
_FENCE = "```"
_BLANKS = re.compile(r"\s*")


class ReasoningSpan(NamedTuple):
    """A block of reasoning within an answer's text.

    `begin`, `end`: its span with the tags. `text`: its text without them. `is_unopened`: True if it has no
    opening tag, because that is in the chat template. `is_unclosed`: True if it has no closing tag.
    """

    begin: int
    end: int
    text: str
    is_unopened: bool = False
    is_unclosed: bool = False


def inline_thoughts(content: str) -> list[ReasoningSpan]:
    """Return the blocks of reasoning in the text of an answer, in order.

    Models write `<think>…</think>` before the answer, and some again within it. Many chat templates contain
    the opening tag, so that only the closing one is in the text. A block without a closing tag extends to the
    end of the text, if it begins at the start of the text or of a line. Tags in quotation marks or backticks
    belong to the answer.
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
    """Return (reasoning, answer) of a text that may hold reasoning inline; see `inline_thoughts`."""
    thoughts = inline_thoughts(content)
    return join_thoughts(thoughts), without_thoughts(content, thoughts)


def find_answer_offset(content: str) -> int:
    """Return the offset of the answer in a text that may hold reasoning inline.

    If there is no answer, it is the text's length.
    """
    return answer_offset(content, inline_thoughts(content))


def join_thoughts(thoughts: list[ReasoningSpan]) -> str:
    """Return the joined text of these blocks of reasoning."""
    return "\n\n".join(filter(None, (thought.text.strip() for thought in thoughts)))


def without_thoughts(content: str, thoughts: list[ReasoningSpan]) -> str:
    """Return a text without these blocks of reasoning."""
    if not thoughts:
        return content
    starts, ends = [0, *(one.end for one in thoughts)], [*(one.begin for one in thoughts), len(content)]
    pieces = (content[start:end] for start, end in zip(starts, ends, strict=True))
    return "".join(piece if place or piece.strip() else "" for place, piece in enumerate(pieces))


def answer_offset(content: str, thoughts: list[ReasoningSpan]) -> int:
    """Return the offset of the answer in a text with these blocks of reasoning.

    If there is no answer, it is the text's length.
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
    """Return the tag that closes a block of reasoning opened by the chat template; None if it opened none."""
    if tags[0]["close"]:
        return tags[0]
    closings = [tag for tag in tags if tag["close"]]
    if content[: tags[0].start()].strip() and 2 * len(closings) > len(tags):
        return closings[-1]
    return None


def _blocks(content: str, tags: list[re.Match[str]], start: int) -> Iterator[ReasoningSpan]:
    """Yield the blocks of reasoning from the offset `start` on.

    Text between them is the answer, and so are tags in a block of code.
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
    """Return True if what follows the text begins a line, apart from blanks."""
    line = text.rpartition("\n")
    return bool(line[1]) and not line[2].strip()


def _thought(
    content: str, begin: int, inner: int, closing: re.Match[str], is_answered: bool = False
) -> ReasoningSpan:
    """Return the block of reasoning that ends with the tag `closing`.

    Its span includes the blanks that separate it from the answer.
    """
    opened, end = content[inner : closing.start()], closing.end()
    if not is_answered or content[begin - 1].isspace():
        blanks = _BLANKS.match(content, end)
        end = end if blanks is None else blanks.end()
    return ReasoningSpan(begin, end, _TAG.sub("", opened), begin == inner)


def _unquoted_tags(content: str) -> Iterator[re.Match[str]]:
    """Yield the tags around reasoning, without those that are quoted in the answer.

    An opening tag is quoted if a quotation mark precedes it. A closing tag is quoted if a mark follows it
    that also precedes it or its opening tag.
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
