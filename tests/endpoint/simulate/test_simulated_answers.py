"""What a simulated model answers: the policies, limits, reasoning, tools and log-probabilities."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.simulate.simulate_kit import Answer, Simulate

from benchwright.endpoint.simulate import (
    KeyedAnswer,
    ScriptedCall,
    Settings,
    keyed_answers,
    read_keyed_answers,
)
from benchwright.endpoint.simulate.answers import split_tokens
from benchwright.endpoint.simulate.tools import example_value
from benchwright.errors import UserError

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"enum": ["C", "F"]},
            },
            "required": ["city", "days", "unit"],
        },
    },
}
TIME = {"type": "function", "function": {"name": "time"}}


def asked(prompt: str, *results: str) -> list[dict[str, Any]]:
    """A conversation in which the model has already made as many calls as there are results."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for number, result in enumerate(results):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    return messages


def called(answer: Answer) -> list[tuple[str, dict[str, Any]]]:
    """(name, arguments) of each call of an answer."""
    calls = answer.message["tool_calls"]
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]


# Policies


def test_echo_answers_the_last_user_message(simulate: Simulate) -> None:
    messages: list[dict[str, Any]] = [
        {"role": role, "content": role} for role in ("system", "user", "assistant")
    ]
    messages.append({"role": "user", "content": [{"type": "text", "text": "this one"}]})

    answer = simulate().ask("POST", "/v1/chat/completions", {"model": "m", "messages": messages})
    assert answer.text == "this one"


def test_words_have_the_length_asked_for(simulate: Simulate) -> None:
    answer = simulate(policy="words", words=100).chat("hi")

    assert len(answer.text.split()) == 100
    assert answer.json["usage"]["completion_tokens"] == 100


def test_refusal_is_in_its_own_field(simulate: Simulate) -> None:
    client = simulate(policy="refusal")
    message = client.chat("hi").message

    assert message["content"] is None
    assert message["refusal"]
    assert (
        "".join(delta.get("refusal", "") for delta in client.chat("hi", stream=True).deltas)
        == message["refusal"]
    )


def test_gibberish_is_hard_to_handle_but_valid_text(simulate: Simulate) -> None:
    text = simulate(policy="gibberish", words=400).chat("hi").text

    categories = {unicodedata.category(character) for character in text}
    assert {"Cc", "Cf", "Lo", "So"} <= categories
    assert "\x1b[31m" in text
    assert "\u202e" in text
    assert text.encode().decode() == text


def test_gibberish_survives_the_stream(simulate: Simulate) -> None:
    client = simulate(policy="gibberish", words=400)

    streamed = "".join(delta["content"] for delta in client.chat("hi", stream=True).deltas)
    assert streamed == client.chat("hi").text


def test_gibberish_depends_on_seed_and_prompt(simulate: Simulate) -> None:
    first, same, other = (
        simulate(policy="gibberish"),
        simulate(policy="gibberish"),
        simulate(policy="gibberish", seed=1),
    )

    assert first.chat("hi").text == same.chat("hi").text
    assert len({first.chat("hi").text, first.chat("ho").text, other.chat("hi").text}) == 3


def test_keyed_prompts_are_found_whole_or_within_the_message(simulate: Simulate) -> None:
    answers = keyed_answers({"2 + 2": "4", "2 + 22": "24", "the capital": "Paris"})
    client = simulate(answers=answers, answer_template="The answer is ({answer}).")

    assert client.chat("2 + 2").text == "The answer is (4)."
    assert client.chat("Think. What is 2 + 22?").text == "The answer is (24)."
    assert client.chat("unknown").text == "unknown"


def test_plain_completions_are_keyed_too(simulate: Simulate) -> None:
    answer = simulate(answers=keyed_answers({"2 + 2 =": "4"})).complete("2 + 2 =")

    assert answer.json["choices"][0]["text"] == "4"


# Limits


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_token_limit_cuts_the_answer_off(simulate: Simulate, field: str) -> None:
    limit: dict[str, Any] = {field: 2}
    answer = simulate().chat("one two three", **limit)

    assert answer.text == "one two"
    assert answer.json["choices"][0]["finish_reason"] == "length"
    assert answer.json["usage"]["completion_tokens"] == 2


def test_a_limit_that_suffices_changes_nothing(simulate: Simulate) -> None:
    assert simulate().chat("one two", max_tokens=2).json["choices"][0]["finish_reason"] == "stop"


