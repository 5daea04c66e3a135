"""Grading of ARC-AGI's attempts: a grid must be exactly right."""

from __future__ import annotations

from benchwright.catalog.arc_agi.rows import format_grid
from benchwright.catalog.arc_agi.solver import GRIDS_ARTIFACT
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.engine.protocols import Score, Session
from benchwright.formats import count_with_noun
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

STORED_CHARACTERS = 2000
"""Maximum number of characters of the parsed grids that the score stores."""


class GridScorer:
    """Scorer: the share of a task's test inputs that at least one attempt solves.

    An attempt solves a test input if all cells of its grid are right. The official code is score_task in
    scoring.py.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("arc grids", 1)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the share of test inputs that at least one attempt solves.

        The verdict is correct if all test inputs are solved. It is unparsed if no attempt contains a grid.
        """
        expected = [pair["output"] for pair in sample.content["test"]]
        attempts = outcome.artifacts[GRIDS_ARTIFACT]
        solved = [right in tried for right, tried in zip(expected, attempts, strict=True)]
        read = [format_grid(grid) for tried in attempts for grid in tried if grid is not None]
        verdict = Verdict(
            sum(solved) / len(solved) if read else None,
            "\n\n".join(read)[:STORED_CHARACTERS] if read else None,
            expected,
            details={
                "solved": solved,
                "unreadable": sum(grid is None for tried in attempts for grid in tried),
            },
            explanation=f"{sum(solved)} of {count_with_noun(len(solved), 'test input')} solved.",
        )
        return verdict_score(verdict)
