"""The judge of Humanity's Last Exam: another model compares the answer with the gold one."""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.hle.grading import stated_confidence
from benchwright.catalog.hle.prompts import JUDGE_PROMPT, judge_messages
from benchwright.catalog.matching import last_match
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

OFFICIAL_JUDGE = "o3-mini-2025-01-31"

JUDGE_TOKENS = 4096

_CORRECT = re.compile(r"\bcorrect[*_\"]{0,3}:[*_\"\s]*(yes|no)\b", re.IGNORECASE)
_EXTRACTED = re.compile(r"extracted_final_answer[*_\"]{0,3}:[*_\" \t]*(.*)", re.IGNORECASE)


class JudgeScorer:
    """Asks the run's target `judge` with the official prompt; `correct: yes` counts as solved.

    `model` is the judge meant, so that the scores of another are not taken for this one's. The official code
    asks for JSON of a schema; here the same fields are read from text, so that any model can judge. Of several
    verdicts the last one counts, for the judge quotes the answer before it judges.
    """

    def __init__(self, name: str, model: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("hle judge", 1, JUDGE_PROMPT, model)
        self._params: dict[str, Any] = {"max_completion_tokens": JUDGE_TOKENS}
        if model == OFFICIAL_JUDGE:
            self._params["temperature"] = None  # it accepts none

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Asks the judge; no score for an answer that is blank. No verdict counts as no, as in the official code."""
        content = sample.content
        if not outcome.answer.strip():
            return verdict_score(Verdict(None, None, content["answer"], details={"confidence": 100}))
        asked = judge_messages(content, outcome.answer)
        reply = await session.chat(asked, role="judge", slot="judge", **self._params)
        extracted = _EXTRACTED.search(reply.text)
        return verdict_score(
            Verdict(
                float(says_yes(reply.text)),
                extracted[1].strip() if extracted else None,
                content["answer"],
                details={
                    "confidence": stated_confidence(reply.text),
                    "judge": reply.model,
                    "judgement": reply.text,
                },
            )
        )


def says_yes(judgement: str) -> bool:
    """Whether the last `correct:` of a judgement is followed by yes."""
    found = last_match(_CORRECT, judgement)
    return found is not None and found[1].lower() == "yes"
