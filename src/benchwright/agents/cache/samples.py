"""The conversations of a run as `--log-samples` writes them, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchwright.agents.cache.runs import DocumentedRuns
from benchwright.runs.journal import encode_json, read_body


def sample_lines(directory: Path, runs: DocumentedRuns) -> Iterator[bytes]:
    """{row_index, run_index, model_tag, messages} of every run in `directory` that has messages, in their order."""
    for record in runs.records():
        messages = read_body(directory, record).messages
        if messages:
            sample = {
                "row_index": int(record.sample),
                "run_index": record.repeat,
                "model_tag": runs.tag(record),
                "messages": messages,
            }
            yield encode_json(sample) + b"\n"