def test_limit_counts_reasoning_first(simulate: Simulate) -> None:
    message = simulate(reasoning="let me see").chat("one two", max_tokens=4).message

    assert (message["reasoning_content"], message["content"]) == ("let me see", "one")


def test_limit_cuts_tool_calls_off(simulate: Simulate) -> None:
    client = simulate(tool_calls=(ScriptedCall("weather", {"city": "a long name of a city"}),))
    answer = client.chat("hi", tools=[WEATHER], max_tokens=2)

    assert answer.json["choices"][0]["finish_reason"] == "length"
    assert answer.message["tool_calls"][0]["function"]["arguments"] == '{"city":'


@pytest.mark.parametrize("stop", ["three", ["five", "three", "four"]])
def test_answer_ends_before_a_stop_text(simulate: Simulate, stop: str | list[str]) -> None:
    assert simulate().chat("one two three four", stop=stop).text == "one two "


@given(st.text())
def test_tokens_make_up_the_text(text: str) -> None:
    assert "".join(split_tokens(text)) == text


# Reasoning


@pytest.mark.parametrize("style", ["reasoning_content", "reasoning"])
def test_reasoning_has_a_field_of_its_own(simulate: Simulate, style: str) -> None:
    client = simulate(reasoning="let me see", reasoning_style=style)

    assert client.chat("hi").message == {"role": "assistant", "content": "hi", style: "let me see"}
    deltas = client.chat("hi", stream=True).deltas
    assert "".join(delta.get(style, "") for delta in deltas) == "let me see"
    assert client.chat("hi").json["usage"]["completion_tokens_details"] == {"reasoning_tokens": 3}


def test_reasoning_can_stand_inline(simulate: Simulate) -> None:
    assert simulate(reasoning="hm", reasoning_style="think").chat("hi").text == "<think>\nhm\n</think>\n\nhi"


def test_plain_completions_reason_inline(simulate: Simulate) -> None:
    assert simulate(reasoning="hm").complete("hi").json["choices"][0]["text"] == "<think>\nhm\n</think>\n\nhi"


# Tools


def test_the_first_tool_is_called_with_arguments_that_fit_its_schema(simulate: Simulate) -> None:
    answer = simulate(call_tools=True).chat("Oslo?", tools=[WEATHER, TIME])

    assert called(answer) == [("weather", {"city": "Oslo?", "days": 1, "unit": "C"})]
    assert answer.json["choices"][0]["finish_reason"] == "tool_calls"
    assert answer.message["content"] is None


def test_the_tool_result_is_then_the_answer(simulate: Simulate) -> None:
    client = simulate(call_tools=True)
    question = {"model": "m", "messages": asked("Oslo?", "rain"), "tools": [WEATHER]}

    assert client.ask("POST", "/v1/chat/completions", question).text == "rain"


def test_a_script_is_followed_turn_by_turn(simulate: Simulate) -> None:
    script = (
        ScriptedCall("weather", {"city": "Oslo"}),
        [ScriptedCall("time"), ScriptedCall("weather", {"city": "Rome"})],
    )
    client = simulate(tool_calls=script)

    def turn(*results: str) -> Answer:
        question = {"model": "m", "messages": asked("both?", *results), "tools": [WEATHER, TIME]}
        return client.ask("POST", "/v1/chat/completions", question)

    assert called(turn()) == [("weather", {"city": "Oslo"})]
    assert called(turn("rain")) == [("time", {}), ("weather", {"city": "Rome"})]
    assert turn("rain", "sun").text == "sun"


def test_keyed_calls_come_before_the_keyed_answer(simulate: Simulate) -> None:
    entry = KeyedAnswer("2 + 2", None, (ScriptedCall("add", {"a": 2, "b": 2}),))
    client = simulate(answers=(entry,), answer_template="It is {answer}.")
    tools = [{"type": "function", "function": {"name": "add"}}]

    assert called(client.chat("2 + 2", tools=tools)) == [("add", {"a": 2, "b": 2})]
    question = {"model": "m", "messages": asked("2 + 2", "4"), "tools": tools}
    assert client.ask("POST", "/v1/chat/completions", question).text == "It is 4."


