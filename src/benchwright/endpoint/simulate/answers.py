"""Answers of a simulated model: an echo, the answer key's answer, synthetic text, or a refusal.

There is no real model.
"""

from __future__ import annotations

import random
import re
from itertools import cycle, islice
from typing import Any

import msgspec

from benchwright.endpoint.simulate.answer_key import AnswerKey, wrong_answer
from benchwright.endpoint.simulate.request_parsing import ParsedRequest
from benchwright.endpoint.simulate.scripts import Scripts
from benchwright.endpoint.simulate.settings import KeyedAnswer, ScriptedCall, Settings
from benchwright.endpoint.simulate.shared_counters import SharedCounters
from benchwright.endpoint.simulate.tools import encode_arguments, last_tool_result, next_tool_calls

REFUSAL_TEXT = "This simulated model declines to answer."
FILLER_WORDS = (
    "a",
    "simulated",
    "model",
    "has",
    "nothing",
    "to",
    "say",
    "but",
    "says",
    "it",
    "at",
    "any",
    "length",
)
_FRAGMENT = 8
_TOKEN = re.compile(r"\s*\S+|\s+")

_HARD_TO_HANDLE = [
    *map(chr, range(0x20)), "\x7f", "\x85", "\x9b", "\x1b[31m", "\x1b]0;title\x07", "\x1b[2J",
    "\u200b", "\u200e", "\u200f", "\u202a", "\u202d", "\u202e", "\u202c", "\u2066", "\u2067", "\u2069",
    "\u2028", "\u2029", "\ufeff", "\ufffd", "\uffff", "\U0010ffff", "e\u0301\u0323", "\U0001f469\u200d",
    '"', "\\", "\\u0000", "\\n", "</script>", "<!--", "&amp;", "data: [DONE]\n\n", "\r\n\r\n", "```", "%s",
]  # fmt: skip
_PLAIN_RANGES = [(0x61, 0x7A), (0x4E00, 0x9FA5), (0x600, 0x6FF), (0x1F300, 0x1F5FF), (0xC0, 0x17F)]


class SimulatedCall(msgspec.Struct):
    """A tool call of an answer. `arguments`: the JSON text of the arguments, in the fragments that are streamed."""

    id: str
    name: str
    arguments: list[str]


class SimulatedAnswer(msgspec.Struct):
    """An answer of a simulated model: its tokens by channel, in the order of sending.

    `keyed_answer`: the entry of the answer key that the answer is made from, or None. `round_number`: how often that
    entry's prompt was answered before (see `AnswerKey`). `cached_tokens`: the number of the prompt's tokens
    that were in the prefix cache; None without a cache.
    """

    reasoning: list[str] = []
    text: list[str] = []
    refusal: list[str] = []
    calls: list[SimulatedCall] = []
    finish_reason: str = "stop"
    keyed_answer: KeyedAnswer | None = None
    round_number: int = 0
    cached_tokens: int | None = None

    @property
    def token_count(self) -> int:
        """Number of tokens of the answer.

        The beginning of a call counts as one token, and so does each fragment of its arguments.
        """
        calls = sum(1 + len(call.arguments) for call in self.calls) if self.calls else 0
        return len(self.reasoning) + len(self.text) + len(self.refusal) + calls

    def words(self) -> list[str]:
        """Return the tokens, without the white space before each of them."""
        calls = [token for call in self.calls for token in (call.name, *call.arguments)]
        return [token.strip() for token in (*self.reasoning, *self.text, *self.refusal, *calls)]


def split_tokens(text: str, most: int | None = None) -> list[str]:
    """Return the first `most` tokens of a text. A token is a word with the white space before it."""
    if most is None:
        return _TOKEN.findall(text)
    return [token.group() for token in islice(_TOKEN.finditer(text), most)]


