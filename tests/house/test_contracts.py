"""What others build on: a change of these names or words is a change of the contract, and is made here too."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import msgspec
import pytest

import benchwright
from benchwright import errors, records
from benchwright.engine import protocols

SEAMS = {
    "Session": {"target", "chat", "complete", "count_tokens", "relay", "progress"},
    "Solver": {"solve"},
    "Scorer": {"name", "fingerprint", "score"},
    "Task": {"spec", "scorers", "samples", "size", "open"},
}

STATUSES = {
    *("answered", "scored", "unparsed", "refused", "truncated", "limit"),
    *("provider_error", "execution_error", "grader_error", "cancelled"),
}

ERRORS = {
    "BenchwrightError": "Exception",
    "UserError": "BenchwrightError",
    "RunLocked": "UserError",
    "JournalError": "BenchwrightError",
    "TrialError": "BenchwrightError",
    "ProviderError": "TrialError",
    "LimitReached": "TrialError",
    "GraderError": "TrialError",
    "ExecutionError": "TrialError",
}

JOURNAL_FIELDS = {
    records.TrialRecord: (
        "key", "sample", "target", "status", "repeat", "attempt", "group", "labels", "reason", "scores",
        "requests", "started_at", "duration", "body", "reused_from",
    ),
    records.ScoreRecord: ("key", "trial", "scorer", "value", "status", "span", "detail", "requests"),
    records.RunEvent: ("name", "at", "detail"),
}  # fmt: skip


@pytest.mark.parametrize("name", SEAMS)
def test_the_seams_are_as_documented(name: str) -> None:
    protocol = getattr(protocols, name)
    assert {member for member in vars(protocol) if not member.startswith("_")} == SEAMS[name]


def test_the_ways_a_trial_can_end() -> None:
    assert {status.value for status in records.Status} == STATUSES


def test_the_tree_of_errors() -> None:
    classes = {name: value for name, value in vars(errors).items() if inspect.isclass(value)}
    assert {name: value.__bases__[0].__name__ for name, value in classes.items()} == ERRORS


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