def test_no_tool_is_called_unless_one_is_offered_and_allowed(simulate: Simulate) -> None:
    client = simulate(call_tools=True)

    assert client.chat("hi").text == "hi"
    assert client.chat("hi", tools=[WEATHER], tool_choice="none").text == "hi"
    assert simulate().chat("hi", tools=[WEATHER]).text == "hi"


def test_tool_choice_is_obeyed(simulate: Simulate) -> None:
    client = simulate()

    assert called(client.chat("hi", tools=[WEATHER, TIME], tool_choice="required"))[0][0] == "weather"
    named = {"type": "function", "function": {"name": "time"}}
    assert called(client.chat("hi", tools=[WEATHER, TIME], tool_choice=named)) == [("time", {})]


def test_calls_are_streamed_in_fragments_that_add_up(simulate: Simulate) -> None:
    calls = [ScriptedCall("weather", {"city": "a long name of a city"}), ScriptedCall("time")]
    answer = simulate(tool_calls=(calls,)).chat("hi", stream=True, tools=[WEATHER, TIME])

    whole: dict[int, dict[str, str]] = {}
    for delta in answer.deltas:
        for piece in delta.get("tool_calls", []):
            call = whole.setdefault(piece["index"], {"name": "", "arguments": ""})
            call["name"] += piece["function"].get("name", "")
            call["arguments"] += piece["function"]["arguments"]
    assert whole == {
        0: {"name": "weather", "arguments": '{"city":"a long name of a city"}'},
        1: {"name": "time", "arguments": "{}"},
    }


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": ["string", "null"]}, "text"),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, True),
        ({"const": 3}, 3),
        ({"type": "array", "items": {"type": "string"}}, []),
        (
            {"properties": {"inner": {"type": "object", "properties": {"a": {"type": "number"}}}}},
            {"inner": {"a": 1}},
        ),
        ({}, "text"),
    ],
)
def test_example_values_fit_their_schema(schema: dict[str, Any], value: object) -> None:
    assert example_value(schema, "text") == value


# Log-probabilities


def test_chat_logprobs(simulate: Simulate) -> None:
    client = simulate(answers=keyed_answers({"which?": "B"}))
    content = client.chat("which?", logprobs=True, top_logprobs=3).json["choices"][0]["logprobs"]["content"]

    assert content[0]["token"] == "B"
    assert content[0]["bytes"] == [66]
    top = content[0]["top_logprobs"]
    assert [entry["token"] for entry in top] == ["B", "A", "C"]
    assert [entry["logprob"] for entry in top] == sorted((entry["logprob"] for entry in top), reverse=True)
    assert top[0]["logprob"] < 0


def test_completion_logprobs(simulate: Simulate) -> None:
    logprobs = simulate().complete("one two", logprobs=2).json["choices"][0]["logprobs"]

    assert logprobs["tokens"] == ["one", " two"]
    assert logprobs["text_offset"] == [0, 3]
    assert len(logprobs["token_logprobs"]) == 2
    assert [len(top) for top in logprobs["top_logprobs"]] == [2, 2]


def test_streamed_logprobs_are_those_of_the_whole_answer(simulate: Simulate) -> None:
    client = simulate(reasoning="hm")
    whole = client.chat("one two", logprobs=True).json["choices"][0]["logprobs"]["content"]

    chunks = client.chat("one two", logprobs=True, stream=True).chunks
    streamed = [
        entry for chunk in chunks for entry in (chunk["choices"][0]["logprobs"] or {"content": []})["content"]
    ]
    assert streamed == whole


# Settings


def test_an_answer_key_is_read_from_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "key.jsonl"
    path.write_text('{"prompt": "a", "answer": "1"}\n\n{"prompt": "b", "tool_calls": [{"name": "f"}]}\n')

    assert read_keyed_answers(path) == (KeyedAnswer("a", "1"), KeyedAnswer("b", None, (ScriptedCall("f"),)))


def test_a_bad_answer_key_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "key.jsonl"
    path.write_text('{"prompt": "a", "answer": "1"}\n{"answer": "2"}\n')

    with pytest.raises(UserError, match=r"key\.jsonl, line 2"):
        read_keyed_answers(path)


@pytest.mark.parametrize(
    "fields",
    [
        {"accuracy": 1.5},
        {"accuracy": 0.5},
        {"answer_template": "no place for it"},
        {"words": -1},
    ],
)
def test_settings_out_of_range_are_a_user_error(fields: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        Settings(**fields)
