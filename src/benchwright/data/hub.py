"""The Hugging Face hub: its cache on this machine, and the files of a repository over the network.

huggingface_hub lists the repositories and handles tokens, endpoints and proxies; it is imported only when the
network is used. This module downloads the files over that library's HTTP session, so that a silent server costs
seconds instead of minutes of retries. The layout of the cache and of the addresses is publicly documented. For
datasets: `datasets--O--N/snapshots/<commit>/` in the cache, and `/datasets/O/N/resolve/<commit>/<file>` with
byte ranges on the hub. Models have `models--O--N` and `/O/N` instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from benchwright.data.dataset_spec import HubRepository
from benchwright.data.errors import DatasetError
from benchwright.optional_libraries import importing
from benchwright.secrets import SECRETS
from benchwright.user_paths import expand_user_path

if TYPE_CHECKING:
    from huggingface_hub.hf_api import DatasetInfo, ModelInfo

TIMEOUT_SECONDS = 10.0
"""Number of seconds without an answer after which the hub counts as unreachable."""

MAX_TRIES = 3
"""Maximum number of tries to download a file, counting the first.

Each further try resumes at the byte at which the transfer broke off.
"""


class HubUnavailable(DatasetError):
    """The hub does not answer, or huggingface_hub is not installed."""


class HubFile(NamedTuple):
    """A file of a repository. `sha256` is None for a small file, because the hub does not report its digest."""

    name: str
    size: int | None
    sha256: str | None


def is_offline() -> bool:
    """Return True if the user forbids the network by HF_HUB_OFFLINE."""
    return os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in ("1", "ON", "YES", "TRUE")


def hub_cache_directory() -> Path:
    """Return the hub's cache directory: the value of HF_HUB_CACHE.

    Without HF_HUB_CACHE, return the directory below HF_HOME. Without HF_HOME, return the one below ~/.cache.
    """
    if cache := os.environ.get("HF_HUB_CACHE"):
        return expand_user_path(cache)
    if home := os.environ.get("HF_HOME"):
        return expand_user_path(home) / "hub"
    return expand_user_path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def cached_snapshot(origin: HubRepository) -> tuple[Path, str] | None:
    """Return (directory, commit) of a repository in the hub's cache. None if the cache does not have it.

    The commit is the pinned one. If no commit is pinned, it is the newest one in the cache.
    """
    directory = hub_cache_directory() / f"{origin.kind}s--{origin.repository.replace('/', '--')}"
    revision = origin.revision
    if revision is None:
        try:
            revision = (directory / "refs" / "main").read_text().strip()
        except OSError:
            return None
    snapshot = directory / "snapshots" / revision
    return (snapshot, revision) if snapshot.is_dir() else None


def list_files(origin: HubRepository) -> tuple[str, list[HubFile]]:
    """Return the commit of a repository and the files of that commit.

    The commit is the pinned one. If no commit is pinned, it is the newest one.

    Raises:
        HubUnavailable: If no answer came within fifteen seconds.
        DatasetError: If the hub refuses.
    """
    with _plain_errors(origin):
        info = _answer(origin)
    if info.sha is None or (origin.revision is not None and info.sha != origin.revision):
        raise DatasetError(f"The hub gave commit {info.sha} of {origin.repository}, not {origin.revision}")
    return info.sha, [
        HubFile(file.rfilename, file.size, file.lfs.sha256 if file.lfs else None)
        for file in info.siblings or ()
    ]


def download_file(origin: HubRepository, commit: str, name: str, target: Path) -> None:
    """Download one file of a repository to `target`.

    Raises:
        HubUnavailable: If the hub fell silent, or the connection broke off too often.
        DatasetError: If the hub refuses.
    """
    with _plain_errors(origin), open(target, "wb") as out:
        http = _http_library()
        for rest in reversed(range(MAX_TRIES)):
            try:
                _receive(origin, commit, name, out)
                break
            except (http.RemoteProtocolError, http.ReadError):  # the connection ended too early
                if not rest:
                    raise


def _answer(origin: HubRepository) -> DatasetInfo | ModelInfo:
    """Return the hub's description of a repository.

    The request runs in a thread, because a host lookup has no time limit of its own.
    """
    from huggingface_hub import HfApi

    api = HfApi(endpoint=_endpoint(), library_name="benchwright")
    answer: list[DatasetInfo | ModelInfo] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            describe = api.dataset_info if origin.kind == "dataset" else api.model_info
            answer.append(
                describe(
                    origin.repository, revision=origin.revision, files_metadata=True, timeout=TIMEOUT_SECONDS
                )
            )
        except Exception as error:  # raised again in the caller's thread
            errors.append(error)

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(1.5 * TIMEOUT_SECONDS)
    if answer:
        return answer[0]
    if not errors:
        raise HubUnavailable(f"The hub ({_endpoint()}) does not answer")
    if isinstance(errors[0], (ValueError, TypeError, KeyError)):
        raise HubUnavailable(f"{_endpoint()} does not answer like the hub") from errors[0]
    raise errors[0]


def _receive(origin: HubRepository, commit: str, name: str, out: BinaryIO) -> None:
    """Download a file, beginning at the present position of `out`, and append the bytes to `out`."""
    from huggingface_hub import get_session, hf_hub_url, hf_raise_for_status
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    url = hf_hub_url(origin.repository, name, repo_type=origin.kind, revision=commit, endpoint=_endpoint())
    headers = build_hf_headers(library_name="benchwright") | {"Accept-Encoding": "identity"}
    if position := out.tell():
        headers["Range"] = f"bytes={position}-"
    with get_session().stream("GET", url, headers=headers, timeout=TIMEOUT_SECONDS) as response:
        hf_raise_for_status(response)
        if position and response.status_code != HTTPStatus.PARTIAL_CONTENT:
            out.seek(0)
            out.truncate()
        for chunk in response.iter_bytes():
            out.write(chunk)


def _endpoint() -> str:
    from huggingface_hub.constants import ENDPOINT

    return (os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")


def _http_library() -> ModuleType:
    """Return the library of huggingface_hub's HTTP session: httpx2, or httpx up to version 1.x."""
    from huggingface_hub import get_session

    return import_module(type(get_session()).__module__.partition(".")[0])


