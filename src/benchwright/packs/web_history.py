"""Stores data that the page of a web pack saves: a summary in the desktop host's format, and artifact files."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchwright import __version__
from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.packs.types import RegisteredModel
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.packs.web_pack import WebPack
from benchwright.records import DECODE_ERRORS, RequestRecord
from benchwright.runs.journal import encode_json
from benchwright.suggestions import did_you_mean

SUMMARY_FILE = "summary.json"
ARTIFACTS_FOLDER = "artifacts"

SESSION_STATUSES = ("created", "running", "completed", "cancelled", "error")

MAX_EVENTS = 10_000
MAX_ARTIFACTS = 1_000
MAX_SESSION_BYTES = 256 * 2**20
"""Maximum number of bytes that one session saves. Data beyond this limit are not saved, and an error is raised."""

Payload = dict[str, Any]


class WebSession:
    """One session with a web pack's page. Its directory below `storage` is created when the page first saves data.

    `saved`: the summary of an earlier session. If it is given, that session is continued. The requests of the
    page are counted by model id.
    """

    def __init__(
        self, pack: WebPack, models: Sequence[RegisteredModel], storage: Path, saved: Payload | None = None
    ) -> None:
        self.pack = pack
        self.models = models
        self.saved = saved
        self._storage = storage
        self._requests: dict[str, list[RequestRecord]] = {}
        self._bytes = 0

    @property
    def run_id(self) -> str | None:
        """The session's id; None before anything is saved."""
        return None if self.saved is None else self.saved["runId"]

    @property
    def directory(self) -> Path | None:
        """The session's directory; None before anything is saved."""
        return None if self.run_id is None else self._storage / self.pack.id / self.run_id

    def count_request(self, model: str, record: RequestRecord) -> None:
        """Count a request that the page sent to a model."""
        self._requests.setdefault(model, []).append(record)

    def save(self, payload: Payload) -> Payload:
        """Merge the page's data into the saved session, and return the summary.

        Status and score are replaced. Events and artifacts are appended. Metadata is merged.

        Raises:
            UserError: If the data has the wrong format or is too large.
            JournalError: If the summary cannot be written.
        """
        former = self.saved or {}
        history = _merged(former.get("webHistory") or {}, payload)
        now = _now()
        run_id = former.get("runId") or f"{self.pack.id}-{now.replace(':', '-')}-{uuid.uuid4().hex[:8]}"
        score = history.get("score")
        scored = self.models[0].id if self.models else "web"
        summary = {
            **former,
            "runId": run_id,
            "runDir": str(self._storage / self.pack.id / run_id),
            "packType": "web",
            "packVersion": self.pack.version,
            "packEntry": self.pack.entry,
            "packBuildId": self.pack.build_id,
            "packManifestHash": self.pack.manifest_hash,
            "benchPackId": self.pack.id,
            "benchPackName": self.pack.name,
            "startedAt": former.get("startedAt", now),
            "completedAt": now,
            "modelCount": len(self.models),
            "scenarioCount": 0,
            "cancelled": history["status"] == "cancelled",
            "error": "The page reported an error." if history["status"] == "error" else None,
            "events": [],
            "resultsByModel": {model.id: [] for model in self.models},
            "scores": {} if score is None else {scored: score},
            "webHistory": history,
            "requestsByModel": {model: _counted(records) for model, records in self._counted_so_far()},
            "hostVersion": f"benchwright {__version__} (compatible with {COMPATIBLE_VERSION})",
        }
        self.saved = {name: value for name, value in summary.items() if value is not None}
        self._write()
        return self.saved

    def add_artifact(
        self, kind: str, label: str, path: str, content_type: str | None, content: bytes
    ) -> Payload:
        """Write a file that the page sends into the session's directory. Return its entry in the session summary.

        Raises:
            UserError: If there are too many artifacts, or they are too large.
            JournalError: If the file cannot be written.
        """
        known = ((self.saved or {}).get("webHistory") or {}).get("artifacts") or []
        if len(known) >= MAX_ARTIFACTS or self._bytes + len(content) > MAX_SESSION_BYTES:
            raise UserError(
                f"A session keeps {MAX_ARTIFACTS:,} files of {MAX_SESSION_BYTES // 2**20} MiB together."
            )
        if self.saved is None:
            self.save({"status": "running"})
        assert self.directory is not None
        place = f"{ARTIFACTS_FOLDER}/{safe_artifact_path(path, label)}"
        target = self.directory / place
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
        self._bytes += len(content)
        note = {"kind": kind, "label": label, "path": place, "contentType": content_type}
        artifact = {name: value for name, value in note.items() if value is not None}
        self.save({"artifacts": [artifact]})
        return artifact

    def close(self) -> None:
        """Write the counts of the requests that were made since the page last saved data."""
        if self.saved is not None and self._requests:
            self.save({})

    def _counted_so_far(self) -> list[tuple[str, list[RequestRecord]]]:
        """Return a copy of the requests so far. While a thread saves, more requests may finish on the event loop."""
        return [(model, list(records)) for model, records in list(self._requests.items())]

    def _write(self) -> None:
        assert self.directory is not None
        self.directory.mkdir(parents=True, exist_ok=True)
        write_atomically(self.directory / SUMMARY_FILE, encode_json(self.saved) + b"\n")


