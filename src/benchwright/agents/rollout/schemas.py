"""How an agent describes its tools: the OpenAI function format as documented pydantic models.

They go on the wire without their None fields. Nested schemas (array items, object properties, defaults)
have no place in the documented models and are dropped by them.
"""

from __future__ import annotations

from pydantic import BaseModel, Field


class OpenAIFunctionPropertySchema(BaseModel):
    """One parameter of a function: its JSON Schema type, what it means, and the values it may have."""

    type: str
    description: str | None = None
    enum: list[str] | None = None


class OpenAIFunctionParametersSchema(BaseModel):
    """The parameters of a function; `type` is always "object"."""

    type: str
    properties: dict[str, OpenAIFunctionPropertySchema]
    required: list[str]


def _no_parameters() -> OpenAIFunctionParametersSchema:
    return OpenAIFunctionParametersSchema(type="object", properties={}, required=[])


class OpenAIFunctionSchema(BaseModel):
    """A function that the model may call."""

    name: str
    description: str
    parameters: OpenAIFunctionParametersSchema = Field(default_factory=_no_parameters)
    strict: bool = False


class OpenAIFunctionToolSchema(BaseModel):
    """A tool; `type` is always "function"."""

    type: str
    function: OpenAIFunctionSchema
