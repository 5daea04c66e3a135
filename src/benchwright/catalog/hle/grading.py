"""Grading of Humanity's Last Exam by a judge or by matching, and the calibration error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import sqrt
from typing import Any

from benchwright.catalog.asking import user
from benchwright.catalog.grading import Verdict, last_match, verdict_score
from benchwright.catalog.hle.rows import MULTIPLE_CHOICE_TYPE
from benchwright.engine.protocols import Score, Session
from benchwright.records import Message, Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import JudgeInfo

_JUDGE_PARAGRAPHS = (
    "Judge whether the following [response] to [question] is correct or not based on the precise and "
    "unambiguous [correct_answer] below.",
    "[question]: {question}",
    "[response]: {response}",
    "Your judgement must be in the format and criteria specified below:",
    "extracted_final_answer: The final exact answer extracted from the [response]. Put the extracted answer "
    "as 'None' if there is no exact, final answer to extract from the response.",
    "[correct_answer]: {correct_answer}",
    "reasoning: Explain why the extracted_final_answer is correct or incorrect based on [correct_answer], "
    "focusing only on if there are meaningful differences between [correct_answer] and the "
    "extracted_final_answer. Do not comment on any background to the problem, do not attempt to solve the "
    "problem, do not argue for any answer different than [correct_answer], focus only on whether the answers "
    "match.",
    "correct: Answer 'yes' if extracted_final_answer matches the [correct_answer] given above, or is within a "
    "small margin of error for numerical problems. Answer 'no' otherwise, i.e. if there if there is any "
    "inconsistency, ambiguity, non-equivalency, or if the extracted answer is incorrect.\n",
    "confidence: The extracted confidence score between 0|\\%| and 100|\\%| from [response]. Put 100 if there "
    "is no confidence score available.",
)


JUDGE_PROMPT = "\n\n".join(_JUDGE_PARAGRAPHS)
"""The official prompt of the judge, word for word, including its mistakes."""


def judge_messages(content: dict[str, Any], answer: str) -> list[Message]:
    """Return the messages that ask the judge about an answer."""
    return [
        user(
            JUDGE_PROMPT.format(
                question=content["question"], response=answer, correct_answer=content["answer"]
            )
        )
    ]


_ANSWER_LINE = re.compile(
    r"^[ \t]*[*_]{0,3}answer[*_]{0,3}:[*_]{0,3}[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE
)
_LETTER = re.compile(r"\(([A-Za-z])\)|([A-Za-z])(?=[.:)]|\s*$)")
_CONFIDENCE = re.compile(r"confidence[*_]{0,3}:[*_]{0,3}\s*(\d{1,9})", re.IGNORECASE)
_MARKUP = str.maketrans("", "", "*$`")


def grade_stated(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the answer on the last "Answer:" line equals the gold answer, else 0.

    Case, spacing and markup are ignored.
    """
    stated = find_stated_answer(answer)
    details = {"confidence": find_stated_confidence(answer)}
    if stated is None:
        return Verdict(None, None, content["answer"], details=details)
    if content["answer_type"] == MULTIPLE_CHOICE_TYPE:
        letter = _LETTER.match(stated)
        stated = (letter[1] or letter[2]) if letter else stated
    same = _plain(stated) == _plain(content["answer"])
    return Verdict(float(same), stated, content["answer"], details=details)


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the answer is right by the rule that llm-benchmarker documents, else 0.

    In a multiple-choice question, the response's letter (A to D) is compared with the right letter. In other
    questions, the gold text may be anywhere in the response.
    """
    from benchwright.catalog.llm_benchmarker_api.evaluators.matching import (
        contains_match,
        exact_match,
        extract_mcq_answer,
    )

    expected = content["answer"]
    if content["answer_type"] == MULTIPLE_CHOICE_TYPE:
        letter = extract_mcq_answer(answer, num_options=4)
        return Verdict(None if letter is None else float(letter == expected.strip()), letter, expected)
    if not answer.strip():
        return Verdict(None, None, expected)
    return Verdict(float(exact_match(answer, expected) or contains_match(answer, expected)), answer, expected)


def find_stated_answer(answer: str) -> str | None:
    """Return the text of the last "Answer:" line, without its markup. Return None if it is missing or blank."""
    found = last_match(_ANSWER_LINE, answer)
    stated = found[1].translate(_MARKUP).strip() if found else ""
    return stated or None


def find_stated_confidence(answer: str) -> int:
    """Return the last stated confidence in percent. Return 100 if none is stated, as in the official code."""
    found = last_match(_CONFIDENCE, answer)
    return min(int(found[1]), 100) if found else 100


def _plain(text: str) -> str:
    return " ".join(text.translate(_MARKUP).casefold().split()).rstrip(".")


OFFICIAL_JUDGE = "o3-mini-2025-01-31"

MAX_JUDGE_TOKENS = 4096

_CORRECT = re.compile(r"\bcorrect[*_\"]{0,3}:[*_\"\s]*(yes|no)\b", re.IGNORECASE)
_EXTRACTED = re.compile(r"extracted_final_answer[*_\"]{0,3}:[*_\" \t]*(.*)", re.IGNORECASE)


class JudgeScorer:
    """Scorer that asks the judge model of the run with the official prompt. `correct: yes` counts as solved.

    `model`: name of the judge that is meant to be used. The name is part of the fingerprint, so that scores
    by different judges are never mixed. The official code requests JSON with a schema. Here the same fields
    are parsed from text, so that any model can judge. The last verdict counts, because the judge quotes the
    answer before it gives its verdict.
    """

    def __init__(self, name: str, model: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("hle judge", 1, JUDGE_PROMPT, model)
        self._params: dict[str, Any] = {"max_completion_tokens": MAX_JUDGE_TOKENS}
        if model == OFFICIAL_JUDGE:
            self._params["temperature"] = None  # it accepts no temperature
        self.judge_info = JudgeInfo(fingerprint(JUDGE_PROMPT), self._params)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Ask the judge. Return 1 if its verdict is yes, else 0. A blank answer has no score.

        A reply without a verdict counts as no, as in the official code.
        """
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
                    "confidence": find_stated_confidence(reply.text),
                    **self.judge_info.score_details(reply.model),
                },
                explanation=reply.text,
            )
        )


