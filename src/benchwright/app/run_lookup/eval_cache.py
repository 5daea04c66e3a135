"""Run lookup for `eval`: its documented cache files determine which run belongs to a configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path

from msgspec.structs import replace

from benchwright.agents.cache.entry import (
    CacheEntry,
    CacheMismatch,
    age_sort_key,
    back_up_entry,
    entry_files,
    parse_created_at,
    read_entry_head,
    read_runs,
    rename_corrupt_entry,
    unused_entry_path,
)
from benchwright.agents.cache.paths import cache_root, sanitize_path_part
from benchwright.agents.cache.restoring import restore_trials
from benchwright.app.cached_evals import run_of_entry
from benchwright.app.eval_files import EvalFiles
from benchwright.app.launch import is_complete, statuses_to_retry
from benchwright.app.prepared_run import RunRequest
from benchwright.app.run_lookup.unfinished_runs import check_resumable
from benchwright.config import EvalResuming
from benchwright.engine.live_files import writing_periodically
from benchwright.errors import JournalError, UserError
from benchwright.home import runs_directory
from benchwright.runs import store
from benchwright.runs.journal import TRIALS_FILE
from benchwright.runs.manifest import MANIFEST_FILE, read_manifest, write_manifest
from benchwright.runs.manifest_facts import suite_of
from benchwright.runs.table import RunTable, read_table
from benchwright.runs.tags_and_notes import delete_run
from benchwright.text import Say


class EvalCacheLookup:
    """Run lookup that finds, creates and updates the cache entry of one eval configuration.

    A cache entry is a cache file, together with the run whose results the file contains.
    """

    def __init__(self, request: RunRequest, resuming: EvalResuming, files: EvalFiles) -> None:
        self._request = request
        self._resuming = resuming
        self._files = files
        self._directory = files.directory
        self.task_id = files.task_id
        self._path: Path | None = None

    @property
    def entry_path(self) -> Path:
        """Path of the cache file. It is set once `open_run` has been entered."""
        assert self._path is not None
        return self._path

    @asynccontextmanager
    async def open_run(self, make: Callable[[], Path], say: Say) -> AsyncIterator[Path]:
        """Find or make the run, and yield its directory; see `RunLookup.run_of`.

        The lock file beside the cache file is held until the context exits.

        Raises:
            UserError: If the run was named by the user, and its data, code or rules have changed since.
        """
        if self._resuming.run is not None:
            check_resumable(self._resuming.run, self._request.fingerprint)
        async with store.file_lock(self._directory / f"{self.task_id}.lock", say):
            directory = self._find(make, say)
            if directory is None:
                self._delete_unbegun()
                directory = make()
                self._path = unused_entry_path(self._directory, self.task_id)
                self._files.write_empty_entry(self._path, directory)
            yield directory

    def has_entry(self) -> bool:
        """Return True if this configuration has a cache file whose run can be resumed or shown."""
        for path in entry_files(self._directory, self.task_id):
            try:
                entry = read_entry_head(path)
            except CacheMismatch:
                return True
            run = run_of_entry(entry) if entry is not None else None
            if run is None or not self._is_rescored_in_part(run):
                return True
        return False

    def earlier_runs(self) -> Iterator[Path]:
        """Yield runs of the same models whose conversations this run may be able to reuse.

        Runs on a dataset of the same name come first. Among the runs on such a dataset, and among all other runs,
        the newest come first. Runs in which the model was only the baseline are found only for datasets of the same
        name.
        """
        names = set(self._request.typed_models.values())
        models = {sanitize_path_part(name) for name in names}
        own = [each for model in sorted(models) for each in (cache_root() / model).glob("*/")]
        others = set(cache_root().glob(f"*/{self._directory.name}/")) - set(own)
        paths = [path for directory in (*own, *others) for path in entry_files(directory)]
        paths.sort(
            key=lambda path: (path.parent.name == self._directory.name, age_sort_key(path)), reverse=True
        )
        for path in paths:
            with suppress(CacheMismatch):
                entry = read_entry_head(path)
                if entry is None or (
                    path.parent in others and entry.config.get("baseline_model") not in names
                ):
                    continue
                run = run_of_entry(entry)
                if run is not None:
                    yield run

    @asynccontextmanager
    async def keep_files_updated(self, table: RunTable) -> AsyncIterator[None]:
        """Update the cache and samples files from the journal while the context is open; see `engine.live_files`.

        Write errors are ignored here, because the end of the session reports them.
        """
        if is_complete(table, self._request):
            yield
            return
        growing = None
        with suppress(JournalError):  # the end of the session reports why they cannot be written
            growing = self._files.start_updates(table, self.entry_path, statuses_to_retry(self._resuming))
        async with writing_periodically(growing) if growing is not None else nullcontext():
            yield

    def rewrite_files(self, table: RunTable) -> None:
        """Rewrite the cache and samples files from the journal; see `EvalFiles.rewrite_files`."""
        self._files.rewrite_files(table, self.entry_path)

    def _is_rescored_in_part(self, run: Path) -> bool:
        """Return True if a run was made by `--rescore` and lacks trials of this configuration.

        Such a run took over existing answers and sends no requests, so a command without `--rescore` neither
        resumes nor shows it.
        """
        manifest = read_manifest(run)
        if not manifest.settings.get("rescore"):
            return False
        if store.last_event_name(run) != "finished":
            return True
        return len(read_table(run).counted_rows()) < self._request.plan.trial_count

    def _find(self, make: Callable[[], Path], say: Say) -> Path | None:
        resuming, suite = self._resuming, self._request.settings.label.suite
        paths = entry_files(self._directory, self.task_id)
        if resuming.fresh:
            for path in paths:
                self._retire(path)
        if resuming.fresh or resuming.rescore:
            return None
        for path in paths:
            entry = read_entry_head(path)
            if entry is None:
                self._set_corrupt_aside(path, say)
                continue
            if entry.config_hash != self._files.digest:
                raise CacheMismatch(
                    f"The cache file {path} belongs to another configuration with the same task id. "
                    "Change a parameter, or delete the file."
                )
            run = run_of_entry(entry)
            if run is not None and self._is_rescored_in_part(run):
                continue
            if suite is not None and (run is None or suite != suite_of(read_manifest(run))):
                continue
            if run is not None:
                if resuming.anew and not resuming.retry_failed and store.last_event_name(run) == "finished":
                    return None
                if len(paths) > 1 and not resuming.anew and suite is None:
                    say(f"There are {len(paths)} cache files of task {self.task_id}; using {path.name}.")
                self._path = path
                return run
            if resuming.anew and not resuming.retry_failed and entry.status == "completed":
                return None
            restored = self._restore(path, entry, make, say)
            if restored is not None:
                self._path = path
                return restored
        return None

    def _delete_unbegun(self) -> None:
        """Delete runs of this configuration without trials: their process was killed before the first trial."""
        fingerprint = self._request.fingerprint
        for manifest in runs_directory().glob(f"*-{fingerprint[:8]}*/{MANIFEST_FILE}"):
            directory = manifest.parent
            with suppress(UserError):  # a damaged run, or one in use by another process
                if (
                    not (directory / TRIALS_FILE).exists()
                    and read_manifest(directory).fingerprint == fingerprint
                ):
                    delete_run(directory)

    def _restore(self, path: Path, entry: CacheEntry, make: Callable[[], Path], say: Say) -> Path | None:
        """Recreate the run of a cache file whose run directory is gone. Return None if the file holds no results."""
        runs = read_runs(path)
        if runs is None:
            self._set_corrupt_aside(path, say)
            return None
        if not runs:
            say(
                f"The run of {path.name} no longer exists; the file is kept as a backup, and the eval starts over."
            )
            back_up_entry(path)
            return None
        directory = make()
        made_at = parse_created_at(entry)
        if made_at is not None:
            write_manifest(directory, replace(read_manifest(directory), created_at=made_at))
        source = Path(entry.run).name if entry.run else path.name
        restored = restore_trials(directory, self._request.plan, entry, runs, source)
        say(
            f"The run of {path.name} no longer exists; {restored:,} results are taken over from the file, "
            "without conversations and timings."
        )
        return directory

    def _set_corrupt_aside(self, path: Path, say: Say) -> None:
        aside = rename_corrupt_entry(path)
        say(f"The cache file {path} cannot be read; it is kept as {aside.name}, and the eval starts over.")

    def _retire(self, path: Path) -> None:
        """Back up a cache file, so that `--fresh` can start a new one.

        If the eval was in progress, the file is first rewritten from the run's journal. Otherwise results could be
        missing in the backup, because the process may have been killed before it wrote them.
        """
        with suppress(CacheMismatch):
            entry = read_entry_head(path)
            run = run_of_entry(entry) if entry is not None and entry.status == "in_progress" else None
            if run is not None:
                self._files.rewrite_files(read_table(run), path)
        back_up_entry(path)