def _merged(former: Payload, payload: Payload) -> Payload:
    """Merge the page's new data into its saved data.

    Raises:
        UserError: If a value has the wrong type, or there are too many events or artifacts.
    """
    status = payload.get("status", former.get("status", "running"))
    if status not in SESSION_STATUSES:
        raise UserError(f"The status of a session is one of {', '.join(SESSION_STATUSES)}, not {status!r}.")
    merged = {**former, **payload, "status": status}
    for key, kind in (("metadata", dict), ("artifacts", list), ("events", list)):
        given = payload.get(key)
        if given is not None and not isinstance(given, kind):
            raise UserError(f"{key} is {'an object' if kind is dict else 'a list'}.")
    merged["metadata"] = {**(former.get("metadata") or {}), **(payload.get("metadata") or {})}
    for key in ("artifacts", "events"):
        merged[key] = [*(former.get(key) or []), *(payload.get(key) or [])]
    if len(merged["events"]) > MAX_EVENTS or len(merged["artifacts"]) > MAX_ARTIFACTS:
        raise UserError(f"A session keeps {MAX_EVENTS:,} events and {MAX_ARTIFACTS:,} artifacts.")
    return merged


def safe_artifact_path(path: str, label: str) -> str:
    """Return a safe relative path for a file that the page sends. The path consists of plain file names only.

    The path is made from the `path` that the page gave. If there is none, it is made from the file's `label`.
    """
    parts = [
        re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.") for part in path.replace("\\", "/").split("/")
    ]
    parts = [part[:100] for part in parts if part]
    if parts[:1] == [ARTIFACTS_FOLDER]:
        parts = parts[1:]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-.").lower()[:100] or "artifact"
    return "/".join(parts[:8]) or f"{name}.txt"


def load_session(storage: Path, pack: str, reference: str) -> Payload:
    """Load a saved session, found by its id, or by a substring that occurs in exactly one id.

    Raises:
        UserError: If no session or several sessions match, or if the file cannot be read.
    """
    known = sorted(path.parent.name for path in (storage / pack).glob(f"*/{SUMMARY_FILE}"))
    found = [name for name in known if name == reference] or [name for name in known if reference in name]
    if len(found) != 1:
        hint = did_you_mean(reference, known) if not found else f" It fits {', '.join(found)}."
        raise UserError(f"There is no session {reference!r} of {pack}.{hint}")
    path = storage / pack / found[0] / SUMMARY_FILE
    try:
        saved = msgspec.json.decode(path.read_bytes())
    except (OSError, *DECODE_ERRORS) as error:
        raise UserError(f"{path} cannot be read: {error}.") from None
    if not isinstance(saved, dict) or saved.get("runId") != found[0]:
        raise UserError(f"{path} is not the summary of this session.")
    return saved


def _counted(records: Sequence[RequestRecord]) -> Mapping[str, float]:
    """Return sums over requests. Tokens are included only if the server reported them with every response."""
    answered = [record for record in records if record.error is None]
    figures = {
        "requests": len(records),
        "failed": len(records) - len(answered),
        "seconds": round(sum(record.total for record in records) / 1e9, 3),
    }
    if all(record.usage.completion_tokens is not None for record in answered):
        figures["promptTokens"] = sum(record.prompt_tokens for record in answered)
        figures["completionTokens"] = sum(record.completion_tokens for record in answered)
    return figures


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
