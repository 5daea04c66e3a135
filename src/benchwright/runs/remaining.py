"""Which bodies of a run are still there: a crash of the machine may have taken some of which the lines are kept."""

from __future__ import annotations

from pathlib import Path

from benchwright.runs.journal import BODIES, Cut, read_cuts
from benchwright.runs.tail import size_of


class RemainingBodies:
    """Tells from sizes alone whether a body is lost. `look` again once more lines were read, before asking for them.

    A body is written before its line, and a cut before what takes the place of the lost: so the size is looked at
    after the lines, and the cuts after the size. `torn` says whether a body was asked for that lies beyond the end.
    """

    def __init__(self, directory: Path) -> None:
        self.torn = False
        self._directory = directory
        self._size = 0
        self._cuts: list[Cut] = []

    def look(self) -> None:
        """Sees how much there is now.

        Raises:
            JournalError: it cannot be read where bodies were lost.
        """
        self._size = size_of(self._directory / BODIES)
        self._cuts = read_cuts(self._directory)

    def lack(self, body: tuple[int, int], line: int) -> bool:
        """Whether the body (offset, length) is lost whose line begins at `line`.

        A body whose line end is gone counts as lost: who goes on with the run cuts it off.
        """
        offset, length = body
        end = offset + length
        if length and end >= self._size:
            self.torn = True
            return True
        return bool(self._cuts and length) and any(
            line < cut.trials and end >= cut.bodies for cut in self._cuts
        )