@contextmanager
def _plain_errors(origin: HubRepository) -> Iterator[None]:
    """Replace errors of huggingface_hub and its HTTP client by an error whose message is one line with a remedy."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with importing("huggingface-hub", "Fetching from the hub needs", "hub", HubUnavailable):
        from huggingface_hub import errors, get_token

        http = _http_library()
    SECRETS.add(get_token())
    try:
        yield
    except errors.HfHubHTTPError as error:
        raise DatasetError(_refusal(origin, error.response.status_code, error)) from error
    except (http.HTTPError, ConnectionError) as error:
        reason = SECRETS.redact(str(error)) or type(error).__name__
        raise HubUnavailable(f"The hub ({_endpoint()}) cannot be reached: {reason}") from error


def _refusal(origin: HubRepository, status: int, error: Exception) -> str:
    from huggingface_hub.errors import GatedRepoError

    page = f"{_endpoint()}/{'datasets/' if origin.kind == 'dataset' else ''}{origin.repository}"
    if isinstance(error, GatedRepoError) or (origin.gated and status in (401, 403)):
        return (
            f"{origin.repository} is gated: accept its terms at {page} when logged in, then set HF_TOKEN to "
            f"an access token of that account (the hub answered {status})"
        )
    if status in (401, 403):
        return f"The hub does not let this account read {page} (it answered {status}); check HF_TOKEN"
    if status == HTTPStatus.NOT_FOUND:
        return f"The hub has no {origin.repository} at revision {origin.revision or 'main'} ({page})"
    return f"The hub answered {status} for {page}; try again later"
