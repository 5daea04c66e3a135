"""Errors in datasets. The user can fix all of them, so they are shown in one line without a traceback."""

from __future__ import annotations

from benchwright.errors import UserError


class DatasetError(UserError):
    """Base class of errors in datasets."""


class DatasetNotFound(DatasetError, FileNotFoundError):
    """A file of the dataset, or the dataset itself, does not exist."""


class DatasetParseError(DatasetError):
    """The file has an unknown format, or its content does not match its suffix."""


class DatasetValidationError(DatasetError):
    """The file was read, but a row or its columns do not fit the evaluation."""


class BadRow(DatasetValidationError):
    """A row does not fit the evaluation. `index`: the row's index in the file, from 0.

    `wrong`: the problem, in words.
    """

    def __init__(self, index: int, wrong: str) -> None:
        super().__init__(f"Row {index}: {wrong}")
        self.index = index
        self.wrong = wrong
