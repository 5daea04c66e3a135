"""`export`: writes the rows of a run as JSON Lines, CSV or Parquet, or a whole run in the format of another program."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO

from benchwright.analysis.export.every_eval_ever import write_every_eval_ever
from benchwright.analysis.export.hub_results import write_hub_results
from benchwright.analysis.export.inspect_log import write_inspect_logs
from benchwright.analysis.export.lm_eval import write_lm_eval
from benchwright.analysis.export.loaded_run import load_run
from benchwright.analysis.export.requests import RequestRows
from benchwright.analysis.export.trajectories import write_trajectories
from benchwright.analysis.export.trials import TrialRows
from benchwright.errors import UserError
from benchwright.files import atomic_file
from benchwright.interop.result_formats import find_or_import_run
from benchwright.optional_libraries import importing
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.table import RunTable, read_table
from benchwright.suggestions import did_you_mean
from benchwright.text import escape_formula

ROW_GROUP_SIZE = 5000
"""Number of rows in one row group of a Parquet file."""

AnyRows = TrialRows | RequestRows


def export_folder(run: str, form: str, directory: Path, developer: str | None = None) -> Iterator[Path]:
    """Write a run in the format of another program, one of `FOLDER_WRITERS`. Yield the path of each written file.

    `developer`: the maker of models whose names do not contain their maker (needed for Every Eval Ever only).

    Raises:
        UserError: If there is no such run, the format cannot represent it, or a file cannot be written.
        JournalError: If the journal cannot be read.
    """
    found = find_or_import_run(run)
    manifest, table = read_manifest(found), read_table(found, effort=True)
    if form == "eee":
        return write_every_eval_ever(manifest, table, directory, developer)
    return FOLDER_WRITERS[form](manifest, table, directory)


def export(run: str, what: str, path: Path, form: str | None = None) -> int:
    """Write all rows of a run atomically. Return their number.

    `what`: `trials` or `requests`. `form`: `jsonl`, `csv` or `parquet`; by default the format follows from the
    file's suffix.

    Raises:
        UserError: If there is no such run or format, the file cannot be written, or pyarrow is missing.
        JournalError: If the journal cannot be read.
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
    with atomic_file(path) as file:
        return WRITERS[form](rows, file)


def _write_json_lines(rows: AnyRows, file: IO[bytes]) -> int:
    count = 0
    for row in rows.to_dicts():
        file.write(encode_json(row) + b"\n")
        count += 1
    return count


def _write_csv(rows: AnyRows, file: IO[bytes]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow([escape_formula(name) for name, _ in rows.columns])
    count = 0
    for row in rows.to_dicts():
        writer.writerow([escape_formula(value) for value in row.values()])
        count += 1
    text.flush()
    text.detach()
    return count


def _require_pyarrow() -> None:
    with importing("pyarrow", "Parquet needs", "parquet"):
        import_module("pyarrow.parquet")


def _write_parquet(rows: AnyRows, file: IO[bytes]) -> int:
    import pyarrow
    import pyarrow.parquet

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in rows.columns])
    count = 0
    source = rows.to_dicts()
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        while batch := list(islice(source, ROW_GROUP_SIZE)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


WRITERS: Mapping[str, Callable[[AnyRows, IO[bytes]], int]] = {
    "jsonl": _write_json_lines,
    "csv": _write_csv,
    "parquet": _write_parquet,
}

FOLDER_WRITERS: Mapping[str, Callable[[Manifest, RunTable, Path], Iterator[Path]]] = {
    "inspect": write_inspect_logs,
    "eee": write_every_eval_ever,
    "hf": write_hub_results,
    "atif": write_trajectories,
    "lm-eval": write_lm_eval,
}
