"""The row format of MMMU-Pro, and the conversion into samples."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from benchwright.catalog.mmmu_pro.about import STANDARD, VISION
from benchwright.catalog.multiple_choice import CHOICE_LETTERS, format_choices, question_text
from benchwright.data.datasets import Source
from benchwright.pictures import make_data_url, parse_picture
from benchwright.records import Record, Sample

MAX_OPTIONS_LENGTH = 100_000
"""Maximum number of characters of a question's options. The longest options have about 1,700."""

SUBJECT_DOMAINS = {
    subject: domain
    for domain, subjects in {
        "Art and Design": "Art Art_Theory Design Music",
        "Business": "Accounting Economics Finance Manage Marketing",
        "Science": "Biology Chemistry Geography Math Physics",
        "Health and Medicine": "Basic_Medical_Science Clinical_Medicine Diagnostics_and_Laboratory_Medicine Pharmacy "
        "Public_Health",
        "Humanities and Social Science": "History Literature Psychology Sociology",
        "Tech and Engineering": "Agriculture Architecture_and_Engineering Computer_Science Electronics "
        "Energy_and_Power Materials Mechanical_Engineering",
    }.items()
    for subject in subjects.split()
}
"""Mapping from a subject to the authors' domain of that subject (mmmu-pro/evaluate.py)."""

IMAGE_MENTION_PATTERN = re.compile(r"<image\s+(\d+)>")
"""Regular expression that matches a mention of an image in a question or an option."""


class HubImage(Record, frozen=True):
    """An image as stored on the hub: its bytes. The column's other field, `path`, is ignored."""

    data: bytes = msgspec.field(name="bytes")

    def __post_init__(self) -> None:
        parse_picture(self.data)


class _Row(Record, frozen=True):
    id: str
    options: str
    answer: Annotated[str, msgspec.Meta(pattern="^[A-Z]$")]
    subject: str

    @property
    def choices(self) -> list[str]:
        """The options, parsed from a Python list literal. Nothing is executed.

        Raises:
            ValueError: If the text is not a list literal.
        """
        try:
            read = ast.literal_eval(self.options) if len(self.options) <= MAX_OPTIONS_LENGTH else None
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            read = None
        if not isinstance(read, list) or not 1 <= len(read) <= len(CHOICE_LETTERS):
            raise ValueError(f"`options` is not a list of 1 to {len(CHOICE_LETTERS)} options")
        return [str(option) for option in read]


class StandardRow(_Row, frozen=True, kw_only=True):
    """A question with separate images, from the configuration `standard (10 options)`."""

    question: str
    topic_difficulty: str = ""
    image_1: HubImage | None = None
    image_2: HubImage | None = None
    image_3: HubImage | None = None
    image_4: HubImage | None = None
    image_5: HubImage | None = None
    image_6: HubImage | None = None
    image_7: HubImage | None = None

    def __post_init__(self) -> None:
        for number in self._named:
            if getattr(self, f"image_{number}", None) is None:
                raise ValueError(f"the text names image {number}, which is not there")

    @property
    def images(self) -> list[HubImage]:
        """The images in the order in which the question and the options mention them."""
        return [getattr(self, f"image_{number}") for number in self._named]

    @property
    def _named(self) -> list[str]:
        return IMAGE_MENTION_PATTERN.findall("\n".join([self.question, *self.choices]))


class VisionRow(_Row, frozen=True, kw_only=True):
    """A question as a single image, from the configuration `vision`."""

    image: HubImage

    def __post_init__(self) -> None:
        self.choices  # noqa: B018  # raises ValueError if the options are invalid


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question, with its images."""
    for row in source.read(StandardRow, STANDARD):
        content = _content(row, row.images) | {"question": row.question}
        yield _sample(row, content, question_text(content), {"difficulty": row.topic_difficulty})


def vision_samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question of the configuration `vision`, in which a question is a single image."""
    for row in source.read(VisionRow, VISION):
        content = _content(row, [row.image])
        shown = "\n".join(["(The question is in the image.)", "", *format_choices(content["choices"])])
        yield _sample(row, content, shown, {})


def _content(row: _Row, images: list[HubImage]) -> dict[str, Any]:
    return {
        "choices": row.choices,
        "answer": row.answer,
        "images": [make_data_url(one.data) for one in images],
    }


def _sample(row: _Row, content: dict[str, Any], shown: str, more: dict[str, str]) -> Sample:
    labels = {"domain": SUBJECT_DOMAINS.get(row.subject, "other"), "subject": row.subject, **more}
    return Sample(row.id, content, labels=labels, input=shown, target=row.answer)
