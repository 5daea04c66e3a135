"""The database of a tau-bench domain: tables to which each trial can write without copying all records.

A table is a `ChainMap` of two dicts: the records written by this trial, then the records shared by all
trials. A tool that changes a record gets a copy by `writable_record`; all other records are only read. A new
database costs a microsecond.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

Tables = Mapping[str, dict[str, Any]]
"""The shared tables: {table: {id: record}}. All trials read them, and none writes to them."""

Database = dict[str, ChainMap[str, Any]]
"""The tables of one trial."""


def new_database(tables: Tables) -> Database:
    """Return a new database in the initial state. `tables`: the tables that all trials share."""
    return {name: ChainMap({}, records) for name, records in tables.items()}


def writable_record(database: Database, table: str, key: str) -> Any:
    """Return the trial's own copy of a record, which the trial may change. The copy is made on first use.

    Raises:
        KeyError: If there is no such record.
    """
    records = database[table]
    written = records.maps[0]
    if key not in written:
        written[key] = deepcopy(records[key])
    return written[key]


def all_records(database: Database, table: str) -> dict[str, Any]:
    """Return all records of a table as a dict.

    Iterating over this dict is many times faster than over the `ChainMap`.
    """
    written, shared = database[table].maps
    return {**shared, **written}


def have_equal_records(one: Database, other: Database) -> bool:
    """Return True if two databases made from the same tables are equal. Hashes in tau-bench are then equal, too."""
    return all(_same_records(one[table], other[table]) for table in one)


def _same_records(one: ChainMap[str, Any], other: ChainMap[str, Any]) -> bool:
    written = {**one.maps[0], **other.maps[0]}
    return all(
        key in one and key in other and text_to_hash(one[key]) == text_to_hash(other[key]) for key in written
    )


def text_to_hash(value: Any) -> str:
    """Return a value as the text that tau-bench hashes: dicts as tuples sorted by key, lists as tuples.

    Thus 1, 1.0 and True are different, and the order of keys does not matter (`to_hashable` and
    `consistent_hash` in tau_bench/envs/base.py).
    """
    return str(_tuples(value))


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _tuples(inner)) for key, inner in sorted(value.items()))
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return value
