"""What a request of Responses asks of a server that speaks chat completions."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.endpoint.dialects import UntranslatableRequest
from benchwright.endpoint.dialects.responses.request import chat_request

FUNCTION = {"type": "function", "name": "shell", "description": "Runs.", "parameters": {"type": "object"}}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "shell",
    "arguments": '{"cmd":"ls"}',
}


def asked(*items: Any, **fields: Any) -> dict[str, Any]:
    return chat_request({"model": "m", "input": list(items), **fields})


def said(*items: Any, **fields: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = asked(*items, **fields)["messages"]
    return told


def message(role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}


class TestInput:
    def test_may_be_plain_text(self) -> None:
        assert chat_request({"input": "Hi"})["messages"] == [{"role": "user", "content": "Hi"}]

    def test_has_one_system_message_for_all_instructions(self) -> None:
        messages = said(message("developer", "a", "b"), {"role": "system", "content": "c"}, instructions="d")
        assert messages == [{"role": "system", "content": "d\n\na\n\nb\n\nc"}]

    def test_may_show_images(self) -> None:
        part = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
        (told,) = said({"role": "user", "content": [part]})
        assert told["content"] == [{"type": "image_url", "image_url": {"url": part["image_url"]}}]


class TestCalls:
    def test_that_follow_each_other_stand_in_one_message(self) -> None:
        second = {**CALL, "call_id": "call_2"}
        told, *_ = said(message("assistant", "Look:"), CALL, second)
        assert told["content"] == "Look:"
        assert [call["id"] for call in told["tool_calls"]] == ["call_1", "call_2"]

    def test_are_answered_by_their_call_id(self) -> None:
        output = {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"}
        assert said(CALL, output)[-1] == {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}

    def test_may_be_answered_in_parts(self) -> None:
        parts = [
            {"type": "input_text", "text": "a"},
            {"type": "input_image", "image_url": "https://a/b.png"},
        ]
        messages = said(CALL, {"type": "function_call_output", "call_id": "call_1", "output": parts})
        assert [told["role"] for told in messages] == ["assistant", "tool", "user"]

    def test_of_tools_with_free_text_carry_it_as_one_argument(self) -> None:
        call = {"type": "custom_tool_call", "call_id": "call_1", "name": "patch", "input": "*** Begin"}
        told, *_ = said(call)
        assert told["tool_calls"][0]["function"] == {"name": "patch", "arguments": '{"input":"*** Begin"}'}

    def test_of_tools_in_a_group_carry_its_name(self) -> None:
        told, *_ = said({**CALL, "namespace": "agents"})
        assert told["tool_calls"][0]["function"]["name"] == "agents__shell"


class TestReasoning:
    def test_that_is_encrypted_is_left_out(self) -> None:
        assert said(
            {"type": "reasoning", "summary": [], "encrypted_content": "x"}, message("user", "Hi")
        ) == [{"role": "user", "content": "Hi"}]

    def test_that_can_be_read_stays_with_the_answer(self) -> None:
        thought = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
        told, *_ = said(thought, CALL)
        assert told["reasoning_content"] == "Hm."
        assert len(told["tool_calls"]) == 1


class TestTools:
    def test_of_four_kinds(self) -> None:
        group = {"type": "namespace", "name": "agents", "tools": [{**FUNCTION, "name": "close"}]}
        free = {"type": "custom", "name": "patch", "description": "Patches."}
        tools = asked(tools=[FUNCTION, group, free, {"type": "web_search"}])["tools"]
        assert [tool["function"]["name"] for tool in tools] == ["shell", "agents__close", "patch"]

    @pytest.mark.parametrize(
        ("choice", "expected"),
        [
            ("auto", "auto"),
            ("required", "required"),
            ({"type": "function", "name": "shell"}, {"type": "function", "function": {"name": "shell"}}),
            ({"type": "allowed_tools", "mode": "required", "tools": [FUNCTION]}, "required"),
        ],
    )
    def test_are_chosen_in_the_same_way(self, choice: Any, expected: Any) -> None:
        assert asked(tools=[FUNCTION], tool_choice=choice)["tool_choice"] == expected


class TestSettings:
    def test_have_other_names(self) -> None:
        body = asked(max_output_tokens=9, temperature=0.5, text={"format": {"type": "json_object"}})
        assert (body["max_tokens"], body["temperature"]) == (9, 0.5)
        assert body["response_format"] == {"type": "json_object"}

    def test_that_chat_completions_do_not_know_are_not_sent(self) -> None:
        body = asked(
            store=False,
            include=["reasoning.encrypted_content"],
            prompt_cache_key="x",
            client_metadata={},
            reasoning={"summary": "auto"},
        )
        assert set(body) == {"model", "messages"}


@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "background"])
def test_what_needs_a_server_that_remembers_is_refused(field: str) -> None:
    with pytest.raises(UntranslatableRequest, match=field):
        asked(**{field: "x"})


@pytest.mark.parametrize(
    "body",
    [{}, {"input": 7}, {"input": [{"type": "function_call"}]}, {"input": [{"role": "judge", "content": ""}]}],
)
def test_what_is_no_request_of_responses_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(UntranslatableRequest):
        chat_request(body)
