"""Tool calls in the text of an answer, in the formats of chat templates: found, and never executed."""

from __future__ import annotations

from time import process_time

import pytest

from benchwright.endpoint.calls_in_text import find_call_text, offered_tool_names

OFFERED = {"get_weather"}

MARKED = [
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
    '<function=get_weather>{"city": "Rome"}</function>',
    '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Rome"}}',
    '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}}]',
    '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}',
    '[TOOL_REQUEST]{"name": "get_weather", "arguments": {"city": "Rome"}}[END_TOOL_REQUEST]',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather",
    '<｜DSML｜function_calls><｜DSML｜invoke name="get_weather">',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city"',
    'get_weather:0<|tool_call_argument_begin|>{"city": "Rome"}<|tool_calls_section_end|>',
    '<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Rome"}',
    '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>',
    '<function_calls>\n<invoke name="get_weather">',
    'functools[{"name": "get_weather", "arguments": {"city": "Rome"}}]',
    '<|action_start|><|plugin|>{"name": "get_weather"',
    '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Rome"}}]',
    "<start_function_call>call:get_weather{city:Rome}<end_function_call>",
    '```tool_code\nprint(get_weather(city="Rome"))\n```',
]

BARE = [
    '{"name": "get_weather", "parameters": {"city": "Rome"}}',
    '{"type": "function", "function": {"name": "get_weather", "parameters": {"city": "Rome"}}}',
    '[{"name": "get_weather", "arguments": {"city": "Rome"}}]',
    '```json\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n```',
    '[get_weather(city="Rome")]',
]

NONE = [
    "It is sunny in Rome.",
    "",
    '{"answer": 42}',
    '{"name": "Rome", "population": 3}',
    "[1, 2, 3]",
    "[see below](https://example.org)",
    "Use the <table> element, and a < b.",
    '{"name": ',
]


@pytest.mark.parametrize("text", MARKED)
def test_a_call_with_the_marks_of_a_format_is_found_behind_other_text(text: str) -> None:
    found = find_call_text(f"Let me look.\n{text}", OFFERED)
    assert found is not None
    assert f"Let me look.\n{text}".endswith(found)
    assert find_call_text(text, ()) is not None


@pytest.mark.parametrize("text", BARE)
def test_a_call_without_marks_is_all_of_the_text(text: str) -> None:
    assert find_call_text(f"\n{text}\n", OFFERED) is not None
    assert find_call_text(text, ()) is not None
    assert find_call_text(f"The call would be {text}", OFFERED) is None


@pytest.mark.parametrize("text", BARE)
def test_a_call_without_marks_is_of_a_tool_that_was_offered(text: str) -> None:
    assert find_call_text(text, {"another_tool"}) is None


@pytest.mark.parametrize("text", NONE)
def test_other_text_is_none(text: str) -> None:
    assert find_call_text(text, OFFERED) is None


def test_tools_are_offered_where_they_are_and_may_be_called() -> None:
    tools = [{"type": "function", "function": {"name": "a"}}, {"type": "custom"}, "b"]
    assert offered_tool_names(tools) == ("a",)
    assert offered_tool_names(tools, "auto") == ("a",)
    assert offered_tool_names(tools, "none") is None
    assert offered_tool_names([]) is None
    assert offered_tool_names(None) is None


@pytest.mark.parametrize(
    "text", ["<", "[", "{", "`", "<tool", "<|", "<function(", "to=functions.", '{"function":']
)
def test_text_that_is_made_to_take_long_does_not(text: str) -> None:
    started = process_time()
    find_call_text(text * 50_000, OFFERED)
    assert process_time() - started < 10
