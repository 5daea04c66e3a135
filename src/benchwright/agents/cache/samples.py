"""The logged conversations of a run (`--log-samples`), one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from benchwright.agents.cache.runs import DocumentedRuns, model_tag_of
from benchwright.records import DECODE_ERRORS, TrialRecord
from benchwright.runs.journal import encode_json, read_bodies
from benchwright.runs.manifest import Manifest


class _Place(msgspec.Struct, frozen=True):
    """The row, repeat and model to which a logged line belongs."""

    row_index: int
    run_index: int
    model_tag: str | None


def sample_lines(runs: DocumentedRuns, logged: Path) -> Iterator[bytes]:
    """Yield a line for each run that has messages, in the order of the runs; see `sample_lines_of_records`.

    Runs restored from a cache file come first, because the journal has only their results. Their lines are
    read from the file `logged`.
    """
    if runs.table.reused.equal_mask(1).any():
        yield from _kept_lines(runs, logged)
    if len(runs):
        yield from sample_lines_of_records(runs.records(), runs.table.directory, runs.manifest)


def _kept_lines(runs: DocumentedRuns, logged: Path) -> Iterator[bytes]:
    restored = {
        _Place(record.row_index, record.repeat, model_tag_of(record, runs.manifest))
        for record in runs.records()
        if record.restored_tokens is not None
    }
    with suppress(FileNotFoundError), logged.open("rb") as lines:
        for line in lines:
            with suppress(*DECODE_ERRORS):
                if msgspec.json.decode(line, type=_Place) in restored:
                    yield line


def sample_lines_of_records(
    records: Iterable[TrialRecord], directory: Path, manifest: Manifest
) -> Iterator[bytes]:
    """Yield a line of {row_index, run_index, model_tag, messages} for each journal record that has messages."""
    kept = (record for record in records if record.restored_tokens is None)
    for record, body in read_bodies(directory, kept):
        if body.messages:
            sample = {
                "row_index": record.row_index,
                "run_index": record.repeat,
                "model_tag": model_tag_of(record, manifest),
                "messages": body.messages,
            }
            yield encode_json(sample) + b"\n"
