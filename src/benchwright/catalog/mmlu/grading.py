"""Grading of MMLU's answers by their letter."""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.multiple_choice import letter_verdict

_MARKUP = (
    *("**", "$\\boxed{", "}$", "\\$", "$\\text{", "$", "\\mathrm{", "\\{", "\\text", "\\(", "\\mathbf{"),
    *("{", "\\boxed"),
)
"""The markup that simple-evals removes from an answer before it searches for the letter, in this order."""

_ANSWER_WORDS = (
    *(r"Answer\s*:", r"Answer\s*:\u200b{6}", r"উত্তর\s*:", r"उत्तर\s*:", "উত্তরঃ", r"Antwort\s*:"),
    *(r"답변\s*:", r"정답\s*:", r"답\s*:", r"答案\s*：", r"答案\s*:", r"答\s*：", r"答\s*:", r"答复\s*："),
    *(r"答曰\s*：", "الإجابة:", "الجواب:", "إجابة:", "الإجابة النهائية:", "الإجابة الصحيحة:"),
    *("الإجابة الصحيحة هي:", "الإجابة هي:", "الجواب النهائي:", r"Respuesta\s*:"),
    *(r"Risposta\s*:", r"答え\s*:", r"答え\s*：", r"回答\s*:", r"回答\s*：", r"解答\s*:", r"Jawaban\s*:"),
    *(r"Réponse\s*:", r"Resposta\s*:", r"Jibu\s*:", r"Idahun\s*:", r"Ìdáhùn\s*:", r"Idáhùn\s*:"),
    *(r"Àmọ̀nà\s*:", r"Àdáhùn\s*:", r"Ànúgọ\s*:", r"Àṣàyàn\s*:"),
)
""""Answer:" in the languages that simple-evals supports, in the order in which it tries them."""

_LATIN_LETTERS = dict(zip("أبجدঅবডঢＡＢＣＤ", "ABCD" * 3, strict=True))
"""Mapping from the Arabic, Bengali and full-width letters that mean A to D to the Latin letters."""

_STATED = [re.compile(rf"(?i){words}[ \t]*([A-Dأ-دঅবডঢＡＢＣＤ])") for words in _ANSWER_WORDS]


def stated_letter(answer: str) -> str | None:
    """Return the letter that simple-evals reads from an answer (mmlu_eval.py, common.py).

    The translations of "Answer:" are tried in order. The first translation that is followed by a letter,
    anywhere in the answer, decides, and the first such letter is taken. Matching ignores case, but the letter
    is kept as written, so that a lower-case letter is never right. Return None if there is no letter.
    """
    for mark in _MARKUP:
        answer = answer.replace(mark, "")
    found = next(filter(None, (pattern.search(answer) for pattern in _STATED)), None)
    return found and _LATIN_LETTERS.get(found[1], found[1])


def grade_stated(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the stated letter is the right letter, else 0. An answer that states no letter is unparsed."""
    return letter_verdict(stated_letter(answer), content, subject=content["subject"])


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Grade the letter by the cascade of patterns that llm-benchmarker documents."""
    from benchwright.catalog.llm_benchmarker_api.evaluators.matching import extract_mcq_answer

    return letter_verdict(extract_mcq_answer(answer, num_options=4), content, subject=content["subject"])


def grade_next(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the most probable letter is the right letter, else 0."""
    return letter_verdict(answer or None, content, subject=content["subject"])
