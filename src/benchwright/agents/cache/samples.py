"""The conversations of a run as `--log-samples` writes them, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchwright.engine.journal import encode_json, read_body, read_lines
from benchwright.engine.manifest import read_manifest
from benchwright.records import TrialRecord


def sample_lines(directory: Path) -> Iterator[bytes]:
    """{row_index, run_index, model_tag, messages} of every trial that has messages, in the journal's order."""
    tagged = len(read_manifest(directory).targets) > 1
    for line in read_lines(directory):
        if not isinstance(line, TrialRecord):
            continue
        messages = read_body(directory, line.body[0]).messages
        if messages:
            sample = {
                "row_index": int(line.sample),
                "run_index": line.repeat,
                "model_tag": line.target if tagged else None,
                "messages": messages,
            }
            yield encode_json(sample) + b"\n"
