"""Conversion of Gemini's schemas (a subset of OpenAPI's, with types in capital letters) into JSON schemas."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.dialects.gemini.field_names import read_field

_AS_THEY_ARE = (
    *("title", "description", "format", "pattern", "enum", "default", "example", "required"),
    *("minimum", "maximum"),
)
_COUNTS = ("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength")


def json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema that is equivalent to a schema of Gemini.

    Source: `Schema` in google/ai/generativelanguage/v1beta/content.proto (googleapis/googleapis). Fields that
    this source does not list are left out. Counts written as strings become numbers. `nullable` becomes a
    second type.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: If the value is not a schema.
    """
    told: dict[str, Any] = {}
    kind = schema.get("type")
    if kind is not None and kind != "TYPE_UNSPECIFIED":
        told["type"] = [kind.lower(), "null"] if schema.get("nullable") else kind.lower()
    told |= {name: schema[name] for name in _AS_THEY_ARE if schema.get(name) is not None}
    told |= {name: int(read_field(schema, name)) for name in _COUNTS if read_field(schema, name) is not None}
    if schema.get("items") is not None:
        told["items"] = json_schema(schema["items"])
    if schema.get("properties") is not None:
        told["properties"] = {name: json_schema(inner) for name, inner in schema["properties"].items()}
    if read_field(schema, "anyOf") is not None:
        told["anyOf"] = [json_schema(inner) for inner in read_field(schema, "anyOf")]
    return told
