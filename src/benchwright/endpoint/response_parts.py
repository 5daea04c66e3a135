"""The parts of a response by channel (such as answer or reasoning), and the reply made from these parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.endpoint.answer_text import AnswerText, read_answer_text
from benchwright.endpoint.finish_reasons import read_finish_reason
from benchwright.endpoint.flags import ANSWER_REPEATED_FLAG, BROKEN_CHARACTER_FLAG
from benchwright.endpoint.json_reading import REPLACEMENT_CHARACTER, join_surrogates, join_surrogates_in_json
from benchwright.endpoint.reply import Reply, assistant_message
from benchwright.endpoint.response_flags import flags_of_call, flags_of_usage, flags_without_answer
from benchwright.endpoint.text_channel import TextChannel
from benchwright.endpoint.tool_call_deltas import ToolCallDelta
from benchwright.endpoint.tool_calls import ToolCallAccumulator
from benchwright.endpoint.usage import read_usage, with_reasoning_estimate
from benchwright.records import Usage

REASONING_SUMMARY_RATIO = 4
"""Ratio that tells a summary of the reasoning from the reasoning itself.

The reasoning that was sent counts as a summary if it has fewer than 1/`REASONING_SUMMARY_RATIO` of the reasoning tokens
that the server counted.
"""

_COMPLETION = frozenset({"completion_tokens", "output_tokens"})

_encode = msgspec.json.Encoder().encode


class ResponseParts:
    """The parts of a response received so far.

    `messages`: content and reasoning of messages that were sent where deltas were expected. `is_lenient`:
    True if any part was not strict JSON. `flags`: oddities of the response; complete after `make_reply`.
    """

    __slots__ = (
        *(
            "content",
            "reasoning",
            "messages",
            "refusal",
            "calls",
            "first_call_at",
            "finish_reason",
            "logprobs",
        ),
        *("model", "extra", "is_lenient", "flags", "_usage", "_counted", "_begin"),
    )

    def __init__(self) -> None:
        self.content = TextChannel()
        self.reasoning = TextChannel()
        self.messages: tuple[TextChannel, TextChannel] | None = None
        self.refusal: list[str] = []
        self.calls = ToolCallAccumulator()
        self.first_call_at = 0
        self.finish_reason: str | None = None
        self.logprobs: Any = None
        self.model: str | None = None
        self.extra: dict[str, Any] = {}
        self.is_lenient = False
        self.flags: list[str] = []
        self._usage: Any = None
        self._counted = 0
        self._begin: int | None = None

    def _count(self) -> int:
        return len(self.content.texts) + len(self.reasoning.texts)

    # Input

    def take_calls(self, message: dict[str, Any], at: int, parts: Iterable[ToolCallDelta] = ()) -> bool:
        """Add the tool calls of a delta or message, including calls in the `parts` of its content.

        Return True if there were any calls.
        """
        came = self.calls.add_all(message)
        for part in parts:
            came = self.calls.add_delta(part) or came
        if came and not self.first_call_at:
            self.first_call_at = at
        return came

    def take_finish_reason(self, reason: Any) -> None:
        """Store the finish reason as one of the API's values. The server's own value is kept in `extra`.

        A later reason replaces an earlier reason. Only "stop" replaces none: the answer was still cut off, or
        still ended with tool calls.
        """
        known = read_finish_reason(reason)
        if known == "stop" and self.finish_reason is not None:
            return
        if known is not None:
            self.finish_reason = known
            if known != reason:
                self.extra["native_finish_reason"] = reason

    def take_logprobs(self, logprobs: dict[str, Any]) -> None:
        """Add the log-probabilities of a chunk."""
        if self.logprobs is None:
            self.logprobs = {}
        for key, value in logprobs.items():
            if isinstance(value, list):
                self.logprobs.setdefault(key, []).extend(value)
            elif value is not None:
                self.logprobs[key] = value

    def take_usage(self, usage: Any) -> None:
        """Store token counts. They replace earlier counts, except that 0 and None replace no other count."""
        earlier = self._usage
        if isinstance(earlier, dict) and isinstance(usage, dict):
            told = {name: count for name, count in usage.items() if count}
            self._usage = {**earlier, **told}
            if _COMPLETION.isdisjoint(told):
                return
        else:
            self._usage = usage
        self._counted = self._count()

    # Result

    def make_reply(self, body: bytes | None) -> Reply:
        """Return the response.

        `body`: the response's body if it was not streamed. If the body is strict JSON, it becomes the reply's
        `raw`. Otherwise `raw` is an equivalent body without a stream.
        """
        self._settle()
        content, apart = self.content.text(), self.reasoning.text()
        said = read_answer_text(content, apart)
        self._begin = said.answer_offset
        refusal = join_surrogates("".join(self.refusal)) or None
        tool_calls = self.calls.finish()
        usage = self._told_usage(content or apart)
        if said.reasoning:
            called = "".join(call["function"]["arguments"] for call in tool_calls)
            usage = with_reasoning_estimate(usage, said.reasoning, f"{said.text}{called}{refusal or ''}")
        if self.is_lenient:
            self.logprobs, self.extra = (
                join_surrogates_in_json(self.logprobs),
                join_surrogates_in_json(self.extra),
            )
            self.model = join_surrogates_in_json(self.model)
        reply = Reply(
            message=assistant_message(said.text, tool_calls, refusal),
            text=said.text,
            reasoning=said.reasoning,
            tool_calls=tool_calls,
            refusal=refusal,
            finish_reason=self.finish_reason,
            usage=usage,
            logprobs=self.logprobs,
            model=self.model,
            extra=self.extra,
            raw=self._raw(content, apart, tool_calls, refusal) if body is None or self.is_lenient else body,
        )
        self._note(reply, said)
        return reply

    def _settle(self) -> None:
        """Remove texts that were sent twice. If no deltas came, use the messages that were sent in their place."""
        if self.messages is not None:
            self._take_messages(*self.messages)
        for channel in (self.content, self.reasoning):
            if len(channel.texts) > 1 and channel.remove_repetition():
                self.flags.append(ANSWER_REPEATED_FLAG)

    def _take_messages(self, content: TextChannel, reasoning: TextChannel) -> None:
        """Fill each channel that got no delta with the texts of the messages."""
        for channel in (content, reasoning):
            channel.remove_accumulated_text()
        if not self.content.texts:
            self.content = content
        if not self.reasoning.texts:
            self.reasoning = reasoning

    def _note(self, reply: Reply, said: AnswerText) -> None:
        self.flags += said.flags
        self.flags += flags_of_usage(self._usage)
        if self.calls.unread or reply.finish_reason not in (None, "stop", "length"):
            self.flags += flags_of_call(self.calls.unread, reply)
        if not reply.text:
            self.flags += flags_without_answer(reply)
        if REPLACEMENT_CHARACTER in reply.text or REPLACEMENT_CHARACTER in reply.reasoning:
            self.flags.append(BROKEN_CHARACTER_FLAG)

    def _told_usage(self, content: str) -> Usage:
        """Return the usage, without the completion tokens if their count is too low for the whole response.

        The count is too low if it is 0 although there is text. It is also too low if it came before the last
        piece and is less than the number of pieces.
        """
        usage = read_usage(self._usage)
        tokens, pieces = usage.completion_tokens, self._count()
        nothing = tokens == 0 and bool(content)
        early = tokens is not None and self._counted < pieces and tokens < pieces
        return msgspec.structs.replace(usage, completion_tokens=None) if nothing or early else usage

    def _raw(
        self, content: str, reasoning: str, tool_calls: list[dict[str, Any]], refusal: str | None
    ) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if reasoning:
            message["reasoning_content"] = reasoning
        if tool_calls:
            message["tool_calls"] = tool_calls
        if refusal:
            message["refusal"] = refusal
        choice: dict[str, Any] = {"message": message, "finish_reason": self.finish_reason}
        if self.logprobs is not None:
            choice["logprobs"] = self.logprobs
        whole = {"model": self.model, "choices": [choice], "usage": self._usage, **self.extra}
        told = {key: value for key, value in whole.items() if value is not None}
        return _encode(join_surrogates_in_json(told) if self.is_lenient else told)

    # Timing and speed

    def answer_started_at(self) -> int:
        """Return the arrival time of the answer's first byte. Return 0 if none arrived.

        Reasoning is not part of the answer. A tool call is.
        """
        content, begin = "".join(self.content.texts), self._begin
        if begin is None:
            begin = read_answer_text(content, "".join(self.reasoning.texts)).answer_offset
        rest = content[begin:]
        content_at = self.content.arrival_time(begin + len(rest) - len(rest.lstrip()))
        return min(content_at or self.first_call_at, self.first_call_at or content_at)

    def first_piece_share(self) -> float:
        """Return the first piece's share of all text; 0 if there is no text."""
        texts = [text for text in (*self.reasoning.texts, *self.content.texts) if text]
        return len(texts[0]) / sum(map(len, texts)) if texts else 0.0

    def estimate_sent_reasoning(self, counted: int, reply: Reply) -> int:
        """Estimate how many of the `counted` reasoning tokens were sent. Return 0 if the response has no reasoning.

        The length of the reasoning text is converted to tokens by the answer's tokens per character. Each
        piece counts as at least one token. If the result is below 1/`REASONING_SUMMARY_RATIO` of `counted`, the text is
        a summary, and the result is returned. Otherwise `counted` is returned.
        """
        if not reply.reasoning:
            return 0
        answer = (reply.usage.completion_tokens or 0) - counted
        if answer <= 0 or not reply.text:
            return counted
        likely = max(round(len(reply.reasoning) * answer / len(reply.text)), len(self.reasoning.texts))
        return likely if likely < counted / REASONING_SUMMARY_RATIO else counted
