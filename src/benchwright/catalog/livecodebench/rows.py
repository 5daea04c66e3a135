"""The row format of LiveCodeBench, and the conversion into samples."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Literal

import msgspec

from benchwright.catalog.livecodebench.problem_tests import read_tests
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class Metadata(Record, frozen=True):
    """The metadata of a problem. `func_name`: the method to call; None if the program reads stdin."""

    func_name: str | None = None


class LiveCodeBenchRow(Record, frozen=True):
    """One problem. The hidden tests are parsed only when they are needed, because they may be long."""

    question_content: str
    question_id: str
    contest_date: datetime.datetime
    difficulty: Literal["easy", "medium", "hard"]
    public_test_cases: str
    private_test_cases: str
    metadata: str
    starter_code: str = ""
    platform: str = ""

    def __post_init__(self) -> None:
        """Check the public tests and the metadata.

        Raises:
            ValueError: If the tests or the metadata cannot be parsed.
        """
        read_tests(self.public_test_cases)
        msgspec.json.decode(self.metadata, type=Metadata)


class DateWindow(Record, frozen=True):
    """A period of contest days. Its first and last day belong to it. A bound is None if that side is open."""

    first_day: datetime.date | None = None
    last_day: datetime.date | None = None

    def contains(self, moment: datetime.datetime) -> bool:
        """Return True if a contest at this moment is in the window.

        As in the official code, the last day ends at its first moment, 00:00.
        """
        after = self.first_day is None or moment.date() >= self.first_day
        return after and (self.last_day is None or moment <= _midnight(self.last_day, moment))


def _midnight(day: datetime.date, moment: datetime.datetime) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), moment.tzinfo)


def samples(source: Source, release: str, window: DateWindow) -> Iterator[Sample]:
    """Yield one sample per problem of the release. Problems of contests outside the window are left out."""
    for row in source.read(LiveCodeBenchRow, release):
        if not window.contains(row.contest_date):
            continue
        content = {
            "question": row.question_content,
            "starter_code": row.starter_code,
            "public": row.public_test_cases,
            "private": row.private_test_cases,
            "function": msgspec.json.decode(row.metadata, type=Metadata).func_name,
        }
        labels = {
            "difficulty": row.difficulty,
            "platform": row.platform,
            "month": row.contest_date.strftime("%Y-%m"),
        }
        shown = "\n\n".join(f"{test.input}\n->\n{test.output}" for test in read_tests(row.public_test_cases))
        yield Sample(row.question_id, content, labels=labels, input=row.question_content, target=shown)
