"""`export`: the rows of a run as JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO

from benchwright.analysis.export.inspect_log import write_logs
from benchwright.analysis.export.loaded import load_run
from benchwright.analysis.export.requests import RequestRows
from benchwright.analysis.export.trajectories import write_trajectories
from benchwright.analysis.export.trials import TrialRows
from benchwright.errors import UserError
from benchwright.files import whole_file
from benchwright.interop.recognising import run_or_results
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import read_table
from benchwright.suggest import did_you_mean
from benchwright.text import no_formula

BATCH = 5000
"""Rows of one group of a Parquet file."""

AnyRows = TrialRows | RequestRows


def export_logs(run: str, directory: Path) -> list[Path]:
    """Writes a run as logs of Inspect, one for each target; returns their paths.

    Raises:
        UserError: there is no such run, or a log cannot be written.
        JournalError: the journal cannot be read.
    """
    found = run_or_results(run)
    return write_logs(read_manifest(found), read_table(found, effort=True), directory)


def export(run: str, what: str, path: Path, form: str | None = None) -> int:
    """Writes the rows of a run, whole or not at all; returns how many there are.

    `what` is `trials` or `requests`; `form` is `jsonl`, `csv` or `parquet`, by default the file's suffix.

    Raises:
        UserError: there is no such run or format, the file cannot be written, or pyarrow is missing.
        JournalError: the journal cannot be read.
    """
    form = form or path.suffix.removeprefix(".").lower()
    if form not in WRITERS:
        raise UserError(
            f"{path}: give --format, one of {', '.join(WRITERS)}.{did_you_mean(form, WRITERS)}"
            if form
            else f"{path} has no suffix: give --format, one of {', '.join(WRITERS)}."
        )
    loaded = load_run(run)
    rows: AnyRows = loaded.trials if what == "trials" else loaded.requests
    if form == "parquet":
        _require_pyarrow()
    with whole_file(path) as file:
        return WRITERS[form](rows, file)


def export_trajectories(run: str, directory: Path) -> int:
    """Writes the trajectories of a run in ATIF, a file for each trial; returns how many there are.

    Raises:
        UserError: there is no such run, or a file cannot be written.
        JournalError: the journal cannot be read.
    """
    found = run_or_results(run)
    written = write_trajectories(read_manifest(found), read_table(found, effort=True), directory)
    return sum(1 for _ in written)


def _write_json_lines(rows: AnyRows, file: IO[bytes]) -> int:
    count = 0
    for row in rows.to_dicts():
        file.write(encode_json(row) + b"\n")
        count += 1
    return count


def _write_csv(rows: AnyRows, file: IO[bytes]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow([no_formula(name) for name, _ in rows.columns])
    count = 0
    for row in rows.to_dicts():
        writer.writerow([no_formula(value) for value in row.values()])
        count += 1
    text.flush()
    text.detach()
    return count


def _require_pyarrow() -> None:
    try:
        import_module("pyarrow.parquet")
    except ImportError:
        raise UserError('Parquet needs pyarrow: pip install "benchwright[parquet]".') from None


def _write_parquet(rows: AnyRows, file: IO[bytes]) -> int:
    import pyarrow
    import pyarrow.parquet

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in rows.columns])
    count = 0
    source = rows.to_dicts()
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        while batch := list(islice(source, BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


WRITERS: Mapping[str, Callable[[AnyRows, IO[bytes]], int]] = {
    "jsonl": _write_json_lines,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
