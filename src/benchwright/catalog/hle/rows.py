"""The row format of Humanity's Last Exam, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from benchwright.data.datasets import Source
from benchwright.pictures import decode_data_url, make_data_url, parse_data_url
from benchwright.records import Record, Sample

MULTIPLE_CHOICE_TYPE = "multipleChoice"


class HleRow(Record, frozen=True):
    """One question in the Hugging Face layout. The options are part of the question's text.

    `image`: a data URL; empty if the question has no image.
    """

    id: str
    question: str
    answer: str
    answer_type: Literal["exactMatch", "multipleChoice"]
    category: str
    raw_subject: str = ""
    image: str | None = None


class TextQuestionReader:
    """Reader of the questions without an image. It counts the questions that it skips because they have an image."""

    def __init__(self) -> None:
        self.skipped = 0

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield one sample per question without an image, with the question's id."""
        self.skipped = 0
        for row in source.read(HleRow, "test"):
            if row.image:
                self.skipped += 1
            else:
                yield _sample(row)


class CheckedImageRow(HleRow, frozen=True):
    """A row whose image was checked: the data is a real image, whatever type its data URL claims."""

    def __post_init__(self) -> None:
        if self.image:
            parse_data_url(self.image)


def samples_with_images(source: Source) -> Iterator[Sample]:
    """Yield one sample per question, with its image if it has one."""
    for row in source.read(CheckedImageRow, "test"):
        sample = _sample(row)
        sample.labels["image"] = "yes" if row.image else "no"
        if row.image:
            sample.content["image"] = make_data_url(decode_data_url(row.image))
        yield sample


def _sample(row: HleRow) -> Sample:
    content = {"question": row.question, "answer": row.answer, "answer_type": row.answer_type}
    labels = {"category": row.category, "answer_type": row.answer_type, "subject": row.raw_subject}
    return Sample(row.id, content, labels=labels, input=row.question, target=row.answer)
