"""The location of a dataset in the data directory, and the files of each split in a directory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchwright.data.dataset_spec import Dataset, Folder, GitRepository, HarborDataset, HubRepository, Wheel
from benchwright.data.errors import DatasetParseError
from benchwright.data.manifest import MANIFEST_NAME
from benchwright.data.rows import DATASET_SUFFIXES

SplitFiles = dict[str, list[Path]]
"""Mapping from each split that was found to its files, in the order in which they are read."""

_NO_ROWS = frozenset({MANIFEST_NAME, "dataset_info.json", "dataset_infos.json"})
_SHARD = re.compile(r"-\d{5}-of-(\d{5})")
_WORD = re.compile(r"[a-z0-9]+")


def fetched_directory(dataset: Dataset, data_dir: Path) -> Path | None:
    """Return the directory into which `fetch` stores a dataset. None if the dataset cannot be fetched."""
    match dataset.origin:
        case HubRepository(repository=repository):
            return data_dir / repository
        case Wheel() | GitRepository() | HarborDataset():
            return data_dir / dataset.name
        case Folder() | None:
            return None


def find_declared_files(root: Path, dataset: Dataset) -> SplitFiles:
    """Return the splits that are complete in the origin's own layout. Empty if the evaluated split is not complete."""
    splits = {split: _whole(root, patterns) for split, patterns in dataset.splits.items()}
    return _found(splits, dataset)


def find_split_files(root: Path, dataset: Dataset) -> SplitFiles:
    """Return the splits that are found in any layout. Empty if the evaluated split is not found.

    The files of a split are the first of these that exist:

    - the files of the origin's own layout, if the split is complete
    - the files that match the dataset's local patterns
    - one data file directly in `root`, or all its shards: `<split>.*`, or a file with the split as a word in
      its name
    - for the evaluated split only: the only other data file. Among several others, the one named after the
      dataset; if there is none, the one named `sample`

    Raises:
        DatasetParseError: If several files match.
    """
    data = sorted(file for file in _data_files(root) if file.name not in _NO_ROWS)
    return _found({split: _laid(root, dataset, split, data) for split in dataset.splits}, dataset)


def _found(splits: SplitFiles, dataset: Dataset) -> SplitFiles:
    return (
        {split: files for split, files in splits.items() if files} if splits[dataset.evaluated_split] else {}
    )


def _laid(root: Path, dataset: Dataset, split: str, data: list[Path]) -> list[Path]:
    return (
        _whole(root, dataset.splits[split])
        or sorted({file for pattern in dataset.local.get(split, ()) for file in _matches(root, pattern)})
        or _named(dataset, split, data)
    )


def _whole(root: Path, patterns: Iterable[str]) -> list[Path]:
    matches = [_matches(root, pattern) for pattern in patterns]
    files = sorted({file for found in matches for file in found})
    return files if all(matches) and _all_shards(files) else []


def _matches(root: Path, pattern: str) -> list[Path]:
    return [file for file in root.glob(pattern) if file.is_file()]


def _all_shards(files: Iterable[Path]) -> bool:
    """Return True if, for each set of files named like `x-00000-of-00002.y`, no shard is missing."""
    sets = Counter(_SHARD.sub(r"-of-\1", str(file)) for file in files)
    return all(
        count == int(shard.group(1))
        for name, count in sets.items()
        if (shard := re.search(r"-of-(\d{5})", name)) is not None
    )


def _data_files(root: Path) -> Iterable[Path]:
    if not root.is_dir():
        return []
    return (file for file in root.iterdir() if file.suffix.lower() in DATASET_SUFFIXES and file.is_file())


def _named(dataset: Dataset, split: str, data: list[Path]) -> list[Path]:
    words = {file: set(_WORD.findall(file.stem.lower())) for file in data}
    called = [file for file in data if split in words[file]]
    if exact := [file for file in called if file.stem.lower() == split]:
        return _only(exact, dataset, split)
    if called:
        return called if _one_set_of_shards(called) else _only(called, dataset, split)
    if split != dataset.evaluated_split:
        return []
    other = [file for file in data if not words[file] & set(dataset.splits)]
    for name in (dataset.name, "sample"):
        if len(other) > 1 and (preferred := [file for file in other if file.stem.lower() == name]):
            other = preferred
    return _only(other, dataset, split)


def _one_set_of_shards(files: list[Path]) -> bool:
    return len({_SHARD.sub("", file.name) for file in files}) == 1 and _all_shards(files)


def _only(files: list[Path], dataset: Dataset, split: str) -> list[Path]:
    if len(files) > 1:
        raise DatasetParseError(
            f"Several files could be the {split} rows of {dataset.name}: "
            f"{', '.join(map(str, files))}. Name one with --option path=FILE"
        )
    return files
