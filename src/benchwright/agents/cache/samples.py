"""The conversations of a run as `--log-samples` writes them, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchwright.agents.cache.runs import DocumentedRuns, tag_of
from benchwright.records import TrialRecord
from benchwright.runs.journal import encode_json, read_bodies
from benchwright.runs.manifest import Manifest


def sample_lines(runs: DocumentedRuns) -> Iterator[bytes]:
    """The lines of all runs that have messages, in their order; see `lines_of`."""
    if len(runs):
        yield from lines_of(runs.records(), runs.table.directory, runs.manifest)


def lines_of(records: Iterable[TrialRecord], directory: Path, manifest: Manifest) -> Iterator[bytes]:
    """{row_index, run_index, model_tag, messages} of those lines of a journal whose trials have messages."""
    for record, body in read_bodies(directory, records):
        if body.messages:
            sample = {
                "row_index": int(record.sample),
                "run_index": record.repeat,
                "model_tag": tag_of(record, manifest),
                "messages": body.messages,
            }
            yield encode_json(sample) + b"\n"
