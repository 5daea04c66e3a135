"""Grading of SimpleQA's answers as correct, incorrect or not attempted, by a judge or by matching."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.catalog.asking import user
from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import FAILED_STATUSES, Message, Outcome, Record, Sample
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import JudgeInfo
from benchwright.text import one_line

CORRECT, INCORRECT, NOT_ATTEMPTED = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"

OFFICIAL_JUDGE = "gpt-4.1-2025-04-14"

_GRADES = {"A": CORRECT, "B": INCORRECT, "C": NOT_ATTEMPTED}
_LETTER = re.compile(r"\W*([ABC])(?:\W*|[ ]*[:.)\n].*)", re.DOTALL)
_LETTER_ALONE = re.compile(r"(?<![A-Za-z])(?!A (?!or |and )[a-z])([ABC])(?![A-Za-z])")
_WORD = re.compile(r"\b(?:(NOT[ _]ATTEMPTED)|(INCORRECT|NOT[ _]CORRECT)|(CORRECT))\b", re.IGNORECASE)


class JudgePrompt(Record, frozen=True):
    """A judge's prompt: its text, messages to send before it, and further parameters of the request.

    The text has the placeholders {question}, {target} and {predicted_answer}.
    """

    text: str
    opening_messages: list[Message] = []
    request_params: dict[str, Any] = {}

    def judge_messages(self, content: dict[str, Any], answer: str) -> list[Message]:
        """Return the messages that ask the judge about an answer."""
        filled = self.text.format(
            question=content["question"], target=content["answer"], predicted_answer=answer
        )
        return [*self.opening_messages, user(filled)]


class JudgeScorer:
    """Scorer that asks the judge model of the run for one of three grades.

    The grade correct scores 1; incorrect and not attempted score 0. `model`: name of the judge that is meant
    to be used. The name is part of the fingerprint, so that scores by different judges are never mixed.
    """

    def __init__(self, name: str, model: str, prompt: JudgePrompt) -> None:
        self.name = name
        self.fingerprint = fingerprint(
            "simpleqa judge", 2, prompt.text, prompt.opening_messages, prompt.request_params, model
        )
        self.judge_info = JudgeInfo(fingerprint(prompt.text, prompt.opening_messages), prompt.request_params)
        self._prompt = prompt

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Ask the judge, and return the score for its grade.

        A blank answer is not attempted; no request is sent for it.

        Raises:
            GraderError: If the judge states no grade.
        """
        if not outcome.answer.strip():
            return score_of_grade(None, NOT_ATTEMPTED, sample, outcome)
        asked = self._prompt.judge_messages(sample.content, outcome.answer)
        reply = await session.chat(asked, role="judge", slot="judge", **self._prompt.request_params)
        grade = read_grade(reply.text)
        if grade is None:
            raise GraderError(f"the judge says none of the three grades: {one_line(reply.text, 200)!r}")
        return score_of_grade(
            float(grade == CORRECT), grade, sample, outcome, **self.judge_info.score_details(reply.model)
        )


class WordMatchScorer:
    """Scorer without a judge. An answer is correct if it contains the right answer word for word."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("simpleqa match", 1)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the answer contains the words of the right answer in their order, else 0.

        A blank answer has no score.
        """
        if not outcome.answer.strip():
            return score_of_grade(None, NOT_ATTEMPTED, sample, outcome)
        found = f" {_words(sample.content['answer'])} " in f" {_words(outcome.answer)} "
        return score_of_grade(float(found), CORRECT if found else INCORRECT, sample, outcome)


def score_of_grade(
    value: float | None, grade: str, sample: Sample, outcome: Outcome, **details: Any
) -> Score:
    """Return the score for an answer with this grade. If `value` is None, the answer has no score."""
    details = {"grade": grade, **details}
    predicted = outcome.answer if value is not None else None
    return verdict_score(
        Verdict(value, predicted, sample.content["answer"], details=details, explanation=grade)
    )


def read_grade(said: str) -> str | None:
    """Return the grade that a judge's reply states. Return None if the grade is unclear.

    If the whole reply is a letter (A, B or C), that letter decides. Otherwise, the reply must name a single
    grade: all separate letters and all grades in words must agree. The official pattern takes the first
    letter A, B or C anywhere. It therefore finds C in CORRECT and INCORRECT, and A in NOT_ATTEMPTED, although
    the prompt asks for these words, too. Without any letter it takes C.
    """
    letter = _LETTER.fullmatch(said.strip())
    if letter:
        return _GRADES[letter[1]]
    grades = {_GRADES[found] for found in _LETTER_ALONE.findall(said)}
    grades |= {
        (CORRECT, INCORRECT, NOT_ATTEMPTED)[3 - (word.lastindex or 0)] for word in _WORD.finditer(said)
    }
    return grades.pop() if len(grades) == 1 else None


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the shares of the three grades, the accuracy on attempted questions, and F1.

    Failed trials are left out.

    F1 is the harmonic mean of the share of correct answers and the accuracy on attempted questions
    (arXiv:2411.04368): 2A / (2A + 2B + C), where A answers are correct, B incorrect and C not attempted. If
    nothing was attempted, the accuracy on attempted questions is None; the authors' code returns 0.
    """
    grades = [
        str(one.detail.get("grade", NOT_ATTEMPTED)) for one in graded if one.status not in FAILED_STATUSES
    ]
    right, wrong, none = map(grades.count, (CORRECT, INCORRECT, NOT_ATTEMPTED))
    total, attempted = len(grades), right + wrong
    return [
        Figure("f1", 2 * right / (2 * attempted + none) if total else None),
        Figure("accuracy_given_attempted", right / attempted if attempted else None),
        Figure("incorrect", wrong / total if total else None),
        Figure("not_attempted", none / total if total else None),
    ]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
