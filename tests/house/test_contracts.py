"""What is stored stays readable: the names that journals hold. And every module can be imported."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import msgspec
import pytest

import benchwright
from benchwright import records

STATUSES = {
    *("answered", "scored", "unparsed", "refused", "truncated", "cut_off_in_thinking", "limit"),
    *("provider_error", "execution_error", "grader_error", "cancelled"),
}

JOURNAL_FIELDS = {
    records.TrialRecord: (
        "key", "sample", "target", "status", "repeat", "attempt", "group", "labels", "reason", "scores",
        "requests", "started_at", "duration", "body", "reused_from",
    ),
    records.ScoreRecord: ("key", "trial", "scorer", "value", "status", "span", "detail", "requests"),
    records.RunEvent: ("name", "at", "detail"),
}  # fmt: skip


def test_the_ways_a_trial_can_end() -> None:
    assert {status.value for status in records.Status} == STATUSES


@pytest.mark.parametrize("record", JOURNAL_FIELDS, ids=lambda record: record.__name__)
def test_fields_of_a_journal_are_added_and_never_taken_away(record: type[msgspec.Struct]) -> None:
    assert record.__struct_fields__[: len(JOURNAL_FIELDS[record])] == JOURNAL_FIELDS[record]


@pytest.mark.parametrize("record", JOURNAL_FIELDS, ids=lambda record: record.__name__)
def test_a_field_that_is_added_has_a_default_so_that_older_journals_stay_readable(
    record: type[msgspec.Struct],
) -> None:
    required = [field.name for field in msgspec.structs.fields(record) if field.required]
    assert set(required) <= {"key", "sample", "target", "status", "trial", "scorer", "name", "at", "request"}


def every_module() -> list[str]:
    return [
        module.name
        for module in pkgutil.walk_packages(benchwright.__path__, "benchwright.")
        if module.name != "benchwright.__main__"
    ]


@pytest.mark.parametrize("name", every_module())
def test_every_module_can_be_imported_and_its_public_names_are_there(name: str) -> None:
    module: Any = importlib.import_module(name)
    assert module.__doc__, "a room says what it is for"
    for exported in getattr(module, "__all__", ()):
        assert getattr(module, exported) is not None
