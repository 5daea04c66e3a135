"""The rows of SWE-bench Verified, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from benchwright.catalog.swe_bench.repositories import RECIPES
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample

_IDENTITY = re.compile(r"[A-Za-z0-9][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class SweBenchRow(Record, frozen=True):
    """One instance in the hub's layout. The two lists of tests are JSON in a string, or lists in later copies."""

    repo: str
    instance_id: str
    base_commit: str
    patch: str
    test_patch: str
    problem_statement: str
    version: str
    FAIL_TO_PASS: str | list[str]
    PASS_TO_PASS: str | list[str]
    difficulty: str = "unknown"

    def __post_init__(self) -> None:
        if self.repo not in RECIPES:
            raise ValueError(f"`repo` is none of SWE-bench Verified's: {self.repo!r}")
        if not _IDENTITY.fullmatch(self.instance_id):
            raise ValueError(f"`instance_id` cannot be part of an image's name: {self.instance_id!r}")
        if not _COMMIT.fullmatch(self.base_commit):
            raise ValueError(f"`base_commit` is no commit: {self.base_commit!r}")
        for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
            names_of_tests(name, getattr(self, name))


def samples(source: Source) -> Iterator[Sample]:
    """One sample per instance, under its own id."""
    for row in source.read(SweBenchRow, "test"):
        yield sample_of(row)


def sample_of(row: SweBenchRow) -> Sample:
    """The sample; its content is the row with the lists of tests read."""
    content: dict[str, Any] = msgspec.structs.asdict(row)
    for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        content[name] = names_of_tests(name, content[name])
    difficulty = content.pop("difficulty")
    labels = {"repo": row.repo, "difficulty": difficulty, "version": row.version}
    return Sample(row.instance_id, content, labels=labels)


def names_of_tests(field: str, value: str | list[str]) -> list[str]:
    """The names in a list of tests.

    Raises:
        ValueError: it is no JSON list of strings.
    """
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value, type=list[str])
    except msgspec.MsgspecError as error:
        raise ValueError(f"`{field}` is no JSON list of strings: {error}") from None
