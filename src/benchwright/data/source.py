"""The files of a dataset that was found, and the rows in these files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import xxhash

from benchwright.data.dataset_spec import Dataset, HarborDataset
from benchwright.data.errors import BadRow, DatasetNotFound, DatasetParseError
from benchwright.data.layout import SplitFiles
from benchwright.data.manifest import Manifest, file_fingerprint
from benchwright.data.rows import Row, name_file_in_errors, read_rows

RowType = TypeVar("RowType")


class Source:
    """A dataset that was found.

    `root`: the directory that contains it. `provenance`: the kind of that directory ("data directory", "hub
    cache", "hub" or "path"). `revision`: the commit or version of the files in it, None if unknown. Fetched
    files are checked against their manifest when they are first used.
    """

    def __init__(
        self,
        dataset: Dataset,
        root: Path,
        splits: SplitFiles,
        provenance: str,
        revision: str | None = None,
        manifest: Manifest | None = None,
    ) -> None:
        self.dataset = dataset
        self.root = root
        self.provenance = provenance
        self.revision = manifest.revision if manifest else revision
        self._splits = splits
        self._manifest = manifest
        self._fingerprints: dict[Path, str] = {}

    @property
    def is_pinned(self) -> bool:
        """True if the files are at the pinned revision: the revision that the benchmark pins, or that its
        registry pins.
        """
        pinned = self.dataset.revision
        if isinstance(self.dataset.origin, HarborDataset):
            pinned = self._manifest.revision if self._manifest else None
        return self.revision is not None and self.revision == pinned

    @property
    def splits(self) -> list[str]:
        """The splits that were found. The evaluated split is always among them."""
        return list(self._splits)

    def files(self, split: str | None = None) -> list[Path]:
        """Return the files of a split (default: the evaluated split), in the order in which they are read.

        Raises:
            DatasetNotFound: If the split has no files.
            DatasetParseError: If a fetched file has changed since it was fetched.
        """
        split = split or self.dataset.evaluated_split
        if split not in self._splits:
            raise DatasetNotFound(
                f"{self.root} holds no {split} rows of {self.dataset.name}; add a file named {split}.jsonl"
            )
        for file in self._splits[split]:
            self._fingerprint(file)
        return list(self._splits[split])

    def rows(self, split: str | None = None) -> Iterator[Row]:
        """Yield the rows of a split (default: the evaluated split), one at a time, unchanged.

        Raises:
            DatasetError: As for `files`, or if the content of a file does not match its suffix. The message
                names the file and the row.
        """
        for file in self.files(split):
            with name_file_in_errors(file):
                yield from self._rows_of(file)

    def read(self, kind: type[RowType], split: str | None = None) -> Iterator[RowType]:
        """Yield the rows of a split (default: the evaluated split), one at a time, converted to `kind`, a
        msgspec Struct.

        Columns that `kind` lacks are ignored. CSV has only text: where a field of `kind` is a number, the text
        is converted.

        Raises:
            DatasetValidationError: If a row does not fit. The message names the file, the row (from 0 within
                the file) and the field.
            DatasetError: As for `rows`.
        """
        for file in self.files(split):
            strict = file.suffix.lower() != ".csv"
            with name_file_in_errors(file):
                for index, row in enumerate(self._rows_of(file)):
                    try:
                        value = msgspec.convert(row, kind, strict=strict)
                    except msgspec.ValidationError as error:
                        raise BadRow(index, str(error)) from error
                    yield value

    def path(self, relative: str) -> Path:
        """Return the path of a file or directory below the root, for data that is not rows.

        Raises:
            DatasetNotFound: If it does not exist.
            DatasetParseError: If it was fetched and has changed since then.
        """
        path = self.root / relative
        if not path.exists() or ".." in Path(relative).parts:
            raise DatasetNotFound(f"{self.root} holds no {relative}, which {self.dataset.name} needs")
        if path.is_file():
            self._fingerprint(path)
        return path

    @cached_property
    def digest(self) -> str:
        """The xxh3 digest (128 bits, 32 hex digits) of the bytes of all files, split by split."""
        digest = xxhash.xxh3_128()
        for split in self._splits:
            for file in self.files(split):
                digest.update(f"{split} {self._fingerprint(file)}\n".encode())
        return digest.hexdigest()

    def describe(self) -> dict[str, Any]:
        """Return the description of the data for a run's manifest."""
        return {
            "provenance": self.provenance,
            "revision": self.revision,
            "pinned": self.is_pinned,
            "digest": self.digest,
            "files": [str(file) for files in self._splits.values() for file in files],
        }

    def _rows_of(self, file: Path) -> Iterator[Row]:
        lines = self.dataset.json_lines and file.suffix.lower() == ".json"
        return read_rows(file, suffix=".jsonl" if lines else None)

    def _fingerprint(self, file: Path) -> str:
        if file not in self._fingerprints:
            fingerprint = self._fingerprints[file] = file_fingerprint(file)
            self._check(file, fingerprint)
        return self._fingerprints[file]

    def _check(self, file: Path, fingerprint: str) -> None:
        if self._manifest is None:
            return
        fetched = self._manifest.files.get(file.relative_to(self.root).as_posix())
        if fetched is not None and fetched.xxh3 != fingerprint:
            raise DatasetParseError(
                f"{file} has changed since it was fetched. Delete {self.root} and run "
                f"benchwright fetch {self.dataset.name}, or name your own file with --option path=FILE"
            )
