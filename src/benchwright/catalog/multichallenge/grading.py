"""Grading of MultiChallenge: a judge decides whether the last answer meets a criterion (evaluator.py)."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from benchwright.catalog.asking import user
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import Message, Outcome, Record, Sample
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import JudgeInfo
from benchwright.text import one_line

OFFICIAL_JUDGE = "gpt-4o-2024-08-06"

JUDGE_PROMPT = """You are tasked with evaluating a model response to see if it meets a specific criteria.
The criteria will always be YES/NO evaluation.

The model response is as follows:
<MODEL_RESPONSE>
{}
</MODEL_RESPONSE>

The criteria that the model response must meet is as follows. Be VERY STRICT!:
<CRITERIA>
{}
</CRITERIA>

Print your reasoning followed by your verdict, either "YES" or "NO"."""
"""The judge's prompt, word for word. It does not contain the conversation."""

_SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"type": "string", "enum": ["YES", "NO"]},
    },
    "required": ["reasoning", "verdict"],
    "additionalProperties": False,
}
_FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "JudgeResponse", "schema": _SCHEMA, "strict": True},
}

_WORD = re.compile(r"\b(YES|NO)\b")


class _Judgement(Record, frozen=True):
    verdict: str


class JudgeScorer:
    """Scorer that asks the judge at temperature 0.

    `slot`: the name of the judge among the run's models. If it is None, the evaluated model judges itself.

    The official judge must reply in JSON with the authors' schema. Other judges reply in text, so that any
    model can judge.
    """

    def __init__(self, name: str, model: str, slot: str | None) -> None:
        self.name = name
        self.fingerprint = fingerprint("multichallenge judge", 2, JUDGE_PROMPT, model, slot)
        self._slot = slot
        self._params: dict[str, Any] = {"temperature": 0.0}
        if model == OFFICIAL_JUDGE:
            self._params["response_format"] = _FORMAT
        self.judge_info = JudgeInfo(fingerprint(JUDGE_PROMPT), self._params)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the judge's verdict (YES or NO) is the verdict that the row requires, else 0.

        A blank answer has no score.

        Raises:
            GraderError: If the judge returns no verdict.
        """
        content = sample.content
        if not outcome.answer.strip():
            return verdict_score(Verdict(None, None, content["passes"]))
        asked: list[Message] = [user(JUDGE_PROMPT.format(outcome.answer, content["question"]))]
        reply = await session.chat(asked, role="judge", slot=self._slot, **self._params)
        verdict = read_verdict(reply.text)
        if verdict is None:
            raise GraderError(f"the judge says neither YES nor NO: {one_line(reply.text, 200)!r}")
        return verdict_score(
            Verdict(
                float(verdict == content["passes"]),
                verdict,
                content["passes"],
                details=self.judge_info.score_details(reply.model),
                explanation=reply.text,
            )
        )


def read_verdict(said: str) -> str | None:
    """Return the verdict, YES or NO, in a judge's reply. Return None if the reply contains no verdict.

    The verdict is read from a JSON object. If the reply has no such object, the last YES or NO in capitals
    counts.
    """
    try:
        stated = msgspec.json.decode(said, type=_Judgement).verdict.strip()
        return stated if stated in ("YES", "NO") else None
    except msgspec.ValidationError:
        return None
    except msgspec.DecodeError:
        words = _WORD.findall(said)
        return words[-1] if words else None
