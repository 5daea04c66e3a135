"""Runs a plan of 100 trials in DIRECTORY, whose files may not grow beyond so many BYTES.

Started by test_full_disk.py: python -m tests.engine.program_with_little_room DIRECTORY BYTES
"""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

from tests.engine.engine_kit import always, plan_of, run_plan

from benchwright.errors import JournalError


def main(directory: Path, size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # Python ignores the signal that comes with it
    try:
        result = asyncio.run(run_plan(plan_of(100, scorers=[always(1.0)]), directory))
    except JournalError as error:
        sys.exit(str(error))
    assert result.is_finished


main(Path(sys.argv[1]), int(sys.argv[2]))
