"""The helpers for agents that run tools."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.rollout.tools import (
    AgentLoopNotFoundError,
    OsmosisServerError,
    ToolArgumentError,
    ToolExecutionError,
    create_tool_error_result,
    create_tool_result,
    execute_tool_calls,
    get_tool_call_info,
    parse_tool_arguments,
    serialize_tool_result,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def test_results_answer_the_call_that_they_belong_to() -> None:
    assert create_tool_result("c1", "42") == {"role": "tool", "content": "42", "tool_call_id": "c1"}
    assert create_tool_error_result("c1", "too large")["content"] == "Error: too large"


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (3, "3"), (0.1, "0.1"), ("as is", "as is"), (None, "null"), ({"a": [1]}, '{"a": [1]}')],
)
def test_values_become_text(value: Any, text: str) -> None:
    assert serialize_tool_result(value) == text


@given(st.dictionaries(st.text(), json_values))
def test_arguments_are_read_from_json_as_from_an_object(arguments: dict[str, Any]) -> None:
    assert parse_tool_arguments(json.dumps(arguments)) == parse_tool_arguments(arguments) == arguments


@given(json_values.filter(lambda value: not isinstance(value, dict)))
def test_json_that_is_no_object_is_no_arguments(value: Any) -> None:
    with pytest.raises(ToolArgumentError, match="must be a JSON object"):
        parse_tool_arguments(json.dumps(value))


def test_bad_arguments_carry_the_call_that_they_came_with() -> None:
    call = {"id": "c1", "function": {"name": "add", "arguments": "{oops"}}
    with pytest.raises(ToolArgumentError, match="Invalid JSON") as caught:
        get_tool_call_info(call)
    assert (caught.value.tool_call_id, caught.value.tool_name) == ("c1", "add")
    assert isinstance(caught.value, ToolExecutionError)


def test_a_call_without_id_or_arguments_is_read_all_the_same() -> None:
    assert get_tool_call_info({"function": {"name": "now"}}) == ("unknown", "now", {})


async def test_calls_run_side_by_side_and_keep_their_order() -> None:
    both_started = asyncio.Barrier(2)

    async def run(call: dict[str, Any]) -> dict[str, Any]:
        await both_started.wait()
        if call["id"] == "first":
            await asyncio.sleep(0)
        return create_tool_result(call["id"], "done")

    results = await execute_tool_calls([{"id": "first"}, {"id": "second"}], run)
    assert [result["tool_call_id"] for result in results] == ["first", "second"]


def test_errors_carry_what_is_documented() -> None:
    assert OsmosisServerError("overloaded", 503).status_code == 503
    missing = AgentLoopNotFoundError("mine", ["yours"])
    assert (missing.name, missing.available) == ("mine", ["yours"])
    assert "mine" in str(missing)
