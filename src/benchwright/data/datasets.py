"""Finds the data of a benchmark: in the data directory, in the hub's cache, or on the hub."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from benchwright.data.dataset_spec import Dataset, Folder, GitRepository, HarborDataset, HubRepository, Wheel
from benchwright.data.errors import DatasetNotFound
from benchwright.data.hub import HubUnavailable, cached_snapshot, hub_cache_directory, is_offline
from benchwright.data.layout import fetched_directory, find_declared_files, find_split_files
from benchwright.data.manifest import read_manifest
from benchwright.data.rows import check_dataset_file
from benchwright.data.source import Source
from benchwright.text import Say
from benchwright.user_paths import expand_user_path

__all__ = [
    "Dataset",
    "Folder",
    "GitRepository",
    "HarborDataset",
    "HubRepository",
    "Source",
    "Wheel",
    "find_dataset",
]


def find_dataset(
    dataset: Dataset,
    data_dir: str | PathLike[str],
    *,
    path: str | PathLike[str] | None = None,
    offline: bool | None = None,
    say: Say = lambda line: None,
) -> Source:
    """Return the files of a dataset.

    They come from `path`. Without `path`, they come from the folder that the dataset declares as its origin. If
    it declares none, they come from the first of these places that has the dataset:

    - `<data-dir>/<name>/`, in any format that can be read; see `layout.find_split_files`
    - `<data-dir>/<owner>/<name of the repository>/`, laid out as on the hub
    - the hub's own cache, at the pinned revision
    - the hub, from which the dataset is fetched into `<data-dir>/<owner>/<name of the repository>/`. Not used
      if `offline` is True (default: the value of HF_HUB_OFFLINE)

    A place has a dataset if the evaluated split is complete there. This call blocks; without a network, it
    blocks only for seconds. `say` is called with lines of progress during a fetch.

    Raises:
        DatasetNotFound: If no place has the dataset, or it could not be fetched. The message names the places
            and a remedy.
        DatasetParseError: If several files match, or a file has an unknown format.
        DatasetError: If the hub refuses, or huggingface_hub is not installed.
    """
    data_dir = Path(data_dir)
    if path is not None:
        return _named(dataset, expand_user_path(path))
    if isinstance(dataset.origin, Folder):
        return _named(dataset, expand_user_path(dataset.origin.path))
    found = _in_data_directory(dataset, data_dir) or _in_hub_cache(dataset)
    return found or _on_hub(dataset, data_dir, is_offline() if offline is None else offline, say)


def _named(dataset: Dataset, path: Path) -> Source:
    if not path.is_dir():
        return Source(dataset, path.parent, {dataset.evaluated_split: [check_dataset_file(path)]}, "path")
    splits = find_split_files(path, dataset)
    if not splits:
        raise DatasetNotFound(
            f"{path} holds no {dataset.evaluated_split} rows of {dataset.name}; expected one data file, "
            f"{dataset.evaluated_split}.jsonl for example, or {', '.join(dataset.splits[dataset.evaluated_split])}"
        )
    return Source(dataset, path, splits, "path", manifest=read_manifest(path))


def _in_data_directory(dataset: Dataset, data_dir: Path) -> Source | None:
    own = data_dir / dataset.name
    if splits := find_split_files(own, dataset):
        return Source(dataset, own, splits, "data directory", manifest=read_manifest(own))
    fetched = fetched_directory(dataset, data_dir)
    if fetched is not None and (splits := find_declared_files(fetched, dataset)):
        return Source(dataset, fetched, splits, "data directory", manifest=read_manifest(fetched))
    return None


def _in_hub_cache(dataset: Dataset) -> Source | None:
    if not isinstance(dataset.origin, HubRepository) or (cached := cached_snapshot(dataset.origin)) is None:
        return None
    snapshot, revision = cached
    splits = find_declared_files(snapshot, dataset)
    return Source(dataset, snapshot, splits, "hub cache", revision) if splits else None


def _on_hub(dataset: Dataset, data_dir: Path, offline: bool, say: Say) -> Source:
    match dataset.origin:
        case HubRepository() if offline:
            reason = "and HF_HUB_OFFLINE forbids the network"
        case HubRepository():
            from benchwright.data.fetch import fetch_dataset

            try:
                root = fetch_dataset(dataset, data_dir, say)
            except HubUnavailable as error:
                reason = f"and {str(error)[0].lower()}{str(error)[1:]}"
            else:
                return Source(
                    dataset, root, find_declared_files(root, dataset), "hub", manifest=read_manifest(root)
                )
        case Wheel() | GitRepository() | HarborDataset():
            reason = "and it has not been fetched"
        case Folder() | None:
            raise DatasetNotFound(
                f"No data for {dataset.name}: put it into {data_dir / dataset.name}, or --option path=FILE"
            )
    raise DatasetNotFound(
        f"No data for {dataset.name} in {_places(dataset, data_dir)}, {reason}. To fetch it, run: "
        f"benchwright fetch {dataset.name}. Or give a file or directory: --option path=PATH"
    )


def _places(dataset: Dataset, data_dir: Path) -> str:
    places = [data_dir / dataset.name]
    if isinstance(dataset.origin, HubRepository):
        places += [data_dir / dataset.origin.repository, hub_cache_directory()]
    return ", ".join(map(str, places))