def says_yes(judgement: str) -> bool:
    """Return True if the last `correct:` in the judge's reply is followed by yes."""
    found = last_match(_CORRECT, judgement)
    return found is not None and found[1].lower() == "yes"


CALIBRATION_BIN_SIZE = 100
"""The number of answers per bin in the official calibration error."""


def rms_calibration_error(
    confidence: Sequence[float],
    correct: Sequence[bool],
    *,
    last_bin: bool = True,
    size: int = CALIBRATION_BIN_SIZE,
) -> float | None:
    """Return the root mean square over bins of |mean confidence - share correct|, weighted by bin size.

    `confidence` (values from 0 to 1) and `correct` (0 or 1) have equal length. Answers are sorted by
    confidence and divided into bins of `size`; a remainder is added to the last bin. Answers of equal
    confidence stay in their order. The result is None if there are no bins to average.

    With `last_bin=False`, the last bin, which contains the most confident answers, is left out of the sum,
    but its size still counts in the weights. The official code does the same (centerforaisafety/hle,
    calib_err, taken from hendrycks/outlier-exposure).
    """
    total = len(confidence)
    order = sorted(range(total), key=confidence.__getitem__)
    starts = range(0, max(1, total // size) * size, size)
    bins = [order[start:end] for start, end in zip(starts, [*starts[1:], total], strict=True)]
    counted = bins if last_bin else bins[:-1]
    if not total or not counted:
        return None
    squares = 0.0
    for members in counted:
        gap = sum(confidence[one] - correct[one] for one in members) / len(members)
        squares += len(members) / total * gap * gap
    return sqrt(squares)
