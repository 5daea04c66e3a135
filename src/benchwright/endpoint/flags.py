"""Flags of requests: oddities of a request or its response, recorded with the request.

A flag is the name of a kind alone, or `kind: evidence`. Flags of the kinds in `FLAG_NOTES` are explained
wherever their trial is shown, because the answer may not be what it seems. Flags never change a score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchwright.text import one_line

TRANSLATED_FLAG = "translated"
"""Flag of a request whose dialect the relay translated for the target."""

DIALECT_UNDECIDED_FLAG = "dialect_undecided"
"""Flag of a translated request. It was translated because nobody knows if the target has the program's dialect."""

LEFT_OUT_PREFIX = "without:"
"""Prefix of a flag, before the name of a header or field that the request omits because the server refused it."""


def left_out_names(flags: Iterable[str]) -> list[str]:
    """Return the names of the headers and fields that a request with these flags omitted."""
    return [flag.removeprefix(LEFT_OUT_PREFIX) for flag in flags if flag.startswith(LEFT_OUT_PREFIX)]


RESENT_WITHOUT_PART_FLAG = "narrowed"
"""Flag of a request that the server refused at first because of an optional part.

Such a request is excluded from timings.
"""
CALL_AS_TEXT_FLAG = "call_as_text"
CALL_UNREAD_FLAG = "call_unread"
CALL_MISSING_FLAG = "call_missing"
NO_ANSWER_FLAG = "no_answer"
ANSWER_REPEATED_FLAG = "answer_repeated"
ANSWER_AS_THINKING_FLAG = "answer_as_thinking"
LATE_THINKING_FLAG = "late_thinking"
TEMPLATE_TOKENS_FLAG = "template_tokens"
BROKEN_CHARACTER_FLAG = "broken_character"
TOOLS_LEFT_OUT_FLAG = "tools_left_out"
PARTS_LEFT_OUT_FLAG = "parts_left_out"
THINKING_BY_TOTAL_FLAG = "thinking_by_total"
TOTAL_UNEXPLAINED_FLAG = "total_unexplained"
UNKNOWN_FINISH_REASON_FLAG = "unknown_end"

MAX_EVIDENCE_LENGTH = 100
"""Maximum length of a flag's evidence in characters. The whole text is in the stored response."""


class FlagNote(NamedTuple):
    """Explanation of a kind of flag: a description, and advice for the user ("" if there is none)."""

    description: str
    advice: str = ""


FLAG_NOTES = {
    CALL_AS_TEXT_FLAG: FlagNote(
        "the server sent a tool call as text",
        "start it with the tool parser of this model (vLLM, SGLang: --tool-call-parser; llama.cpp: --jinja)",
    ),
    CALL_UNREAD_FLAG: FlagNote("a tool call could not be read as one"),
    CALL_MISSING_FLAG: FlagNote("the server told of a tool call and sent none"),
    NO_ANSWER_FLAG: FlagNote(
        "the answer is empty",
        "look whether its reasoning parser fits the model, and whether a stop string ends the thinking",
    ),
    ANSWER_REPEATED_FLAG: FlagNote("the server sent the whole answer once more, which was taken once"),
    ANSWER_AS_THINKING_FLAG: FlagNote(
        "the server sent one text as answer and as thinking, which was taken as the answer"
    ),
    LATE_THINKING_FLAG: FlagNote("thinking within the answer was taken out of it"),
    TEMPLATE_TOKENS_FLAG: FlagNote(
        "tokens of the chat template were taken out of the answer",
        "look whether the server's chat template and parsers fit the model",
    ),
    BROKEN_CHARACTER_FLAG: FlagNote(
        "a character came in parts, of which one was missing: U+FFFD stands for it"
    ),
    TOOLS_LEFT_OUT_FLAG: FlagNote(
        "tools that the agent offers have no translation, so the model was not offered them",
        "turn them off in the agent, or use a server that speaks the agent's dialect",
    ),
    PARTS_LEFT_OUT_FLAG: FlagNote(
        "parts of the conversation have no translation, so the model did not get them",
        "use a server that speaks the agent's dialect",
    ),
    THINKING_BY_TOTAL_FLAG: FlagNote(
        "only total_tokens tells of some tokens, which were counted as thinking"
    ),
    TOTAL_UNEXPLAINED_FLAG: FlagNote("total_tokens is more than prompt and completion, and was left out"),
    UNKNOWN_FINISH_REASON_FLAG: FlagNote(
        "the server gave a reason for the end that is not known here, so the answer may be cut off"
    ),
}
"""Kinds of flags that are explained wherever their trial is shown: a mapping from the kind to the explanation."""


def make_flag(kind: str, evidence: str = "") -> str:
    """Return a flag of this kind. Its evidence is cut to `MAX_EVIDENCE_LENGTH` and put on one line."""
    told = one_line(evidence, MAX_EVIDENCE_LENGTH)
    return f"{kind}: {told}" if told else kind


def flag_kind(flag: str) -> str:
    """Return the kind of a flag."""
    return flag.partition(":")[0]


def describe_flags(flags: Iterable[str]) -> list[str]:
    """Return a sentence, without a full stop, for each flag whose kind is in `FLAG_NOTES`."""
    found = [
        (FLAG_NOTES[flag_kind(flag)].description, flag.partition(": ")[2])
        for flag in flags
        if flag_kind(flag) in FLAG_NOTES
    ]
    return [f"{words}: {evidence}" if evidence else words for words, evidence in found]
