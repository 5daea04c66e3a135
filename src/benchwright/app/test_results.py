"""The results of `test` as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchwright.agents.runners.test_mode import LocalTestBatchResult, LocalTestRunResult
from benchwright.files import write_atomically
from benchwright.runs.journal import encode_json


def results_document(result: LocalTestBatchResult) -> dict[str, Any]:
    """Return the results as a JSON document, as `-o` writes it and `--json` prints it. Times are in milliseconds."""
    summary: dict[str, Any] = {
        "total": result.total,
        "passed": result.passed,
        "failed": result.failed,
        "total_duration_ms": result.total_duration_ms,
        "total_tokens": result.total_tokens,
    }
    if result.stopped_early:
        summary |= {"stopped_early": True, "stop_reason": result.stop_reason}
    return {"summary": summary, "results": [_row_document(row) for row in result.results]}


def write_results(path: Path, result: LocalTestBatchResult) -> None:
    """Write the results as JSON. Parent directories are created, and secrets are replaced.

    Raises:
        UserError: If the file cannot be written.
    """
    text = msgspec.json.format(encode_json(results_document(result)), indent=2)
    write_atomically(path, [text, b"\n"])


def _row_document(row: LocalTestRunResult) -> dict[str, Any]:
    return {
        "row_index": row.row_index,
        "success": row.success,
        "error": row.error,
        "duration_ms": row.duration_ms,
        "token_usage": row.token_usage,
        "reward": row.result.reward if row.result is not None else None,
        "finish_reason": row.result.finish_reason if row.result is not None else None,
    }
