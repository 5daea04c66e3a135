"""Grading of Multi-IF's conversations (facebookresearch/Multi-IF, metrics.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchwright.catalog.asking import join_turns
from benchwright.catalog.grading import Verdict, function_address, verdict_score
from benchwright.catalog.ifeval.grading import (
    InstructionVerdicts,
    describe_verdicts,
    follows_documented,
    judge_instructions,
    score_details,
)
from benchwright.catalog.ifeval.splitters import Splitter
from benchwright.catalog.multi_if.rules import build_rules
from benchwright.catalog.multi_if.solver import ANSWERS_ARTIFACT
from benchwright.engine.offload import offload
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

GradeTurns = Callable[[dict[str, Any], Sequence[str]], Verdict]


def grade(splitter: Splitter, content: dict[str, Any], answers: Sequence[str]) -> Verdict:
    """Return the mean of the four published accuracies over all turns.

    The conversation counts as correct if all turns pass strictly.

    A turn has two accuracies by its strict verdicts, and the same two by its loose verdicts: whether all
    instructions are followed (1 or 0), and the share of instructions followed. Published figures pool the
    instructions of all conversations; see `figures`.
    """
    per_turn = []
    scores = []
    for turn, answer in zip(content["turns"], answers, strict=True):
        followed = judge_instructions(
            build_rules(splitter).follows, turn["instructions"], answer, blank=not answer
        )
        per_turn.append(_turn(turn, followed))
        scores.append(
            (
                all(followed.strict_verdicts)
                + _share(followed.strict_verdicts)
                + all(followed.loose_verdicts)
                + _share(followed.loose_verdicts)
            )
            / 4
        )
    return Verdict(
        sum(scores) / len(scores),
        correct=_all_pass(per_turn),
        details={"per_turn": per_turn},
        explanation=_told(content["turns"], per_turn),
    )


def grade_documented(content: dict[str, Any], answers: Sequence[str]) -> Verdict:
    """Return 1 if every turn follows all its instructions by llm-benchmarker's documented rules, else 0."""
    per_turn = []
    for turn, answer in zip(content["turns"], answers, strict=True):
        passed = [
            bool(answer) and follows_documented(answer, one["id"], one["arguments"])
            for one in turn["instructions"]
        ]
        per_turn.append(_turn(turn, InstructionVerdicts(passed, passed)))
    return Verdict(
        float(_all_pass(per_turn)),
        details={"per_turn": per_turn},
        explanation=_told(content["turns"], per_turn),
    )


class TurnScorer:
    """Scorer that calls a grading function with the answers of all turns, in a worker process."""

    def __init__(self, name: str, version: str, grade: GradeTurns) -> None:
        self.name = name
        self._grade = grade
        self.fingerprint = fingerprint("grade", name, version, function_address(grade))

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the score for the answers of all turns, which the solver stored in the artifacts."""
        return verdict_score(await offload(self._grade, sample.content, outcome.artifacts[ANSWERS_ARTIFACT]))


def _turn(turn: dict[str, Any], followed: InstructionVerdicts) -> dict[str, Any]:
    return {"correct": all(followed.strict_verdicts)} | score_details(turn["instructions"], followed)


def _told(turns: Sequence[dict[str, Any]], per_turn: Sequence[dict[str, Any]]) -> str:
    return join_turns(
        [
            describe_verdicts(turn["instructions"], [one["passed"] for one in graded["per_instruction"]])
            for turn, graded in zip(turns, per_turn, strict=True)
        ]
    )


def _all_pass(per_turn: Sequence[dict[str, Any]]) -> bool:
    return all(turn["correct"] for turn in per_turn)


def _share(followed: Sequence[bool]) -> float:
    return sum(followed) / len(followed)
