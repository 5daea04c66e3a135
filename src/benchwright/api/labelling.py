"""Stores human labels for a run that was started from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.app.judging.labelling import label_run
from benchwright.app.judging.labels_file import HumanLabel
from benchwright.app.prepared_run import LaunchedRun, PreparedRun
from benchwright.errors import RunUnfinished

if TYPE_CHECKING:
    from benchwright.api.run_progress import ProgressPrinter


async def store_labels(
    prepared: PreparedRun[Any],
    launched: LaunchedRun,
    labels: Sequence[HumanLabel],
    path: Path | None,
    watch: ProgressPrinter,
) -> None:
    """Store human labels of a judge's answers with the run, once the run is finished.

    Raises:
        RunUnfinished: If the judge was not asked about all answers.
    """
    if path is None or not launched.is_finished:
        return
    result = await label_run(prepared, launched.directory, labels, path.name, [], watch.record_message)
    if result is not None and not result.is_finished:
        reason = result.stop_reason or "the judge was not asked to the end"
        raise RunUnfinished(f"{reason} (the same call goes on from there)", launched.directory)
