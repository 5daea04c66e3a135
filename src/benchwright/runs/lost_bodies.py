"""Finds lost bodies of a run. A crash of the machine may delete a body but leave its journal line."""

from __future__ import annotations

from pathlib import Path

from benchwright.runs.journal import BODIES_FILE, BodyLossPoint, read_body_loss_points
from benchwright.runs.journal_tail import file_size


class LostBodies:
    """Determines from file sizes alone whether a body is lost.

    After reading further lines, call `read_sizes` before `is_body_lost`. Bodies are written before their lines, and
    a cut is recorded before new bodies take the place of lost ones. Therefore the size must be read after the
    lines, and the cuts after the size. `torn`: True if `is_body_lost` met a body that ends beyond the end of the
    file.
    """

    def __init__(self, directory: Path) -> None:
        self.torn = False
        self._directory = directory
        self._size = 0
        self._cuts: list[BodyLossPoint] = []

    def read_sizes(self) -> None:
        """Read the current size of the file of bodies, and the cuts.

        Raises:
            JournalError: If the cuts cannot be read.
        """
        self._size = file_size(self._directory / BODIES_FILE)
        self._cuts = read_body_loss_points(self._directory)

    def is_body_lost(self, body: tuple[int, int], line: int) -> bool:
        """Return True if a body is lost.

        `body`: the body's (offset, length). `line`: the offset of its journal line.

        A body without its final newline counts as lost, because resuming the run would remove it.
        """
        offset, length = body
        end = offset + length
        if length and end >= self._size:
            self.torn = True
            return True
        return bool(self._cuts and length) and any(
            line < cut.trials and end >= cut.bodies for cut in self._cuts
        )
