"""What a request of Messages asks of a server that speaks chat completions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchwright.endpoint.dialects import UntranslatableRequest
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.messages.request import chat_request

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
TOOL = {"name": "Bash", "description": "Runs.", "input_schema": {"type": "object", "properties": {}}}


def asked(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return chat_request({"model": "m", "max_tokens": 9, "messages": list(messages), **fields})


def said(*messages: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = asked(*messages, **fields)["messages"]
    return told


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def text(value: str, **marks: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **marks}


def result(identity: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **fields}


class TestSystem:
    @pytest.mark.parametrize(
        "system", ["Be brief.", [text("Be brief.", cache_control={"type": "ephemeral"})]]
    )
    def test_becomes_the_first_message(self, system: Any) -> None:
        assert said(user(text("Hi")), system=system) == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ]

    def test_leaves_the_line_for_billing_out_as_it_differs_in_each_session(self) -> None:
        system = [text("x-anthropic-billing-header: cc_version=1;"), text("Be brief.")]
        assert said(user(text("Hi")), system=system)[0]["content"] == "Be brief."

    def test_takes_instructions_before_the_first_answer_in(self) -> None:
        messages = said(user(text("Hi")), {"role": "system", "content": "Be kind."}, system="Be brief.")
        assert [message["role"] for message in messages] == ["system", "user"]
        assert messages[0]["content"] == "Be brief.\n\nBe kind."

    def test_leaves_later_instructions_where_they_are(self) -> None:
        messages = said(
            user(text("Hi")),
            {"role": "assistant", "content": "Hello"},
            {"role": "system", "content": "Time is short."},
        )
        assert messages[-1] == {"role": "user", "content": "Time is short."}


class TestUser:
    def test_of_plain_text(self) -> None:
        assert said({"role": "user", "content": "Hi"}) == [{"role": "user", "content": "Hi"}]

    def test_may_show_images(self) -> None:
        (message,) = said(user(text("What is it?"), IMAGE))
        assert message["content"] == [
            {"type": "text", "text": "What is it?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ]

    def test_may_name_images_by_their_address(self) -> None:
        (message,) = said(user({"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}))
        assert message["content"] == [{"type": "image_url", "image_url": {"url": "https://a/b.png"}}]

    def test_is_told_where_a_block_has_no_counterpart(self) -> None:
        (message,) = said(user({"type": "document", "source": {"type": "base64", "data": "AAAA"}}))
        assert "document was left out" in message["content"]


class TestCalls:
    CALL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    CALLED = {"role": "assistant", "content": [CALL]}
    SECOND = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {}}

    def test_keep_their_ids_and_stand_in_one_message_with_the_text(self) -> None:
        message, *_ = said({"role": "assistant", "content": [text("Look:"), self.CALL, self.SECOND]})
        assert message["content"] == "Look:"
        assert [call["id"] for call in message["tool_calls"]] == ["toolu_1", "toolu_2"]
        assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"command": "ls"}

    def test_keep_what_was_thought_before(self) -> None:
        thought = {"type": "thinking", "thinking": "Hm.", "signature": ""}
        message, *_ = said({"role": "assistant", "content": [thought, self.CALL]})
        assert message["reasoning_content"] == "Hm."

    def test_get_their_results_right_behind_them_and_before_what_the_user_says(self) -> None:
        messages = said(
            {"role": "assistant", "content": [self.CALL, self.SECOND]},
            user(text("Go on."), result("toolu_1", "a"), result("toolu_2", [text("b")])),
        )
        assert messages[1:] == [
            {"role": "tool", "tool_call_id": "toolu_1", "content": "a"},
            {"role": "tool", "tool_call_id": "toolu_2", "content": "b"},
            {"role": "user", "content": "Go on."},
        ]

    def test_have_results_that_are_errors(self) -> None:
        _, message = said(self.CALLED, user(result("toolu_1", "no such file", is_error=True)))
        assert message["content"] == "Error:\n\nno such file"

    def test_have_results_with_images_which_the_user_shows(self) -> None:
        messages = said(self.CALLED, user(result("toolu_1", [text("a"), IMAGE])))
        assert [message["role"] for message in messages] == ["assistant", "tool", "user"]
        assert messages[2]["content"][0]["type"] == "image_url"

    def test_have_results_without_content(self) -> None:
        _, message = said(self.CALLED, user({"type": "tool_result", "tool_use_id": "toolu_1"}))
        assert message["content"] == ""


class TestTools:
    def test_become_functions(self) -> None:
        (tool,) = asked(user(text("Hi")), tools=[TOOL])["tools"]
        assert tool == {
            "type": "function",
            "function": {"name": "Bash", "description": "Runs.", "parameters": TOOL["input_schema"]},
        }

    def test_of_the_provider_are_left_out(self) -> None:
        body = asked(user(text("Hi")), tools=[{"type": "web_search_20250305", "name": "web_search"}])
        assert "tools" not in body

    @pytest.mark.parametrize(
        ("choice", "expected"),
        [
            ({"type": "auto"}, "auto"),
            ({"type": "any"}, "required"),
            ({"type": "none"}, "none"),
            ({"type": "tool", "name": "Bash"}, {"type": "function", "function": {"name": "Bash"}}),
        ],
    )
    def test_are_chosen_in_the_same_way(self, choice: Any, expected: Any) -> None:
        assert asked(user(text("Hi")), tools=[TOOL], tool_choice=choice)["tool_choice"] == expected

    def test_may_be_called_one_at_a_time(self) -> None:
        choice = {"type": "auto", "disable_parallel_tool_use": True}
        assert asked(user(text("Hi")), tools=[TOOL], tool_choice=choice)["parallel_tool_calls"] is False


class TestSettings:
    def test_have_other_names(self) -> None:
        body = asked(user(text("Hi")), stop_sequences=["x"], temperature=0.5, top_p=0.9, stream=True)
        assert body["stop"] == ["x"]
        assert (body["max_tokens"], body["temperature"], body["top_p"], body["stream"]) == (9, 0.5, 0.9, True)

    def test_that_chat_completions_do_not_know_are_not_sent(self) -> None:
        body = asked(
            user(text("Hi")),
            thinking={"type": "adaptive"},
            context_management={"edits": []},
            output_config={"effort": "high"},
            metadata={"user_id": "x"},
            top_k=5,
        )
        assert set(body) == {"model", "messages", "max_tokens"}

    def test_may_ask_for_json(self) -> None:
        schema = {"type": "object"}
        body = asked(user(text("Hi")), output_config={"format": {"type": "json_schema", "schema": schema}})
        assert body["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": "Hi"},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "judge", "content": "Hi"}]},
        {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
        {"messages": [], "tool_choice": {"type": "auto"}, "system": 7},
    ],
)
def test_what_is_no_request_of_messages_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(UntranslatableRequest):
        chat_request(body)


def lost_and_asked(*messages: dict[str, Any], **fields: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    losses = TranslationLosses()
    return chat_request({"model": "m", "messages": list(messages), **fields}, losses), losses.flags


class TestWhatToolsReturn:
    """Blocks of results that chat completions do not know become text."""

    CALLED = {"role": "assistant", "content": [TestCalls.CALL]}

    @pytest.mark.parametrize(
        ("block", "expected"),
        [
            (
                {"type": "search_result", "source": "https://a", "title": "A", "content": [text("found")]},
                "A (https://a)\n\nfound",
            ),
            (
                {"type": "document", "title": "T", "source": {"type": "text", "data": "a page"}},
                "T\n\na page",
            ),
            ({"type": "document", "source": {"type": "content", "content": [text("a page")]}}, "a page"),
            ({"type": "tool_reference", "tool_name": "WebFetch"}, "The tool WebFetch can be called now."),
        ],
        ids=lambda one: one["type"] if isinstance(one, dict) else "",
    )
    def test_is_told_as_text(self, block: dict[str, Any], expected: str) -> None:
        request, flags = lost_and_asked(self.CALLED, user(result("toolu_1", [block])))
        assert request["messages"][1]["content"] == expected
        assert flags == ()

    def test_is_told_as_lost_if_there_is_no_text_for_it(self) -> None:
        pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": ""}}
        _, flags = lost_and_asked(self.CALLED, user(result("toolu_1", [pdf])))
        assert flags == ("parts_left_out: document",)


class TestToolsOfAnthropic:
    @pytest.mark.parametrize(
        ("kind", "name", "argument"),
        [
            ("bash_20250124", "bash", "command"),
            ("text_editor_20250728", "str_replace_based_edit_tool", "old_str"),
            ("memory_20250818", "memory", "path"),
        ],
    )
    def test_that_the_client_runs_are_offered(self, kind: str, name: str, argument: str) -> None:
        request, flags = lost_and_asked(user(text("Hi")), tools=[{"type": kind, "name": name}])
        (tool,) = request["tools"]
        assert tool["function"]["name"] == name
        assert argument in tool["function"]["parameters"]["properties"]
        assert flags == ()

    def test_that_the_server_runs_are_told_as_left_out(self) -> None:
        tools = [{"type": "web_search_20250305", "name": "web_search"}]
        request, flags = lost_and_asked(user(text("Hi")), tools=tools)
        assert "tools" not in request
        assert flags == ("tools_left_out: web_search",)

    def test_that_the_server_has_run_are_told_as_lost(self) -> None:
        used = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
        _, flags = lost_and_asked({"role": "assistant", "content": [used, text("Found.")]})
        assert flags == ("parts_left_out: server_tool_use",)
