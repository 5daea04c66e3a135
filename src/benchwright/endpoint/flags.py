"""Flags of requests: oddities of a request or its response, recorded with it.

A flag is the name of its kind alone, or `kind: evidence`. Flags of the kinds in `NOTES` are explained
wherever their trial is shown, because the answer may not be what it seems. They never change a score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchwright.text import one_line

TRANSLATED = "translated"
"""Flag of a request whose dialect the relay translated for the target."""

UNDECIDED = "dialect_undecided"
"""Flag of a request that was translated because it is unknown whether the target supports the program's dialect."""

WITHOUT = "without:"
"""Prefix of a flag, before the name of a header or field that the request left out because the server refused it."""


def left_out_of(flags: Iterable[str]) -> list[str]:
    """Return the names of the fields and headers that a request with these flags left out."""
    return [flag.removeprefix(WITHOUT) for flag in flags if flag.startswith(WITHOUT)]


NARROWED = "narrowed"
"""Flag of a request that the server refused at first because of an optional part.

It is excluded from timings.
"""
CALL_AS_TEXT = "call_as_text"
CALL_UNREAD = "call_unread"
CALL_MISSING = "call_missing"
NO_ANSWER = "no_answer"
ANSWER_REPEATED = "answer_repeated"
ANSWER_AS_THINKING = "answer_as_thinking"
LATE_THINKING = "late_thinking"
TEMPLATE_TOKENS = "template_tokens"
BROKEN_CHARACTER = "broken_character"
TOOLS_LEFT_OUT = "tools_left_out"
PARTS_LEFT_OUT = "parts_left_out"
THINKING_BY_TOTAL = "thinking_by_total"
TOTAL_UNEXPLAINED = "total_unexplained"
UNKNOWN_END = "unknown_end"

LONGEST_EVIDENCE = 100
"""Maximum length of a flag's evidence in characters; the stored response holds the whole text."""


class Note(NamedTuple):
    """Explanation of a kind of flag: a description, and advice for the user ("" if there is none)."""

    description: str
    advice: str = ""


NOTES = {
    CALL_AS_TEXT: Note(
        "the server sent a tool call as text",
        "start it with the tool parser of this model (vLLM, SGLang: --tool-call-parser; llama.cpp: --jinja)",
    ),
    CALL_UNREAD: Note("a tool call could not be read as one"),
    CALL_MISSING: Note("the server told of a tool call and sent none"),
    NO_ANSWER: Note(
        "the answer is empty",
        "look whether its reasoning parser fits the model, and whether a stop string ends the thinking",
    ),
    ANSWER_REPEATED: Note("the server sent the whole answer once more, which was taken once"),
    ANSWER_AS_THINKING: Note(
        "the server sent one text as answer and as thinking, which was taken as the answer"
    ),
    LATE_THINKING: Note("thinking within the answer was taken out of it"),
    TEMPLATE_TOKENS: Note(
        "tokens of the chat template were taken out of the answer",
        "look whether the server's chat template and parsers fit the model",
    ),
    BROKEN_CHARACTER: Note("a character came in parts, of which one was missing: U+FFFD stands for it"),
    TOOLS_LEFT_OUT: Note(
        "tools that the agent offers have no translation, so the model was not offered them",
        "turn them off in the agent, or use a server that speaks the agent's dialect",
    ),
    PARTS_LEFT_OUT: Note(
        "parts of the conversation have no translation, so the model did not get them",
        "use a server that speaks the agent's dialect",
    ),
    THINKING_BY_TOTAL: Note("only total_tokens tells of some tokens, which were counted as thinking"),
    TOTAL_UNEXPLAINED: Note("total_tokens is more than prompt and completion, and was left out"),
    UNKNOWN_END: Note(
        "the server gave a reason for the end that is not known here, so the answer may be cut off"
    ),
}
"""Kinds of flags that are explained wherever their trial is shown."""


def noted(kind: str, evidence: str = "") -> str:
    """Return a flag of this kind, with its evidence cut and on one line."""
    told = one_line(evidence, LONGEST_EVIDENCE)
    return f"{kind}: {told}" if told else kind


def kind_of(flag: str) -> str:
    """Return the kind of a flag."""
    return flag.partition(":")[0]


def notes_in_words(flags: Iterable[str]) -> list[str]:
    """Return a sentence (without a full stop) for each flag whose kind is in `NOTES`."""
    found = [
        (NOTES[kind_of(flag)].description, flag.partition(": ")[2]) for flag in flags if kind_of(flag) in NOTES
    ]
    return [f"{words}: {evidence}" if evidence else words for words, evidence in found]
