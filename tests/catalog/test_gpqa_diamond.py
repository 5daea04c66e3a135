"""GPQA Diamond: an order of options for each repeat, and the letter that an answer states."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import Talk, figures, graded

from benchwright.catalog.gpqa_diamond.grading import lenient_letter, stated_letter
from benchwright.catalog.gpqa_diamond.rows import choice_order, right_letter, shown_choices
from benchwright.data.errors import DatasetError
from benchwright.engine.protocols import Score
from benchwright.records import Sample, Trial

ROW = {
    "Question": "Which is a prime?\n",
    "Correct Answer": "7",
    "Incorrect Answer 1": "4",
    "Incorrect Answer 2": "6",
    "Incorrect Answer 3": "8 ",
    "High-level domain": "Physics",
    "Subdomain": "Numbers",
    "Record ID": "rec1",
}


def place(position: int) -> dict[str, Any]:
    """The content of a question of the full set, as far as orders depend on it."""
    return {"choices": ["right", "1", "2", "3"], "position": position, "questions": 198}


async def solved_in(repeat: int, sample: Sample, answer: str) -> tuple[str, Score]:
    """What is asked in a repeat, and the score of an answer to that."""
    talk, task = Talk([answer]), benchmark("gpqa_diamond")
    async with task.open() as solver:
        outcome = await solver.solve(Trial("t", sample, talk.target, repeat=repeat), talk)
    return talk.asked[0][1][-1]["content"], await task.scorers[0].score(sample, outcome, talk)


async def test_made_up_questions_pass_with_their_letters_and_fail_with_any_other(real_rows: Path) -> None:
    played = await validated("gpqa_diamond", real_rows / "gpqa" / "SYNTHETIC_gpqa_diamond.csv")
    assert (played.samples, played.failures) == (6, [])


async def test_the_prompt_is_that_of_simple_evals_with_white_space_as_it_is(tmp_path: Path) -> None:
    (sample,) = samples("gpqa_diamond", write_rows(tmp_path / "train.jsonl", [ROW]))
    talk = Talk(["Answer: C"])
    async with benchmark("gpqa_diamond").open() as solver:
        await solver.solve(Trial("t", sample, talk.target), talk)
    assert talk.asked[0][1] == [
        {"role": "system", "content": "You are a helpful assistant."},
        {
            "role": "user",
            "content": "Answer the following multiple choice question. The last line of your response should be "
            "of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. "
            "Think step by step before answering.\n\nWhich is a prime?\n\n\nA) 8 \nB) 4\nC) 7\nD) 6",
        },
    ]


def test_orders_are_those_of_simple_evals() -> None:
    """The first draws, and how often each letter is right, as its code gives them."""
    assert [choice_order(place(position), 0) for position in range(3)] == [
        [3, 1, 0, 2],
        [3, 1, 2, 0],
        [2, 3, 0, 1],
    ]
    right = [right_letter(place(position), repeat) for repeat in range(4) for position in range(198)]
    assert Counter(right[:198]) == {"A": 56, "B": 47, "C": 47, "D": 48}
    assert Counter(right) == {"A": 192, "B": 196, "C": 208, "D": 196}


def test_each_repeat_has_orders_of_its_own() -> None:
    first, second = ([choice_order(place(position), repeat) for position in range(198)] for repeat in (0, 1))
    assert first != second


async def test_the_right_letter_is_that_of_the_repeat(tmp_path: Path) -> None:
    (sample,) = samples("gpqa_diamond", write_rows(tmp_path / "train.jsonl", [ROW]))
    values = {}
    for repeat in range(6):
        asked, score = await solved_in(repeat, sample, "Answer: C")
        values[repeat] = score.value
        assert ("\nC) 7" in asked) == (score.value == 1.0)
        assert score.detail is not None
        assert (score.detail["expected"], score.detail["order"]) == (
            right_letter(sample.content, repeat),
            choice_order(sample.content, repeat),
        )
    assert set(values.values()) == {0.0, 1.0}


async def test_of_two_equal_choices_one_is_right(tmp_path: Path) -> None:
    row = ROW | {"Incorrect Answer 1": "7"}
    (sample,) = samples("gpqa_diamond", write_rows(tmp_path / "train.jsonl", [row]))
    scores = [(await solved_in(0, sample, f"Answer: {letter}"))[1].value for letter in "ABCD"]
    assert sorted(scores, key=str) == [0.0, 0.0, 0.0, 1.0]
    assert shown_choices(sample.content, 0).count("7") == 2


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("I think.\nAnswer: A", "A"),
        ("Answer:B", "B"),
        ("answer : $D$", "D"),
        ("**Answer: A**", "A"),
        # the first one, whatever follows
        ("Answer: A\nNo.\nAnswer: B", "A"),
        # the letter stays as it is written
        ("answer: c", "c"),
        ("Answer: carbon dioxide", "c"),
        ("**Answer:** A", None),
        ("Answer: (C)", None),
        ("Answer: \\boxed{A}", None),
        ("Answer:\nC", None),
        ("The answer is C", None),
        ("Answer: E", None),
        ("", None),
    ],
)
def test_the_stated_letter_is_read_as_simple_evals_reads_it(answer: str, letter: str | None) -> None:
    assert stated_letter(answer) == letter


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("**Answer:** A", "A"),
        ("Answer: (C)", "C"),
        ("Answer: $\\boxed{\\text{A}}$", "A"),
        ("Answer:\nC", "C"),
        ("The answer is C.", "C"),
        ("Answer: A\nNo.\nAnswer: B", "B"),
        ("The answer is a prime", None),
        ("Answer: Carbon", None),
        ("A", None),
    ],
)
def test_a_lenient_reading_takes_the_last_letter_in_any_markup(answer: str, letter: str | None) -> None:
    assert lenient_letter(answer) == letter


async def test_the_lenient_figure_stands_beside_the_score(tmp_path: Path) -> None:
    (sample,) = samples("gpqa_diamond", write_rows(tmp_path / "train.jsonl", [ROW]))
    _, score = await solved_in(0, sample, "The answer is C.")
    assert (score.value, score.detail and score.detail["lenient"]) == (None, True)
    scores = [
        graded(1.0, {"lenient": True}),
        graded(None, {"lenient": True}),
        graded(0.0, {"lenient": False}),
    ]
    assert figures(benchmark("gpqa_diamond"), scores) == {"accuracy_lenient": pytest.approx(2 / 3)}


@pytest.mark.parametrize("column", ["Question", "Correct Answer", "Record ID"])
def test_a_row_without_a_column_is_told_by_its_name(tmp_path: Path, column: str) -> None:
    row = {name: value for name, value in ROW.items() if name != column}
    path = write_rows(tmp_path / "train.jsonl", [row])
    with pytest.raises(DatasetError, match=f"Row 0: .*`{column}`"):
        list(benchmark("gpqa_diamond").samples(source("gpqa_diamond", path)))
