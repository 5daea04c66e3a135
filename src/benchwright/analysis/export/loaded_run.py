"""A loaded run, for use in Python programs."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from benchwright.analysis.export.requests import RequestRows
from benchwright.analysis.export.trials import TrialRows
from benchwright.analysis.summary_records import RunSummary
from benchwright.interop.result_formats import find_or_import_run
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.table import RunTable


class LoadedRun(msgspec.Struct, frozen=True):
    """A loaded run: its manifest (configuration, versions), its trials as rows, and its requests as rows."""

    directory: Path
    manifest: Manifest
    trials: TrialRows
    requests: RequestRows

    def summary(self) -> RunSummary:
        """Return the summary that `benchwright show` displays."""
        from benchwright.analysis.summary import summary_of

        return summary_of(self.directory)


def load_run(run: str | os.PathLike[str]) -> LoadedRun:
    """Open a run by its directory, its id, or a unique part of the id, without reading its journal yet.

    >>> run = benchwright.load_run("20261121T10")  # doctest: +SKIP
    >>> [trial.scores["exact"] for trial in run.trials if trial.status == "scored"]  # doctest: +SKIP

    Raises:
        UserError: If there is no such run.
    """
    directory = find_or_import_run(os.fspath(run))
    manifest = read_manifest(directory)
    table = RunTable(directory, [scorer.name for scorer in manifest.scorers], effort=True)
    return LoadedRun(directory, manifest, TrialRows(table, manifest), RequestRows(directory, manifest))