class Answerer:
    """Creator of a simulated model's answers, according to the settings."""

    def __init__(self, settings: Settings, board: SharedCounters) -> None:
        self._settings = settings
        self._key = AnswerKey(settings, board)
        self._scripts = Scripts(settings.scripts, settings.accuracy, settings.seed)
        words = settings.words if settings.policy == "words" else 0
        self._words = " ".join(islice(cycle(FILLER_WORDS), words))
        self._words_tokens = split_tokens(self._words)
        self._reasoning_tokens = split_tokens(settings.reasoning)

    def make_answer(self, question: ParsedRequest, identity: str) -> SimulatedAnswer:
        """Return the answer to a question. `identity`: a string that becomes a part of the ids of tool calls."""
        settings = self._settings
        played = self._scripts.find_reply(question) if settings.scripts else None
        entry = self._key.find(question.prompt) if settings.answers else None
        answer = SimulatedAnswer()
        if played is not None:
            self._play(answer, played, question, identity)
            return answer
        calls = next_tool_calls(settings, entry, question)
        if calls:
            answer.calls = [_call(call, f"call_{identity}_{index}") for index, call in enumerate(calls)]
            answer.finish_reason = "tool_calls"
            text = ""
        elif entry is None and settings.policy == "refusal" and question.is_chat:
            answer.refusal = split_tokens(REFUSAL_TEXT)
            text = ""
        else:
            text = self._text(question, entry, answer)
        self._add_text(answer, text, question)
        if question.token_limit is not None and answer.token_count > question.token_limit:
            truncate_answer(answer, question.token_limit)
        return answer

    def _play(
        self, answer: SimulatedAnswer, message: dict[str, Any], question: ParsedRequest, identity: str
    ) -> None:
        """Put a scripted message into an answer. The token limit does not cut a scripted message off."""
        for index, call in enumerate(message.get("tool_calls") or []):
            function = call["function"]
            answer.calls.append(_pieces(f"call_{identity}_{index}", function["name"], function["arguments"]))
            answer.finish_reason = "tool_calls"
        self._add_text(answer, message.get("content") or "", question)

    def free_round(self, answer: SimulatedAnswer) -> None:
        """Free the round of an answer that did not reach its client.

        The next answer to the prompt then uses that round.
        """
        if answer.keyed_answer is not None:
            self._key.free_round(answer.keyed_answer, answer.round_number)

    def _text(self, question: ParsedRequest, entry: KeyedAnswer | None, answer: SimulatedAnswer) -> str:
        result = last_tool_result(question)
        if entry is not None:
            return self._keyed_text(entry, entry.answer if entry.answer is not None else result or "", answer)
        if self._settings.policy == "words":
            return self._words
        if self._settings.policy == "refusal":
            return REFUSAL_TEXT
        if self._settings.policy == "gibberish":
            return make_gibberish(f"{self._settings.seed}:{question.prompt}", self._settings.words)
        return question.prompt if result is None else result

    def _keyed_text(self, entry: KeyedAnswer, text: str, answer: SimulatedAnswer) -> str:
        answer.keyed_answer, answer.round_number = entry, self._key.take_round(entry)
        if not self._key.is_answered_correctly(entry, answer.round_number):
            text = wrong_answer(text)
        return self._settings.answer_template.replace("{answer}", text)

    def _add_text(self, answer: SimulatedAnswer, text: str, question: ParsedRequest) -> None:
        text = _stopped(text, question.stop_strings)
        reasoning = self._settings.reasoning
        if reasoning and (self._settings.reasoning_style == "think" or not question.is_chat):
            text = f"<think>\n{reasoning}\n</think>\n\n{text}"
        elif reasoning:
            answer.reasoning = self._reasoning_tokens
        most = (
            None if question.token_limit is None else question.token_limit + 1
        )  # one more shows that it is too long
        answer.text = self._words_tokens[:most] if text is self._words else split_tokens(text, most)


def truncate_answer(answer: SimulatedAnswer, limit: int) -> None:
    """Cut an answer off after `limit` tokens. The answer is changed in place."""
    answer.finish_reason = "length"
    for name in ("reasoning", "text", "refusal"):
        tokens = getattr(answer, name)[:limit]
        setattr(answer, name, tokens)
        limit -= len(tokens)
    calls = []
    for call in answer.calls:
        if limit > 0:
            call.arguments = call.arguments[: limit - 1]
            limit -= 1 + len(call.arguments)
            calls.append(call)
    answer.calls = calls


def make_gibberish(seed: str, words: int) -> str:
    """Return seeded random text that is hard to show, escape or parse.

    It contains control characters, bidi marks, escapes and markup.
    """
    rng = random.Random(seed)

    def piece() -> str:
        if rng.random() < 0.4:
            return rng.choice(_HARD_TO_HANDLE)
        return chr(rng.randint(*rng.choice(_PLAIN_RANGES)))

    return " ".join("".join(piece() for _ in range(rng.randint(1, 8))) for _ in range(words))


def _stopped(text: str, stops: list[str]) -> str:
    ends = [position for position in (text.find(stop) for stop in stops) if position >= 0]
    return text[: min(ends)] if ends else text


def _call(call: ScriptedCall, identity: str) -> SimulatedCall:
    return _pieces(identity, call.name, encode_arguments(call))


def _pieces(identity: str, name: str, arguments: str) -> SimulatedCall:
    pieces = [arguments[start : start + _FRAGMENT] for start in range(0, len(arguments), _FRAGMENT)]
    return SimulatedCall(identity, name, pieces)
