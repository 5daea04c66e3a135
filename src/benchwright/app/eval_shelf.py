"""The shelf of `eval`: its documented cache files say which run belongs to a configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from benchwright.agents.cache.documents import Results, output_document
from benchwright.agents.cache.entry import (
    CacheEntry,
    CacheMismatch,
    age,
    back_up,
    entry_files,
    moment,
    new_entry,
    new_path,
    read_head,
    samples_path,
    set_corrupt_aside,
    write_entry,
)
from benchwright.agents.cache.identity import config_hash, task_id
from benchwright.agents.cache.paths import cache_root, entry_directory, sanitize_path_part
from benchwright.agents.cache.runs import DocumentedRun, DocumentedRuns
from benchwright.agents.cache.samples import sample_lines
from benchwright.app.cached_evals import run_of_entry
from benchwright.app.prepared import RunRequest
from benchwright.config import EvalSettings
from benchwright.errors import JournalError, UserError
from benchwright.files import write_whole
from benchwright.runs import store
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import RunTable, read_table
from benchwright.text import Say


class EvalShelf:
    """Finds, makes and keeps the cache entry of one configuration; `entry_path` is there once a run is.

    Raises:
        UserError: `--output-path` is the cache's own directory.
    """

    def __init__(self, request: RunRequest, settings: EvalSettings, config: dict[str, Any]) -> None:
        if settings.output_path is not None and settings.output_path.resolve() == cache_root():
            raise UserError(
                f"--output-path is the cache's own directory ({settings.output_path}); give another one."
            )
        self._request = request
        self._settings = settings
        self._config = {key: value for key, value in config.items() if value is not None}
        self._digest = config_hash(self._config)
        self.task_id = task_id(self._digest)
        assert settings.model is not None
        self._directory = entry_directory(cache_root(), settings.model, str(settings.dataset))
        self.entry_path: Path | None = None

    @asynccontextmanager
    async def run_of(self, make: Callable[[], Path], say: Say) -> AsyncIterator[Path]:
        """See `prepared.Shelf.run_of`; the lock beside the entry is held throughout."""
        async with store.file_lock(self._directory / f"{self.task_id}.lock", say):
            directory = self._find(say)
            if directory is None:
                directory = make()
                self.entry_path = new_path(self._directory, self.task_id)
                write_entry(self.entry_path, new_entry(self._config, self._digest, self.task_id, directory))
            yield directory

    def has_entry(self) -> bool:
        """Whether there is a cache file of this configuration, to go on with or to show."""
        for path in entry_files(self._directory, self.task_id):
            try:
                entry = read_head(path)
            except CacheMismatch:
                return True
            run = run_of_entry(entry) if entry is not None else None
            if run is None or not self._is_rescored_in_part(run):
                return True
        return False

    def earlier_runs(self) -> Iterator[Path]:
        """Runs of the same models whose conversations might still be valid.

        Those over a dataset of the same name come first, of them and of the others the newest. A model's
        runs lie under its own name; as another's baseline it is only looked for at datasets of the same name.
        """
        names = set(self._request.typed_models.values())
        models = {sanitize_path_part(name) for name in names}
        own = [each for model in sorted(models) for each in (cache_root() / model).glob("*/")]
        others = set(cache_root().glob(f"*/{self._directory.name}/")) - set(own)
        paths = [path for directory in (*own, *others) for path in entry_files(directory)]
        paths.sort(key=lambda path: (path.parent.name == self._directory.name, age(path)), reverse=True)
        for path in paths:
            with suppress(CacheMismatch):
                entry = read_head(path)
                if entry is None or (
                    path.parent in others and entry.config.get("baseline_model") not in names
                ):
                    continue
                run = run_of_entry(entry)
                if run is not None:
                    yield run

    def _is_rescored_in_part(self, run: Path) -> bool:
        """Whether a run is what `--rescore` made and does not hold all trials of this configuration.

        Nothing is to be asked in it, so a command without `--rescore` neither resumes it nor shows it.
        """
        manifest = read_manifest(run)
        if not manifest.settings.get("rescore"):
            return False
        if store.last_event(run) != "finished":
            return True
        return len(read_table(run).counted()) < self._request.plan.trial_count

    def _find(self, say: Say) -> Path | None:
        settings = self._settings
        paths = entry_files(self._directory, self.task_id)
        if settings.fresh:
            for path in paths:
                self._retire(path)
        if settings.fresh or settings.rescore:
            return None
        for path in paths:
            entry = read_head(path)
            if entry is None:
                aside = set_corrupt_aside(path)
                say(
                    f"The cache file {path} cannot be read; it is kept as {aside.name}, and the eval starts over."
                )
                continue
            if entry.config_hash != self._digest:
                raise CacheMismatch(
                    f"The cache file {path} belongs to another configuration with the same task id. "
                    "Change a parameter, or delete the file."
                )
            run = run_of_entry(entry)
            if run is not None and self._is_rescored_in_part(run):
                continue
            if run is not None:
                if settings.anew and not settings.retry_failed and store.last_event(run) == "finished":
                    return None
                if len(paths) > 1 and not settings.anew:
                    say(f"There are {len(paths)} cache files of task {self.task_id}; using {path.name}.")
                self.entry_path = path
                return run
            say(
                f"The run of {path.name} no longer exists; the file is kept as a backup, and the eval starts over."
            )
            back_up(path)
        return None

    def _retire(self, path: Path) -> None:
        """`--fresh`: keeps a cache file as a backup, with all that its run has done even if it was killed."""
        with suppress(CacheMismatch):
            entry = read_head(path)
            run = run_of_entry(entry) if entry is not None and entry.status == "in_progress" else None
            if run is not None:
                self._project(read_table(run), path)
        back_up(path)

    def project(self, table: RunTable) -> None:
        """Brings the cache file, and the samples if they are wanted, up to what the journal says.

        Raises:
            JournalError: a file cannot be read or written.
        """
        assert self.entry_path is not None
        self._project(table, self.entry_path)

    def _project(self, table: RunTable, path: Path) -> None:
        manifest = read_manifest(table.directory)
        runs = DocumentedRuns(table, manifest)
        finished = table.sessions.state == "finished"
        entry = new_entry(self._config, self._digest, self.task_id, table.directory)
        entry.created_at = moment(manifest.created_at / 1e9)
        entry.status = "completed" if finished else "in_progress"
        write_entry(path, entry, _summed_up(entry, runs) if finished else runs)
        if self._settings.log_samples:
            write_whole(samples_path(path), sample_lines(runs), durable=True, error=JournalError)

    def write_outputs(self, table: RunTable, stop_reason: str | None) -> list[Path]:
        """Writes what `-o` and, of a finished run, `--output-path` ask for; returns the files."""
        written = []
        if self._settings.output is not None:
            runs = DocumentedRuns(table, read_manifest(table.directory))
            document = output_document(runs, stop_reason)
            text = msgspec.json.format(encode_json(document), indent=2)
            write_whole(self._settings.output, [text, b"\n"])
            written.append(self._settings.output)
        if self._settings.output_path is not None and table.sessions.state == "finished":
            written += self._write_structured(self._settings.output_path)
        return written

    def _write_structured(self, root: Path) -> list[Path]:
        assert self.entry_path is not None
        target = root / self._directory.parent.name / self._directory.name
        stem = self.entry_path.stem
        results = target / f"results_{stem}.json"
        write_whole(results, [self.entry_path.read_bytes()])
        samples = samples_path(self.entry_path)
        if not samples.exists():
            return [results]
        copied = target / f"samples_{stem}.jsonl"
        write_whole(copied, [samples.read_bytes()])
        return [results, copied]


def _summed_up(entry: CacheEntry, runs: DocumentedRuns) -> Iterator[DocumentedRun]:
    """The runs; once they have passed, the entry has their summary."""
    results = Results(runs)
    yield from results.counting()
    entry.summary = results.summary
