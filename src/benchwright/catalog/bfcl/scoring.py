"""The scorers: they look at the last message's tool calls, at its text, or at all turns of a conversation."""

from __future__ import annotations

from benchwright.catalog.bfcl.asking import Mode
from benchwright.catalog.bfcl.categories import CATEGORIES
from benchwright.catalog.bfcl.execution import Executor
from benchwright.catalog.bfcl.grading import grade_text, grade_tools, verdict
from benchwright.catalog.bfcl.multi_turn import judged, shown_turns
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

VERSION = "1"


class BfclScorer:
    """Applies the official rules to an outcome."""

    def __init__(self, name: str, mode: Mode, executor: Executor) -> None:
        self.name = name
        self._mode = mode
        self._executor = executor
        self.fingerprint = fingerprint("bfcl", name, VERSION, mode)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Grades one outcome."""
        return verdict_score(await self._graded(sample, outcome))

    async def _graded(self, sample: Sample, outcome: Outcome) -> Verdict:
        content = sample.content
        category = CATEGORIES[content["category"]]
        if category.kind == "multi_turn":
            wrong = await judged(self._executor, content, outcome.artifacts)
            return verdict(category, shown_turns(outcome.artifacts), content["answer"], wrong)
        if self._mode == "prompt":
            return grade_text(content, outcome.answer)
        last = outcome.messages[-1] if outcome.messages else {}
        return grade_tools(content, last, outcome.answer)
