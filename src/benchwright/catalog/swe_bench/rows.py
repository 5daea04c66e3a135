"""The rows of SWE-bench Verified, and their samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from benchwright.catalog.containers.instances import COMMIT_PATTERN, INSTANCE_ID_PATTERN, Instance
from benchwright.catalog.swe_bench.repositories import REPOSITORY_RECIPES
from benchwright.data.datasets import Source
from benchwright.records import Sample

TEST_LIST_FIELDS = ("FAIL_TO_PASS", "PASS_TO_PASS")


class FullRow(Instance, frozen=True):
    """One instance in the format of the Hugging Face hub.

    Its two lists of tests are strings with JSON. In later copies of the data they are real lists.
    """

    FAIL_TO_PASS: str | list[str]
    PASS_TO_PASS: str | list[str]

    def __post_init__(self) -> None:
        row_content(self)  # raises ValueError for invalid lists


class SweBenchRow(FullRow, frozen=True):
    """One instance of SWE-bench Verified."""

    version: str
    difficulty: str = "unknown"

    def __post_init__(self) -> None:
        if self.repo not in REPOSITORY_RECIPES:
            raise ValueError(f"`repo` is none of SWE-bench Verified's: {self.repo!r}")
        check_safe_names(self)
        super().__post_init__()


def check_safe_names(row: Instance) -> None:
    """Refuse a row whose id or commit would be unsafe in a shell command or an image's name.

    Raises:
        ValueError: If the id or the commit is unsafe.
    """
    if not INSTANCE_ID_PATTERN.fullmatch(row.instance_id):
        raise ValueError(f"`instance_id` cannot be part of an image's name: {row.instance_id!r}")
    if not COMMIT_PATTERN.fullmatch(row.base_commit):
        raise ValueError(f"`base_commit` is not a commit: {row.base_commit!r}")


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per instance, with the instance's id."""
    for row in source.read(SweBenchRow, "test"):
        yield build_sample(row)


def build_sample(row: SweBenchRow) -> Sample:
    """Build the sample of a row. Its content is the row, with the lists of tests parsed."""
    content = row_content(row)
    difficulty = content.pop("difficulty")
    labels = {"repo": row.repo, "difficulty": difficulty, "version": row.version}
    return Sample(row.instance_id, content, labels=labels, input=row.problem_statement, target=row.patch)


def row_content(row: FullRow) -> dict[str, Any]:
    """Return the row as a dictionary, with the lists of tests parsed.

    Raises:
        ValueError: If a list is not a JSON list of strings.
    """
    content = msgspec.structs.asdict(row)
    return content | {name: parse_test_names(name, content[name]) for name in TEST_LIST_FIELDS}


def parse_test_names(field: str, value: str | list[str]) -> list[str]:
    """Parse a list of test names.

    Raises:
        ValueError: If the value is not a JSON list of strings.
    """
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value, type=list[str])
    except msgspec.MsgspecError as error:
        raise ValueError(f"`{field}` is not a JSON list of strings: {error}") from None
