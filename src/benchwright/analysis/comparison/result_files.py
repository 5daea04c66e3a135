"""What a comparison reads of a documented result file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchwright.errors import UserError
from benchwright.records import UNREADABLE, Record


class SampleScore(Record, frozen=True):
    """What is read of one sample."""

    correct: bool = False
    score: float | None = None


class ResultFile(Record, frozen=True):
    """What is read of a result file; any file of the documented shape will do."""

    benchmark: str
    model: str
    num_samples: int | None = None
    accuracy: float | None = None
    score: float | None = None
    variant: str | None = None
    simulated: bool = False
    aggregated_metrics: dict[str, Any] = {}
    sample_results: list[SampleScore] = []

    @property
    def title(self) -> str:
        """Benchmark, with its variant."""
        return self.benchmark if self.variant is None else f"{self.benchmark}:{self.variant}"


def read_result_file(path: Path) -> ResultFile:
    """Reads a result file.

    Raises:
        UserError: there is none, or it is of another shape.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=ResultFile)
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}.") from None
    except UNREADABLE as error:
        raise UserError(f"{path} is not a result file of `run`: {error}.") from None
