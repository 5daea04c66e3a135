"""Flattens the exported rows into columns, for table files such as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchwright.records import Record

MAPPING_FIELDS = {"scores": "score", "spans": "span", "labels": "label"}
"""Fields of a row that are mappings from names to values, with the prefix of their columns, such as `score.exact`."""

NamesByField = Mapping[str, Sequence[str]]
"""For each field of `MAPPING_FIELDS`, the names in it. Each name becomes one column."""


def column_types(row: type[Record], names: NamesByField) -> list[tuple[str, type]]:
    """Return the columns of a row type with their types: str, int, float or bool."""
    found: list[tuple[str, type]] = []
    for field in msgspec.structs.fields(row):
        if field.name in MAPPING_FIELDS:
            kind = float if field.name == "scores" else str
            found += [(f"{MAPPING_FIELDS[field.name]}.{name}", kind) for name in names[field.name]]
        else:
            found.append((field.name, _plain_type(field.type)))
    return found


def flatten_row(row: Record, names: NamesByField) -> dict[str, Any]:
    """Return a row as a dictionary whose keys are the names of the columns."""
    flat: dict[str, Any] = {}
    for field in row.__struct_fields__:
        value = getattr(row, field)
        if field in MAPPING_FIELDS:
            flat |= {f"{MAPPING_FIELDS[field]}.{name}": value.get(name) for name in names[field]}
        else:
            flat[field] = value
    return flat


def _plain_type(annotation: Any) -> type:
    """Return the type of a field. If the field is optional, return its type without None."""
    kinds = [kind for kind in getattr(annotation, "__args__", (annotation,)) if kind is not type(None)]
    kind: type = kinds[0]
    return kind
