"""Answers of Gemini: as Google sends them, and what an answer of a chat completion becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.endpoint.dialects.chats import OBJECTS, TEXTS, streams, what_is_said
from tests.endpoint.dialects.clients import read_gemini

from benchwright.endpoint.accumulator import ResponseAccumulator
from benchwright.endpoint.dialects import GEMINI, AnswerTranslator
from benchwright.endpoint.dialects.gemini.response_reader import GeminiReader

USAGE = {
    "promptTokenCount": 11,
    "cachedContentTokenCount": 3,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 7,
    "toolUsePromptTokenCount": 2,
    "totalTokenCount": 25,
}


def event(*parts: dict[str, Any], **told: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **told}]}


def read(body: Any) -> Any:
    """The reply that a meter reads in a body."""
    assembly = ResponseAccumulator()
    assembly.take_whole_body(json.dumps(GeminiReader().read_body(body)).encode())
    return assembly.make_reply(None)


few = settings(max_examples=30)


@st.composite
def googles(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw events as Google sends them: parts of any kind in any order, calls without ids, tokens so far in each.

    No long text comes twice: servers that send an answer once more, or as its own thinking, are another test's.
    """
    part = st.one_of(
        st.builds(lambda text: {"text": text}, TEXTS),
        st.builds(lambda text: {"text": text, "thought": True}, TEXTS),
        st.builds(lambda args: {"functionCall": {"name": "shell", "args": args}}, OBJECTS),
        st.just({"text": "", "thoughtSignature": "c2lnbmVk"}),
    )
    lists = draw(st.lists(st.lists(part, max_size=3), min_size=1, max_size=4))
    texts = [text for parts in lists for part in parts if len(text := part.get("text", "")) > 1]
    assume(len(texts) == len(set(texts)))
    events = [event(*parts) for parts in lists]
    for number, one in enumerate(events):
        one["usageMetadata"] = {"promptTokenCount": 9, "candidatesTokenCount": number}
    reason = draw(st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"]))
    events[-1]["candidates"][0]["finishReason"] = reason
    return events


class TestOfGoogle:
    @few
    @given(googles())
    def test_are_read_alike_event_by_event_and_as_one_array(self, events: list[dict[str, Any]]) -> None:
        reader, streamed = GeminiReader(), ResponseAccumulator()
        for one in events:
            streamed.take_decoded_chunk(reader.read_event(one), 0)
        whole = ResponseAccumulator()
        whole.take_whole_body(json.dumps(GeminiReader().read_body(events)).encode())
        assert reader.is_done
        assert what_is_said(streamed) == what_is_said(whole)

    @few
    @given(googles())
    def test_lose_nothing(self, events: list[dict[str, Any]]) -> None:
        parts = [part for one in events for part in one["candidates"][0]["content"]["parts"]]
        reply = read(events)
        assert reply.reasoning == "".join(part["text"] for part in parts if part.get("thought"))
        texts = (part.get("text", "") for part in parts if not part.get("thought"))
        assert reply.text == "".join(texts)
        called = [part["functionCall"]["args"] for part in parts if "functionCall" in part]
        assert [json.loads(call["function"]["arguments"]) for call in reply.tool_calls] == called
        assert len({call["id"] for call in reply.tool_calls}) == len(called)
        nothing = None if reply.text or reply.reasoning else 0
        assert reply.usage.completion_tokens == (len(events) - 1 or nothing), "no text has 0 tokens"

    def test_count_tokens_as_chat_completions_do(self) -> None:
        usage = read({**event({"text": "a"}, finishReason="STOP"), "usageMetadata": USAGE}).usage
        assert (usage.prompt_tokens, usage.cached_tokens) == (13, 3)
        assert (usage.completion_tokens, usage.reasoning_tokens) == (12, 7)

    @pytest.mark.parametrize(
        ("usage", "expected"),
        [
            (None, (None, None)),
            ({}, (None, None)),
            ({"promptTokenCount": 9}, (9, None)),
            ({"promptTokenCount": 9, "totalTokenCount": 9}, (9, 0)),
            ({"promptTokenCount": 9, "thoughtsTokenCount": 4, "totalTokenCount": 13}, (9, 4)),
            ({"totalTokenCount": 9}, (None, None)),
        ],
    )
    def test_leave_out_counts_that_are_0_but_unknown_ones_are_not_0(
        self, usage: Any, expected: tuple[int | None, int | None]
    ) -> None:
        counted = read({**event({"text": ""}, finishReason="STOP"), "usageMetadata": usage}).usage
        assert (counted.prompt_tokens, counted.completion_tokens) == expected

    @pytest.mark.parametrize(
        ("reason", "expected"),
        [
            ("STOP", "stop"),
            ("MAX_TOKENS", "length"),
            ("PROHIBITED_CONTENT", "content_filter"),
            ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
        ],
    )
    def test_say_why_they_ended(self, reason: str, expected: str) -> None:
        assert read(event({"text": "a"}, finishReason=reason)).finish_reason == expected

    def test_that_call_end_for_it(self) -> None:
        called = event({"functionCall": {"name": "shell"}}, finishReason="STOP")
        assert read(called).finish_reason == "tool_calls"

    def test_to_a_prompt_that_was_blocked_are_filtered(self) -> None:
        reply = read({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE})
        assert (reply.text, reply.finish_reason) == ("", "content_filter")

    @pytest.mark.parametrize("body", [{}, [], {"choices": []}, 7])
    def test_are_told_from_what_is_none(self, body: Any) -> None:
        with pytest.raises((KeyError, TypeError, AttributeError)):
            GeminiReader().read_body(body)

    def test_may_be_errors(self) -> None:
        assembly = ResponseAccumulator()
        assembly.take_decoded_chunk(GeminiReader().read_event({"error": {"code": 503, "message": "busy"}}), 0)
        assert assembly.error == {"code": 503, "message": "busy"}


def told(message: dict[str, Any], finish_reason: str = "stop", usage: Any = None, **asked: Any) -> Any:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    translation = AnswerTranslator(GEMINI, {"model": "asked for", **asked}, "1")
    return json.loads(translation.translate_body({"choices": [choice], "usage": usage}))


class TestTranslated:
    def test_tell_thoughts_only_to_who_asks_for_them(self) -> None:
        message = {"reasoning_content": "Hm.", "content": "a"}
        asking = {"thinkingConfig": {"includeThoughts": True}}
        (text,) = told(message)["candidates"][0]["content"]["parts"]
        thought, _ = told(message, generationConfig=asking)["candidates"][0]["content"]["parts"]
        assert (text, thought) == ({"text": "a"}, {"text": "Hm.", "thought": True})

    def test_count_thoughts_apart_from_the_answer(self) -> None:
        usage = {
            "prompt_tokens": 11,
            "completion_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 7},
        }
        assert told({"content": "a"}, usage=usage)["usageMetadata"] == {
            "promptTokenCount": 11,
            "cachedContentTokenCount": 3,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 7,
            "totalTokenCount": 23,
        }

    def test_without_tokens_have_no_usage(self) -> None:
        assert "usageMetadata" not in told({"content": "a"})

    @pytest.mark.parametrize(
        ("reason", "expected"), [("stop", "STOP"), ("length", "MAX_TOKENS"), ("content_filter", "SAFETY")]
    )
    def test_say_why_they_ended(self, reason: str, expected: str) -> None:
        assert told({"content": "a"}, reason)["candidates"][0]["finishReason"] == expected

    def test_keep_arguments_that_are_no_object(self) -> None:
        function = {"name": "shell", "arguments": '{"a": '}
        calls = [{"id": "c", "type": "function", "function": function}]
        (part,) = told({"content": None, "tool_calls": calls})["candidates"][0]["content"]["parts"]
        assert part["functionCall"] == {"id": "c", "name": "shell", "args": {"arguments": '{"a": '}}

    @few
    @given(st.data())
    def test_may_come_as_one_array(self, data: st.DataObject) -> None:
        _, chunks = data.draw(streams())
        as_array, as_events = (AnswerTranslator(GEMINI, {"alt": alt}, "1") for alt in ("json", "sse"))
        array = [as_array.begin(), *map(as_array.translate_chunk, chunks), as_array.end(announced=True)]
        events = [as_events.begin(), *map(as_events.translate_chunk, chunks), as_events.end(announced=True)]
        said = [json.loads(data) for data in b"".join(events).removeprefix(b"data: ").split(b"\n\ndata: ")]
        assert json.loads(b"".join(array)) == said
        assert read_gemini(said)

    def test_that_break_off_are_a_whole_array(self) -> None:
        translation = AnswerTranslator(GEMINI, {"alt": "json"})
        said = translation.translate_chunk({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})
        *_, last = json.loads(said + translation.keep_alive + translation.end(announced=False))
        assert last["error"]["status"] == "INTERNAL"
