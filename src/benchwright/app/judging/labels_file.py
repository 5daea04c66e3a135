"""Label files: written without the judge's verdicts for people to fill in, and read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.app.judging.run_judge import JudgedAnswer
from benchwright.data.rows import name_file_in_errors, read_rows
from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.records import Record
from benchwright.text import escape_formula

FORM_COLUMNS = ("trial", "attempt", "sample", "question", "expected", "answer", "label")

LABEL_BY_WORD = {
    **dict.fromkeys(("1", "1.0", "yes", "true", "right", "correct"), 1.0),
    **dict.fromkeys(("0", "0.0", "no", "false", "wrong", "incorrect"), 0.0),
}
"""Mapping from a word or number that is accepted as a label to its value."""


class HumanLabel(Record, frozen=True):
    """A person's label for an answer, from 0 (wrong) to 1 (right).

    The answer is identified by the `trial` of the run and its `attempt`, or by its `sample` and its text
    (`answer`).
    """

    label: float
    trial: str = ""
    attempt: int = 0
    sample: str = ""
    answer: str = ""


def write_label_form(path: Path, answers: Sequence[JudgedAnswer]) -> None:
    """Write answers to a file, so that a person can label them. The file's suffix selects CSV or JSON Lines.

    Raises:
        UserError: If the file has another suffix, or cannot be written.
    """
    rows = [
        (one.trial, one.attempt, one.sample, one.question, one.expected, one.answer, "") for one in answers
    ]
    if path.suffix.lower() == ".jsonl":
        lines = (msgspec.json.encode(dict(zip(FORM_COLUMNS, row, strict=True))) + b"\n" for row in rows)
        write_atomically(path, lines)
    elif path.suffix.lower() == ".csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(FORM_COLUMNS)
        writer.writerows([escape_formula(cell) for cell in row] for row in rows)
        write_atomically(path, text.getvalue().encode("utf-8", "replace"))
    else:
        raise UserError(f"{path}: give a file that ends in .csv or .jsonl.")


def read_label_form(path: Path) -> list[HumanLabel]:
    """Return the labels in a file (.csv, .jsonl, .json or .parquet). Rows without a label are skipped.

    Raises:
        DatasetError: If the file cannot be read.
        UserError: If a row does not identify its answer, a label is invalid or repeated, or there are no
            labels.
    """
    with name_file_in_errors(path):
        labels = list(_labels(path))
    if not labels:
        raise UserError(f"{path} has no labels: fill in the column `label` with 1 (right) or 0 (wrong).")
    seen: set[tuple[Any, ...]] = set()
    for one in labels:
        which = (one.trial,) if one.trial else (one.sample, one.answer)
        if which in seen:
            raise UserError(f"{path} has two labels of one answer ({' '.join(which)[:60]}); keep one.")
        seen.add(which)
    return labels


def _labels(path: Path) -> Iterator[HumanLabel]:
    for number, row in enumerate(read_rows(path), 1):
        said = row.get("label")
        if said is None or (isinstance(said, str) and not said.strip()):
            continue
        trial, sample, answer = (_text(row.get(name)) for name in ("trial", "sample", "answer"))
        if answer[:1] == "'" and escape_formula(answer[1:]) == answer:
            answer = answer[1:]
        if not trial and not (sample and answer):
            raise UserError(f"{path}, row {number}: give the `trial`, or `sample` and `answer`.")
        attempt = _text(row.get("attempt")) or "0"
        if not attempt.isdecimal():
            raise UserError(f"{path}, row {number}: attempt {attempt[:20]!r} is not a number.")
        yield HumanLabel(_value(said, f"{path}, row {number}"), trial, int(attempt), sample, answer)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _value(said: Any, where: str) -> float:
    word = str(said).strip().lower()
    try:
        value = LABEL_BY_WORD[word] if word in LABEL_BY_WORD else float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UserError(f"{where}: label {word[:20]!r} is not a number from 0 to 1, yes or no.")
    return value
