"""What can be wrong with a dataset. All are the user's to mend: one line, no traceback."""

from __future__ import annotations

from benchwright.errors import UserError


class DatasetError(UserError):
    """Base of what can be wrong with a dataset."""


class DatasetNotFound(DatasetError, FileNotFoundError):
    """There is no such file."""


class DatasetParseError(DatasetError):
    """The file is not of a known format, or not what its suffix says."""


class DatasetValidationError(DatasetError):
    """The file was read, but a row or its columns are not what an evaluation needs."""


class BadRow(DatasetValidationError):
    """A row is not what is needed: `index` is its place in the file, from 0, and `wrong` says what is the matter."""

    def __init__(self, index: int, wrong: str) -> None:
        super().__init__(f"Row {index}: {wrong}")
        self.index = index
        self.wrong = wrong
