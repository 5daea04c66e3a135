"""Real multiple-choice rows: from the file to the score, with no code of the user's in between."""

from __future__ import annotations

import os
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

from benchwright.data.columns import PromptColumns
from benchwright.data.rows import read_rows
from benchwright.scorers.registry import make_scorer

REAL_DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[2].parent / "shared/data"))

PHRASINGS = [
    "The answer is ({letter}).",
    "Answer: {letter}",
    "I looked at every option. A plan helps.\n\n**Answer: {letter}**",
    "\\boxed{{{letter}}}",
    "{letter}",
    "{letter}. {text}",
    "**{letter}. {text}**",
    "Let me see.\nThe correct option is {letter}, {text}.",
]


def real_contents(benchmark: str) -> list[dict[str, Any]]:
    path = REAL_DATA / benchmark / "sample.jsonl"
    if not path.exists():
        pytest.skip(f"no real rows at {path}; set BENCHWRIGHT_TEST_DATA")
    rows = list(read_rows(path))
    columns = PromptColumns.find(rows[0])
    return [columns.convert_row(row, index) for index, row in enumerate(rows)]


@pytest.mark.parametrize("benchmark", ["mmlu", "mmlu_pro"])
def test_every_option_stands_under_its_letter(benchmark: str) -> None:
    for content in real_contents(benchmark):
        lines = content["user_prompt"].rpartition("\n\nA. ")
        assert content["user_prompt"].count("\n") >= len(content["options"])
        assert lines[1]
        right = content["options"][ascii_uppercase.index(content["ground_truth"])]
        assert f"\n{content['ground_truth']}. {right}" in content["user_prompt"]


@pytest.mark.parametrize("phrasing", PHRASINGS)
@pytest.mark.parametrize("benchmark", ["mmlu", "mmlu_pro"])
def test_the_right_letter_scores_1_and_every_other_0(benchmark: str, phrasing: str, score: Any) -> None:
    scorer = make_scorer("mcq")
    for content in real_contents(benchmark):
        target = content.pop("ground_truth")
        for letter, text in zip(ascii_uppercase, content["options"], strict=False):
            answer = phrasing.format(letter=letter, text=text)
            scored = score(scorer, answer, target, **content)
            assert scored.value == (1.0 if letter == target else 0.0), answer
