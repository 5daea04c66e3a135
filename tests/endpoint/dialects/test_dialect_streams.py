"""Whatever a server streams, a client of another dialect sees the answer that it would have got as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.endpoint.dialects.chats import completions, streams, what_is_said
from tests.endpoint.dialects.clients import events_in, read_gemini, read_messages, read_responses

from benchwright.endpoint.accumulator import ResponseAccumulator
from benchwright.endpoint.dialects import GEMINI, MESSAGES, RESPONSES, AnswerTranslator, Dialect
from benchwright.endpoint.dialects.chat_answer import read_answer

READ = {"messages": read_messages, "responses": read_responses, "gemini": read_gemini}
ASKED: dict[str, Any] = {
    "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    "alt": "sse",
    "model": "asked for",
    "tools": [{"type": "namespace", "name": "ns", "tools": [{"type": "function", "name": "look"}]}],
}

few = settings(max_examples=60)
dialects = pytest.mark.parametrize("dialect", [MESSAGES, RESPONSES, GEMINI], ids=lambda dialect: dialect.name)


def streamed(dialect: Dialect, chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    translation = AnswerTranslator(dialect, ASKED, "1")
    said = [translation.begin(), *map(translation.translate_chunk, chunks), translation.end(announced=True)]
    return events_in(b"".join(said))


def whole(dialect: Dialect, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(AnswerTranslator(dialect, ASKED, "1").translate_body(body))
    return read_gemini([answer]) if dialect is GEMINI else answer


def in_any_order(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with texts of one kind put together, and no ids that tell the place of an item."""
    texts: dict[str, str] = {}
    calls = []
    if "candidates" in answer:
        ((candidate,), rest) = answer.pop("candidates"), answer
        answer = {**rest, "reason": candidate["finishReason"]}
        parts = candidate["content"]["parts"]
        answer["content"] = [
            {"type": "tool_use", **part["functionCall"]}
            if "functionCall" in part
            else {"type": str(part.get("thought")), "text": part["text"]}
            for part in parts
        ]
    for block in answer.pop("content", None) or answer.pop("output", None) or []:
        if block["type"] in ("tool_use", "function_call"):
            calls.append({**block, "id": block.get("call_id", block["id"])})
            continue
        for part in block.get("content") or [block]:
            said = part.get("text", "") + part.get("thinking", "")
            texts[block["type"]] = texts.get(block["type"], "") + said
    said_at_all = {kind: text.rstrip() for kind, text in texts.items() if text.strip()}
    return {**answer, "texts": said_at_all, "calls": calls, "created_at": 0}


@dialects
class TestStream:
    @few
    @given(st.data())
    def test_becomes_what_the_whole_answer_becomes(self, dialect: Dialect, data: st.DataObject) -> None:
        body, chunks = data.draw(streams())
        read = READ[dialect.name](streamed(dialect, chunks))
        direct = whole(dialect, body)
        assert {**read, "created_at": 0} == {**direct, "created_at": 0}

    @few
    @given(st.data())
    def test_that_mixes_everything_loses_nothing(self, dialect: Dialect, data: st.DataObject) -> None:
        body, chunks = data.draw(streams(mixed=True))
        read = READ[dialect.name](streamed(dialect, chunks))
        assert in_any_order(read) == in_any_order(whole(dialect, body))

    @few
    @given(st.data())
    def test_that_comes_as_one_body_is_told_as_a_stream(self, dialect: Dialect, data: st.DataObject) -> None:
        body = data.draw(completions())
        translation = AnswerTranslator(dialect, ASKED, "1")
        told = translation.begin() + translation.remaining_events(read_answer(body))
        read = READ[dialect.name](events_in(told))
        assert {**read, "created_at": 0} == {**whole(dialect, body), "created_at": 0}

    @few
    @given(st.data())
    def test_is_read_back_as_the_chat_completion_that_it_was(
        self, dialect: Dialect, data: st.DataObject
    ) -> None:
        body, chunks = data.draw(streams())
        reader, there, back = dialect.make_reader(), ResponseAccumulator(), ResponseAccumulator()
        there.take_whole_body(json.dumps(body).encode())
        for event in streamed(dialect, chunks):
            back.take_decoded_chunk(reader.read_event(event), 0)
        assert reader.is_done
        assert as_told(what_is_said(back), dialect) == as_told(what_is_said(there), dialect)

    @few
    @given(st.data())
    def test_and_body_are_read_alike(self, dialect: Dialect, data: st.DataObject) -> None:
        body = data.draw(completions())
        there, back = ResponseAccumulator(), ResponseAccumulator()
        there.take_whole_body(json.dumps(body).encode())
        answer = whole(dialect, body)
        back.take_whole_body(json.dumps(dialect.make_reader().read_body(answer)).encode())
        assert as_told(what_is_said(back), dialect) == as_told(what_is_said(there), dialect)


def as_told(said: tuple[Any, ...], dialect: Dialect) -> tuple[Any, ...]:
    """What was said, but for what a dialect has no word for: why it ended where it called as well, in Responses
    a refusal and a call; how much was reasoning, in Messages; how JSON was spaced."""
    text, reasoning, calls, refusal, finish_reason, usage = said
    plain = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls
    ]
    if finish_reason in ("stop", "tool_calls"):
        finish_reason = "tool_calls" if calls else "stop"
    tokens = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
    reasoned = None if dialect is MESSAGES else usage.reasoning_tokens
    return text, reasoning, plain, refusal, finish_reason, tokens, reasoned


@dialects
class TestBrokenStream:
    def test_that_says_no_reason_to_end_is_no_answer(self, dialect: Dialect) -> None:
        translation = AnswerTranslator(dialect, ASKED)
        translation.begin()
        translation.translate_chunk({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})
        (event,) = events_in(translation.end(announced=False))
        assert "error" in event or event["type"] == "response.failed"

    def test_hands_an_error_on(self, dialect: Dialect) -> None:
        translation = AnswerTranslator(dialect, ASKED)
        (event,) = events_in(translation.translate_chunk({"error": {"message": "out of memory"}}))
        assert "out of memory" in json.dumps(event)
        assert translation.end(announced=True) == b""
