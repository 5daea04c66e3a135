"""What an answer of a chat completion becomes, where dialects differ."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.endpoint.dialects.clients import events_in, read_messages, read_responses

from benchwright.endpoint.dialects import MESSAGES, RESPONSES, AnswerTranslator, Dialect


def body(finish_reason: str | None = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    return {"choices": [choice], "usage": usage}


def call(name: str = "shell", arguments: str = "{}", identity: str | None = "call_1") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def told(dialect: Dialect, answer: dict[str, Any], **asked: Any) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(
        AnswerTranslator(dialect, {"model": "asked for", **asked}).translate_body(answer)
    )
    return whole


def streamed(dialect: Dialect, *deltas: dict[str, Any], **asked: Any) -> list[dict[str, Any]]:
    translation = AnswerTranslator(dialect, {"model": "asked for", **asked})
    said = translation.begin()
    for delta in deltas:
        said += translation.translate_chunk({"choices": [{"index": 0, "delta": delta}]})
    said += translation.translate_chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return events_in(said + translation.end(announced=True))


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 3}}


class TestMessages:
    @pytest.mark.parametrize(
        ("finish_reason", "expected"),
        [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal"), (None, "end_turn")],
    )
    def test_say_why_it_ended(self, finish_reason: str | None, expected: str) -> None:
        assert told(MESSAGES, body(finish_reason, content="a"))["stop_reason"] == expected

    def test_stop_for_a_tool_whatever_the_server_calls_it(self) -> None:
        assert told(MESSAGES, body("stop", tool_calls=[call()]))["stop_reason"] == "tool_use"

    def test_count_no_cached_tokens_as_input(self) -> None:
        usage = told(MESSAGES, body(usage=USAGE, content="a"))["usage"]
        assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (8, 3)
        assert usage["output_tokens"] == 7

    def test_name_the_model_that_was_asked_for(self) -> None:
        assert told(MESSAGES, body(content="a"))["model"] == "asked for"

    def test_keep_arguments_that_are_no_object(self) -> None:
        (block,) = told(MESSAGES, body(tool_calls=[call(arguments='{"a": ')]))["content"]
        assert block["input"] == {"arguments": '{"a": '}

    def test_have_a_thinking_block_without_a_signature(self) -> None:
        thinking, text = told(MESSAGES, body(reasoning="Hm.", content="a"))["content"]
        assert thinking == {"type": "thinking", "thinking": "Hm.", "signature": ""}
        assert text == {"type": "text", "text": "a"}

    def test_make_up_ids_that_differ_in_each_answer(self) -> None:
        answers = [told(MESSAGES, body(tool_calls=[call(identity=None)])) for _ in range(2)]
        assert len({answer["content"][0]["id"] for answer in answers}) == 2

    def test_close_each_block_before_the_next_begins(self) -> None:
        mixed = [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": '{"p"'}}]},
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "y", "arguments": "{}"}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
        ]
        message = read_messages(streamed(MESSAGES, *mixed))
        assert [(block["id"], block["input"]) for block in message["content"]] == [("a", {"p": 1}), ("b", {})]

    def test_tell_the_tokens_that_come_after_the_reason_to_end(self) -> None:
        translation = AnswerTranslator(MESSAGES, {})
        said = translation.begin()
        said += translation.translate_chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        said += translation.translate_chunk({"choices": [], "usage": USAGE})
        message = read_messages(events_in(said + translation.end(announced=True)))
        assert message["usage"]["output_tokens"] == 7


class TestResponses:
    def test_count_cached_tokens_as_input(self) -> None:
        usage = told(RESPONSES, body(usage=USAGE, content="a"))["usage"]
        assert (usage["input_tokens"], usage["input_tokens_details"]) == (11, {"cached_tokens": 3})
        assert usage["total_tokens"] == 18

    def test_are_incomplete_where_the_length_ended_them(self) -> None:
        response = told(RESPONSES, body("length", content="a"))
        assert response["status"] == "incomplete"
        assert response["incomplete_details"] == {"reason": "max_output_tokens"}

    def test_have_calls_with_an_id_and_a_call_id(self) -> None:
        (item,) = told(RESPONSES, body(tool_calls=[call()]))["output"]
        assert item["id"].startswith("fc_")
        assert item["call_id"] == "call_1"

    def test_have_items_with_the_same_ids_in_every_event(self) -> None:
        events = streamed(RESPONSES, {"content": "a"}, {"content": "b"})
        ids = {event.get("item_id") or event["item"]["id"] for event in events[2:-1]}
        assert len(ids) == 1

    def test_refuse_in_a_part_of_its_own(self) -> None:
        (item,) = told(RESPONSES, body(content=None, refusal="No."))["output"]
        assert item["content"] == [{"type": "refusal", "refusal": "No."}]

    def test_call_tools_of_a_group_by_their_own_names(self) -> None:
        group = {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "close"}]}
        (item,) = told(RESPONSES, body(tool_calls=[call("agents__close")]), tools=[group])["output"]
        assert (item["name"], item["namespace"]) == ("close", "agents")

    def test_call_tools_with_free_text(self) -> None:
        free = {"type": "custom", "name": "patch"}
        piece = {"index": 0, "id": "c", "function": {"name": "patch", "arguments": '{"input": "a\\nb"}'}}
        response = read_responses(streamed(RESPONSES, {"tool_calls": [piece]}, tools=[free]))
        (item,) = response["output"]
        assert (item["type"], item["input"], item["call_id"]) == ("custom_tool_call", "a\nb", "c")

    def test_without_tokens_have_no_usage(self) -> None:
        assert told(RESPONSES, body(content="a"))["usage"] is None
