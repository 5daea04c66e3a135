"""The messages of a trial as a page gets them: what was thought and what was said, nothing lost and nothing twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.analysis.report.messages import ParsedMessage, parse_messages
from benchwright.records import Message
from benchwright.runs.journal import ExchangeBody, TrialBody, encode_json


def shown(message: Message, thought_before: dict[str, Any] | None = None) -> ParsedMessage:
    """The message as it is shown; `thought_before` is the server's own, where it differs."""
    response = msgspec.Raw(encode_json({"choices": [{"message": thought_before}]}))
    exchanges = [] if thought_before is None else [ExchangeBody({}, 0, response)]
    told, _ = parse_messages(TrialBody("key", messages=[message], exchanges=exchanges), (), 1, 1)
    return told[0]


def said(content: str, **more: Any) -> Message:
    return {"role": "assistant", "content": content, **more}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_what_was_thought_is_told_apart_whichever_way_it_came(field: str) -> None:
    ways = [
        shown(said("42", **{field: "why"})),
        shown(said("42"), said("42", **{field: "why"})),
        shown(said("<think>why</think>42")),
        shown(said("why</think>42")),
        shown(said("<think>why</think>42"), said("<think>why</think>42")),
    ]
    assert {(told.reasoning, told.text) for told in ways} == {("why", "42")}


def test_a_second_thought_inside_the_answer_stays_where_it_is() -> None:
    told = shown(said("<think>but</think>42", reasoning="why"))
    assert (told.reasoning, told.text) == ("why", "<think>but</think>42")


def test_a_conversation_of_no_messages_is_what_was_sent_last_and_its_answer() -> None:
    asked = {"role": "user", "content": "6 times 7?"}
    answer = {"choices": [{"message": said("42", reasoning="why")}]}
    exchange = ExchangeBody({}, [asked], msgspec.Raw(encode_json(answer)))
    told, _ = parse_messages(TrialBody("key", exchanges=[exchange]), ("42",), 9, 9)
    assert [(one.text, one.reasoning, one.answer_span) for one in told] == [
        ("6 times 7?", "", None),
        ("42", "why", (0, 2)),
    ]


@given(count=st.integers(0, 40), first=st.integers(0, 9), last=st.integers(1, 9))
def test_only_the_middle_of_a_long_conversation_is_left_out(count: int, first: int, last: int) -> None:
    messages = [said(str(number)) for number in range(count)]
    told, left_out = parse_messages(TrialBody("key", messages=messages), (), first, first + last)
    texts = [one.text for one in told]
    everything = [str(number) for number in range(count)]
    assert len(texts) + left_out == count
    assert texts == everything if count <= first + last else everything[:first] + everything[-last:]
