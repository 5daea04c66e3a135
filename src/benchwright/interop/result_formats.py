"""Recognises the formats of other programs' results, and imports the runs in a path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchwright.interop import (
    evalscope,
    harbor,
    inspect_log,
    lm_eval,
    mini_swe_agent,
    promptfoo,
    score_lines,
    swe_agent,
)
from benchwright.interop.foreign_results import ReadResults, UnreadableResults
from benchwright.interop.run_import import StoredRun, store_run
from benchwright.interop.source_files import SourceFiles
from benchwright.runs.manifest import MANIFEST_FILE
from benchwright.runs.store import find_run, run_names
from benchwright.user_paths import expand_user_path


class ResultFormat(NamedTuple):
    """A format that can be imported.

    It has a name, a title, and two functions: one that recognises files of the format and one that reads
    them.
    """

    name: str
    title: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path], ReadResults]


RESULT_FORMATS = (
    ResultFormat("inspect", "Inspect logs (.eval, .json)", inspect_log.recognises, inspect_log.read),
    ResultFormat("lm-eval", "lm-evaluation-harness results with samples", lm_eval.recognises, lm_eval.read),
    ResultFormat("evalscope", "EvalScope output folders", evalscope.recognises, evalscope.read),
    ResultFormat("promptfoo", "promptfoo results", promptfoo.recognises, promptfoo.read),
    ResultFormat("harbor", "Harbor jobs", harbor.recognises, harbor.read),
    ResultFormat(
        "mini-swe-agent", "mini-SWE-agent trajectories", mini_swe_agent.recognises, mini_swe_agent.read
    ),
    ResultFormat("swe-agent", "SWE-agent trajectories", swe_agent.recognises, swe_agent.read),
    ResultFormat("scores", "JSON Lines of ids and scores", score_lines.recognises, score_lines.read),
)


def format_of(path: Path) -> ResultFormat | None:
    """Return the format of a file or folder. None if no known format matches.

    Raises:
        UnreadableResults: If the path cannot be read.
    """
    try:
        return next((one for one in RESULT_FORMATS if one.recognises(path)), None)
    except OSError as error:
        raise UnreadableResults(f"{path} cannot be read: {error.strerror}.") from None


def find_result_paths(path: Path) -> list[Path]:
    """Return the path itself if its format is known.

    Otherwise return the entries of the folder that have a known format.

    Raises:
        UnreadableResults: If the path does not exist, or contains nothing in a known format.
    """
    if not path.exists():
        raise UnreadableResults(f"There is no file or folder {path}.")
    if format_of(path) is not None:
        return [path]
    found = [one for one in sorted(path.iterdir()) if format_of(one) is not None] if path.is_dir() else []
    if not found:
        known = ", ".join(one.title for one in RESULT_FORMATS)
        raise UnreadableResults(f"{path} holds no results that can be read. What can be read: {known}.")
    return found


class ImportResult(NamedTuple):
    """The result of an import: the runs in the store, and the errors of runs that could not be read."""

    runs: list[StoredRun]
    unreadable_results: list[UnreadableResults]


def import_runs(path: Path) -> ImportResult:
    """Import the runs in a path of a known format into the store.

    Runs that are in the store already stay as they are.

    Raises:
        UnreadableResults: If the format is unknown, or no run can be read.
        JournalError: If the store cannot be written.
    """
    found = format_of(path)
    if found is None:
        raise UnreadableResults(f"{path} holds no results that can be read.")
    sources = SourceFiles(path)
    imported = ImportResult([], [])
    for run in found.read(path):
        try:
            if isinstance(run, UnreadableResults):
                raise run
            imported.runs.append(store_run(run, sources))
        except UnreadableResults as error:
            imported.unreadable_results.append(error)
    if not imported.runs and imported.unreadable_results:
        raise imported.unreadable_results[0]
    return imported


def find_or_import_run(reference: str) -> Path:
    """Return the directory of a run.

    It is found by `store.find_run`, or imported from another program's results.

    Raises:
        UserError: If no run matches, several runs match, or the results are damaged or contain several runs.
        JournalError: If the store cannot be written.
    """
    path = expand_user_path(reference)
    if not path.exists() or (path / MANIFEST_FILE).exists():
        return find_run(reference)
    if format_of(path) is None:
        if not any(reference in name for name in run_names()):
            find_result_paths(path)  # raises an error that lists the known formats, if it contains none
        return find_run(reference)
    kept, unread = import_runs(path)
    names = ", ".join(one.directory.name for one in kept)
    if unread:
        raise UnreadableResults(f"{unread[0]} What can be read is imported, so give one of: {names}")
    if len(kept) != 1:
        raise UnreadableResults(
            f"{path} holds {len(kept)} runs; they are imported, so give one of them: {names}"
        )
    return kept[0].directory
