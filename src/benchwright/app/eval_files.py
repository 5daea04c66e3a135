"""Documented files of an eval: its cache file, the logged samples, `-o` and `--output-path`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchwright.agents.cache.documents import DocumentedResults, output_document
from benchwright.agents.cache.entry import (
    CacheEntry,
    add_runs,
    format_time,
    new_entry,
    samples_path,
    write_entry,
)
from benchwright.agents.cache.identity import config_hash, task_id
from benchwright.agents.cache.new_runs import NewRuns
from benchwright.agents.cache.paths import cache_root
from benchwright.agents.cache.runs import DocumentedRun, DocumentedRuns
from benchwright.agents.cache.samples import sample_lines, sample_lines_of_records
from benchwright.config import OutputSettings
from benchwright.errors import JournalError, UserError
from benchwright.files import append_to_file, write_atomically
from benchwright.records import Status
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import RunTable


class EvalFiles:
    """Writer of the documented files of one eval configuration. `directory`: the directory of the cache files.

    Raises:
        UserError: If `--output-path` is the cache's own directory.
    """

    def __init__(self, outputs: OutputSettings, directory: Path, config: dict[str, Any]) -> None:
        if outputs.output_path is not None and outputs.output_path.resolve() == cache_root():
            raise UserError(
                f"--output-path is the cache's own directory ({outputs.output_path}); give another one."
            )
        self._outputs = outputs
        self._config = {key: value for key, value in config.items() if value is not None}
        self.digest = config_hash(self._config)
        self.task_id = task_id(self.digest)
        self.directory = directory

    def write_empty_entry(self, path: Path, run: Path) -> None:
        """Write the cache file of a run that has no trials yet. `path`: the cache file; `run`: the run's directory.

        Raises:
            JournalError: If the file cannot be written.
        """
        write_entry(path, self._entry(run))

    def rewrite_files(self, table: RunTable, path: Path) -> None:
        """Rewrite the cache file from the run's journal. Also rewrite the samples file if the user wants one.

        Raises:
            JournalError: If a file cannot be read or written.
        """
        if table.sessions.state != "finished":
            self._write_under_way(table, path)
            return
        runs = DocumentedRuns(table, read_manifest(table.directory))
        entry = self._entry(table.directory)
        entry.status, entry.simulated = "completed", table.simulated
        write_entry(path, entry, _summed_up(entry, runs))
        self._write_samples(runs, path)

    def start_updates(self, table: RunTable, path: Path, again: frozenset[Status]) -> Callable[[], None]:
        """Rewrite the cache file and the samples file from the journal. Return a function that appends later records.

        Each call of that function appends what the journal has gained since the last call. Trials with a status in
        `again` are left out, because the run makes them again.

        Raises:
            JournalError: If a file cannot be read or written. The returned function raises it too.
        """
        entry = self._write_under_way(table, path, again)
        manifest = read_manifest(table.directory)
        for_entry, for_samples = NewRuns(table, manifest), NewRuns(table, manifest)

        def write() -> None:
            add_runs(path, entry, (run for _, run in for_entry.read_new()))
            if self._outputs.log_samples:
                records = (record for record, _ in for_samples.read_new())
                lines = sample_lines_of_records(records, table.directory, manifest)
                append_to_file(samples_path(path), lines, error=JournalError)

        return write

    def _write_under_way(
        self, table: RunTable, path: Path, again: frozenset[Status] = frozenset()
    ) -> CacheEntry:
        runs = DocumentedRuns(table, read_manifest(table.directory), under_way=True, again=again)
        entry = self._entry(table.directory)
        entry.simulated = table.simulated
        write_entry(path, entry, runs)
        self._write_samples(runs, path)
        return entry

    def _write_samples(self, runs: DocumentedRuns, path: Path) -> None:
        if self._outputs.log_samples:
            write_atomically(
                samples_path(path), sample_lines(runs, samples_path(path)), durable=True, error=JournalError
            )

    def _entry(self, run: Path) -> CacheEntry:
        entry = new_entry(self._config, self.digest, self.task_id, run)
        entry.created_at = format_time(read_manifest(run).created_at / 1e9)
        return entry

    def write_outputs(self, table: RunTable, path: Path, stop_reason: str | None) -> list[Path]:
        """Write the file of `-o`. If the run is finished, also write the files of `--output-path`. Return the paths."""
        written = []
        finished = table.sessions.state == "finished"
        if self._outputs.output is not None:
            runs = DocumentedRuns(table, read_manifest(table.directory), under_way=not finished)
            document = output_document(runs, stop_reason)
            text = msgspec.json.format(encode_json(document), indent=2)
            write_atomically(self._outputs.output, [text, b"\n"])
            written.append(self._outputs.output)
        if self._outputs.output_path is not None and finished:
            written += self._write_structured(self._outputs.output_path, path)
        return written

    def _write_structured(self, root: Path, path: Path) -> list[Path]:
        target = root / self.directory.parent.name / self.directory.name
        results = target / f"results_{path.stem}.json"
        write_atomically(results, [path.read_bytes()])
        samples = samples_path(path)
        if not samples.exists():
            return [results]
        copied = target / f"samples_{path.stem}.jsonl"
        write_atomically(copied, [samples.read_bytes()])
        return [results, copied]


def _summed_up(entry: CacheEntry, runs: DocumentedRuns) -> Iterator[DocumentedRun]:
    """Yield the single results of an eval (`runs`, as the cache file calls them).

    Then store their summary in `entry`.
    """
    results = DocumentedResults(runs)
    yield from results.count_runs()
    entry.summary = results.summary
