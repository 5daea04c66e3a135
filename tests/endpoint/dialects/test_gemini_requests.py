"""What a request of Gemini asks of a server that speaks chat completions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchwright.endpoint.dialects import UntranslatableRequest
from benchwright.endpoint.dialects.gemini.request import chat_request, offers_tools, request_to_count
from benchwright.endpoint.dialects.gemini.urls import (
    COUNT_TOKENS_SUFFIX,
    GENERATE_SUFFIX,
    GeminiUrl,
    parse_url,
    url_prefix,
)

IMAGE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
DEEP: dict[str, Any] = {}
for _ in range(2000):
    DEEP = {"items": DEEP}
TOOL = {"name": "shell", "description": "Runs.", "parametersJsonSchema": SCHEMA}


def asked(*contents: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return chat_request({"model": "m", "stream": True, "contents": list(contents), **fields})


def said(*contents: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = asked(*contents, **fields)["messages"]
    return told


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def text(value: str, **marks: Any) -> dict[str, Any]:
    return {"text": value, **marks}


def call(name: str = "shell", **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **fields}, "thoughtSignature": "c2lnbmVk"}


def result(response: Any, name: str = "shell", **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **fields}}


class TestAddress:
    @pytest.mark.parametrize(
        ("path", "query", "address"),
        [
            (b"/v1beta/models/m:generateContent", b"", GeminiUrl(GENERATE_SUFFIX, "m", False, "json")),
            (
                b"/v1/v1beta/models/m:generateContent",
                b"key=x",
                GeminiUrl(GENERATE_SUFFIX, "m", False, "json"),
            ),
            (b"/v1/models/m:streamGenerateContent", b"", GeminiUrl(GENERATE_SUFFIX, "m", True, "json")),
            (
                b"/v1beta/models/Org%2FName:streamGenerateContent",
                b"key=x&alt=sse",
                GeminiUrl(GENERATE_SUFFIX, "Org/Name", True, "sse"),
            ),
            (
                b"/v1beta/models/a/qwen3:8b:countTokens",
                b"",
                GeminiUrl(COUNT_TOKENS_SUFFIX, "a/qwen3:8b", False, "json"),
            ),
        ],
    )
    def test_says_the_model_and_the_form(self, path: bytes, query: bytes, address: GeminiUrl) -> None:
        assert parse_url(path, query) == address

    @pytest.mark.parametrize("path", [b"/v1beta/models", b"/v1beta/models/m:embedContent", b"/v1/messages"])
    def test_is_told_from_others(self, path: bytes) -> None:
        assert parse_url(path, b"") is None

    @pytest.mark.parametrize(
        ("prefix", "expected"),
        [
            ("/v1", "/v1beta/models/org/m%20x"),
            ("", "/v1beta/models/org/m%20x"),
            ("/proxy/v1", "/proxy/v1beta/models/org/m%20x"),
            ("/v1beta/openai", "/v1beta/models/org/m%20x"),
        ],
    )
    def test_of_a_server_lies_beside_its_base_url(self, prefix: str, expected: str) -> None:
        assert url_prefix(prefix, "org/m x") == expected


class TestContents:
    @pytest.mark.parametrize("name", ["systemInstruction", "system_instruction"])
    def test_begin_with_the_instructions(self, name: str) -> None:
        assert said(user(text("Hi")), **{name: {"parts": [text("Be brief.")], "role": "user"}}) == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ]

    def test_may_come_without_a_role(self) -> None:
        assert said({"parts": [text("Hi")]}) == [{"role": "user", "content": "Hi"}]

    def test_may_show_images_in_either_case(self) -> None:
        snake = {"inline_data": {"mime_type": "image/png", "data": "BBBB"}}
        (message,) = said(user(text("What is it?"), IMAGE, snake))
        assert [part["image_url"]["url"] for part in message["content"][1:]] == [
            "data:image/png;base64,AAAA",
            "data:image/png;base64,BBBB",
        ]

    @pytest.mark.parametrize(
        "part",
        [
            {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a/b"}},
        ],
    )
    def test_say_what_has_no_counterpart(self, part: dict[str, Any]) -> None:
        (message,) = said(user(part))
        assert "application/pdf was left out" in message["content"]

    def test_keep_what_was_thought_before(self) -> None:
        message, *_ = said(model(text("Hm.", thought=True), call(id="a")))
        assert message["reasoning_content"] == "Hm."


class TestCalls:
    def test_keep_their_ids_and_stand_in_one_message_with_the_text(self) -> None:
        message, *_ = said(model(text("Look:"), call(id="a", args={"command": "ls"}), call(id="b")))
        assert message["content"] == "Look:"
        assert [one["id"] for one in message["tool_calls"]] == ["a", "b"]
        assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"command": "ls"}

    def test_get_their_results_before_what_the_user_says(self) -> None:
        messages = said(model(call(id="a")), user(text("Go on."), result({"output": "1"}, id="a")))
        assert messages[1:] == [
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "user", "content": "Go on."},
        ]

    def test_without_ids_belong_to_results_by_their_names_in_order(self) -> None:
        results = [result({"output": "1"}, "look"), result({"output": "2"}), result({"output": "3"})]
        called, *answered = said(model(call(), call("look"), call()), user(*results))
        first, second, third = (one["id"] for one in called["tool_calls"])
        assert [one["tool_call_id"] for one in answered] == [second, first, third]
        assert len({first, second, third}) == 3

    @pytest.mark.parametrize(
        ("response", "content"),
        [
            ({"output": "a\nb"}, "a\nb"),
            ({"error": "no such file"}, "Error:\n\nno such file"),
            ({"output": {"lines": 2}}, '{"lines":2}'),
            ({"lines": 2}, '{"lines":2}'),
        ],
    )
    def test_have_results_of_any_shape(self, response: dict[str, Any], content: str) -> None:
        assert said(model(call(id="a")), user(result(response, id="a")))[-1]["content"] == content

    def test_have_results_with_images_which_the_user_shows(self) -> None:
        messages = said(model(call(id="a")), user(result({"output": "a"}, id="a", parts=[IMAGE])))
        assert [message["role"] for message in messages] == ["assistant", "tool", "user"]
        assert messages[-1]["content"][0]["type"] == "image_url"


class TestTools:
    def test_become_functions(self) -> None:
        (tool,) = asked(user(text("Hi")), tools=[{"functionDeclarations": [TOOL]}])["tools"]
        function = {"name": "shell", "description": "Runs.", "parameters": SCHEMA}
        assert tool == {"type": "function", "function": function}

    def test_may_have_schemas_of_gemini(self) -> None:
        properties = {
            "names": {"type": "ARRAY", "items": {"type": "STRING"}, "minItems": "1"},
            "depth": {"type": "INTEGER", "nullable": True},
            "type": {"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "NUMBER"}]},
        }
        schema = {"type": "OBJECT", "properties": properties, "required": ["names"], "propertyOrdering": []}
        declared = [{"name": "find", "parameters": schema}]
        (tool,) = asked(user(text("Hi")), tools=[{"function_declarations": declared}])["tools"]
        assert tool["function"]["parameters"] == {
            "type": "object",
            "properties": {
                "names": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "depth": {"type": ["integer", "null"]},
                "type": {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "number"}]},
            },
            "required": ["names"],
        }

    def test_of_the_provider_are_left_out(self) -> None:
        assert "tools" not in asked(user(text("Hi")), tools=[{"googleSearch": {}}, {"codeExecution": {}}])

    @pytest.mark.parametrize(
        ("choice", "expected", "offered"),
        [
            ({"mode": "AUTO"}, "auto", ["shell", "look"]),
            ({"mode": "ANY"}, "required", ["shell", "look"]),
            ({"mode": "NONE"}, "none", ["shell", "look"]),
            ({"mode": "VALIDATED"}, "auto", ["shell", "look"]),
            ({"mode": "ANY", "allowedFunctionNames": ["shell", "look"]}, "required", ["shell", "look"]),
            (
                {"mode": "ANY", "allowedFunctionNames": ["look"]},
                {"type": "function", "function": {"name": "look"}},
                ["look"],
            ),
        ],
    )
    def test_are_chosen_in_the_same_way(self, choice: Any, expected: Any, offered: list[str]) -> None:
        tools = [{"functionDeclarations": [TOOL, {"name": "look"}]}]
        body = asked(user(text("Hi")), tools=tools, toolConfig={"functionCallingConfig": choice})
        assert body["tool_choice"] == expected
        assert [tool["function"]["name"] for tool in body["tools"]] == offered


class TestSettings:
    def test_have_other_names(self) -> None:
        config = {"maxOutputTokens": 9, "temperature": 0, "topP": 0.9, "stopSequences": ["x"], "seed": 3}
        body = asked(user(text("Hi")), generationConfig=config)
        assert (body["max_tokens"], body["temperature"], body["top_p"]) == (9, 0, 0.9)
        assert (body["stop"], body["seed"], body["stream"]) == (["x"], 3, True)

    def test_that_chat_completions_do_not_know_are_not_sent(self) -> None:
        config = {"topK": 64, "thinkingConfig": {"includeThoughts": True}, "candidateCount": 1}
        body = asked(user(text("Hi")), generationConfig=config, safetySettings=[], labels={})
        assert set(body) == {"model", "messages", "stream"}

    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            ({"responseSchema": {"type": "OBJECT"}}, {"type": "object"}),
            ({"responseJsonSchema": {"type": "object", "x": 1}}, {"type": "object", "x": 1}),
        ],
    )
    def test_may_ask_for_json(self, schema: dict[str, Any], expected: dict[str, Any]) -> None:
        config = {"responseMimeType": "application/json", **schema}
        body = asked(user(text("Hi")), generationConfig=config)
        assert body["response_format"]["json_schema"]["schema"] == expected

    def test_may_ask_for_json_of_any_shape(self) -> None:
        body = asked(user(text("Hi")), generationConfig={"responseMimeType": "application/json"})
        assert body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "not a request of Gemini"),
        ({"contents": 7}, "not a request of Gemini"),
        ({"contents": [{"role": "user", "parts": [7]}]}, "not a request of Gemini"),
        ({"contents": [{"role": "judge", "parts": []}]}, "no role 'judge'"),
        ({"contents": [], "tools": [{"functionDeclarations": [{}]}]}, "not a request of Gemini"),
        (
            {"contents": [], "tools": [{"functionDeclarations": [{"name": "a", "parameters": DEEP}]}]},
            "Recursion",
        ),
        ({"contents": [], "cachedContent": "cachedContents/1"}, "send the whole conversation"),
        ({"contents": [], "generationConfig": {"candidateCount": 2}}, "Several candidates"),
    ],
)
def test_what_is_no_request_of_gemini_is_refused(body: dict[str, Any], reason: str) -> None:
    with pytest.raises(UntranslatableRequest, match=reason):
        chat_request(body)


@pytest.mark.parametrize(
    ("tools", "offers"),
    [
        ([{"functionDeclarations": [TOOL]}], True),
        ([{"function_declarations": [TOOL]}, {"googleSearch": {}}], True),
        ([{"functionDeclarations": []}], False),
        ([{"googleSearch": {}}], False),
        ([7], False),
        (7, False),
    ],
)
def test_tools_that_google_runs_are_not_offered(tools: Any, offers: bool) -> None:
    assert offers_tools({"tools": json.dumps(tools).encode()}) is offers


@pytest.mark.parametrize("body", [{}, {"generateContentRequest": 7}])
def test_what_is_to_be_counted_may_be_anything(body: dict[str, Any]) -> None:
    assert request_to_count({"model": "m", **body}) == {"model": "m", **body}
