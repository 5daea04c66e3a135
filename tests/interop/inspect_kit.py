"""Logs as Inspect writes them, made by hand."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MODEL = "openai/small"


def sample(number: int | str, value: Any = "C", *, epoch: int = 1, **more: Any) -> dict[str, Any]:
    """A sample with one answer, which the scorer `match` gave this value."""
    question = f"What is {number} + {number}?"
    return {
        "id": number,
        "epoch": epoch,
        "input": question,
        "target": "right",
        "messages": [
            {"id": f"u{number}", "role": "user", "content": question, "source": "input"},
            {"id": f"a{number}", "role": "assistant", "content": "an answer", "source": "generate"},
        ],
        "output": {"model": "small", "completion": "an answer", "choices": [{"stop_reason": "stop"}]},
        "scores": {"match": {"value": value, "answer": "an answer", "explanation": "because"}},
        "model_usage": {MODEL: {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}},
        "started_at": "2026-11-22T10:00:00+00:00",
        "total_time": 1.5,
        **more,
    }


def header(samples: int, **more: Any) -> dict[str, Any]:
    """The log without its samples; `more` replaces fields of `eval`."""
    about = {
        "created": "2026-11-22T10:00:00+00:00",
        "task": "sums",
        "model": MODEL,
        "dataset": {"samples": samples},
        "config": {"epochs": 1},
        "scorers": [{"name": "match"}],
        "packages": {"inspect_ai": "0.3.285"},
        **more,
    }
    return {"version": 2, "status": "success", "eval": about}


def write_log(path: Path, samples: Sequence[dict[str, Any]], **more: Any) -> Path:
    """Writes an archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        archive.writestr("header.json", json.dumps(header(len(samples), **more)))
    return path
