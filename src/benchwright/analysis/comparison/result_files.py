"""The fields of a documented result file that a comparison reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.comparison.sides_from_files import (
    SampleFacts,
    is_failed_sample,
    sample_failure_reasons,
)
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS, Record
from benchwright.statistic import NoScore


class ResultFile(Record, frozen=True):
    """The fields of a result file that are read. Any file of the documented shape is accepted."""

    benchmark: str
    model: str
    num_samples: int | None = None
    accuracy: float | None = None
    score: float | None = None
    variant: str | None = None
    simulated: bool = False
    aggregated_metrics: dict[str, Any] = {}
    sample_results: list[SampleFacts] = []

    @property
    def no_score(self) -> NoScore | None:
        """The reason why no sample of the file was scored.

        None if a sample was scored, or if the file lists no samples.
        """
        count = sum(map(is_failed_sample, self.sample_results))
        if not count or count < len(self.sample_results):
            return None
        return NoScore(count, sample_failure_reasons(self.sample_results))

    @property
    def title(self) -> str:
        """The name of the benchmark with its variant."""
        return self.benchmark if self.variant is None else f"{self.benchmark}:{self.variant}"


def read_result_file(path: Path) -> ResultFile:
    """Read a result file.

    Raises:
        UserError: If the file does not exist or has another shape.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=ResultFile)
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}.") from None
    except DECODE_ERRORS as error:
        raise UserError(f"{path} is not a result file of `run`: {error}.") from None
