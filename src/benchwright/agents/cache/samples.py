"""The conversations of a run as `--log-samples` writes them, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.agents.cache.runs import DocumentedRuns
from benchwright.runs.journal import encode_json, read_bodies


def sample_lines(runs: DocumentedRuns) -> Iterator[bytes]:
    """{row_index, run_index, model_tag, messages} of every run that has messages, in their order."""
    if not len(runs):
        return
    for record, body in read_bodies(runs.table.directory, runs.records()):
        if body.messages:
            sample = {
                "row_index": int(record.sample),
                "run_index": record.repeat,
                "model_tag": runs.tag(record),
                "messages": body.messages,
            }
            yield encode_json(sample) + b"\n"
