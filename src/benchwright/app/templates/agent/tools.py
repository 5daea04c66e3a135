"""The agent's one tool: converts lengths and weights."""

from __future__ import annotations

from typing import Any

from osmosis_ai.rollout import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    ToolArgumentError,
    create_tool_error_result,
    create_tool_result,
    get_tool_call_info,
    serialize_tool_result,
)

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "inch": 0.0254, "foot": 0.3048, "mile": 1609.344}
GRAMS = {"g": 1.0, "kg": 1000.0, "ounce": 28.349523125, "pound": 453.59237}
UNITS = [*METRES, *GRAMS]

CONVERT = OpenAIFunctionToolSchema(
    type="function",
    function=OpenAIFunctionSchema(
        name="convert",
        description="Converts a length or a weight from one unit to another.",
        parameters=OpenAIFunctionParametersSchema(
            type="object",
            properties={
                "value": OpenAIFunctionPropertySchema(type="number", description="How much."),
                "unit": OpenAIFunctionPropertySchema(type="string", description="Its unit.", enum=UNITS),
                "to": OpenAIFunctionPropertySchema(type="string", description="The unit wanted.", enum=UNITS),
            },
            required=["value", "unit", "to"],
        ),
    ),
)


def convert(value: float, unit: str, to: str) -> float:
    for units in (METRES, GRAMS):
        if unit in units and to in units:
            return round(value * units[unit] / units[to], 4)
    raise ValueError(f"cannot convert {unit} to {to}")


async def run_tool(tool_call: dict[str, Any]) -> dict[str, Any]:
    """Run a tool call. Errors are returned to the model, which may try again."""
    try:
        call_id, name, arguments = get_tool_call_info(tool_call)
    except ToolArgumentError as error:
        return create_tool_error_result(error.tool_call_id, str(error))
    if name != "convert":
        return create_tool_error_result(call_id, f"there is no tool {name!r}")
    try:
        return create_tool_result(call_id, serialize_tool_result(convert(**arguments)))
    except (TypeError, ValueError) as error:
        return create_tool_error_result(call_id, str(error))
