"""From a row to a rollout request, and the check of an agent's tools."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from benchwright.agents.rollout.types import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
)
from benchwright.agents.rollout_requests import (
    ToolValidationError,
    dataset_row_to_request,
    validate_tools,
)


def tool(name: str, kind: str = "object") -> OpenAIFunctionToolSchema:
    parameters = OpenAIFunctionParametersSchema(type=kind, properties={}, required=[])
    function = OpenAIFunctionSchema(name=name, description="", parameters=parameters)
    return OpenAIFunctionToolSchema(type="function", function=function)


class TestRequest:
    def test_the_prompts_become_messages_and_the_rest_metadata(self, row: dict[str, Any]) -> None:
        request = dataset_row_to_request(row, 7)
        assert request.messages == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2 + 2?"},
        ]
        assert request.metadata == {"ground_truth": "4", "row_index": 7, "topic": "sums"}

    def test_has_the_documented_defaults(self, row: dict[str, Any]) -> None:
        request = dataset_row_to_request(row, 7)
        assert (request.rollout_id, request.server_url) == ("local-7", "http://local-rollout.local")
        assert (request.max_turns, request.max_tokens_total, request.completion_params) == (10, 4096, {})

    def test_overrides_win_over_the_row(self, row: dict[str, Any]) -> None:
        request = dataset_row_to_request(row, 7, rollout_id="mine", metadata_overrides={"topic": "other"})
        assert request.rollout_id == "mine"
        assert request.metadata["topic"] == "other"

    def test_dates_from_parquet_are_text(self, row: dict[str, Any]) -> None:
        request = dataset_row_to_request(row | {"day": date(2024, 2, 29)}, 7)
        assert request.metadata["day"] == "2024-02-29"


class TestTools:
    def test_usable_tools_pass(self) -> None:
        validate_tools([tool("add"), tool("_private2")])

    @pytest.mark.parametrize("name", ["", " ", "get-page", "2nd", "a b", "ünder", "add\n"])
    def test_a_name_is_letters_digits_and_underscores(self, name: str) -> None:
        with pytest.raises(ToolValidationError, match=r"^Tool validation error: "):
            validate_tools([tool("add"), tool(name)])

    def test_parameters_are_an_object(self) -> None:
        with pytest.raises(ToolValidationError, match="'add' must have the type 'object', not 'array'"):
            validate_tools([tool("add", "array")])

    def test_a_tool_is_a_tool_schema(self) -> None:
        with pytest.raises(ToolValidationError, match="tool 0 is a dict"):
            validate_tools([{"type": "function"}])  # type: ignore[list-item]
