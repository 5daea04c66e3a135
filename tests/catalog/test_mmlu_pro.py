"""MMLU-Pro: five shots, and three stages in which a letter is looked for."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored

from benchwright.catalog.mmlu_pro.grading import find_letter
from benchwright.catalog.registry import find_about
from benchwright.data.errors import DatasetError
from benchwright.records import Status

ROW = {
    "question_id": 7,
    "question": "Which is a prime?",
    "options": ["4", "6", "7", "N/A", "N/A"],
    "answer": "C",
    "answer_index": 2,
    "cot_content": "",
    "category": "math",
    "src": "synthetic",
}
SHOT = {
    **ROW,
    "question": "Which is even?",
    "options": ["1", "2"],
    "answer": "B",
    "answer_index": 1,
    "cot_content": "A: Let's think step by step. 2 is even. The answer is (B).",
}
CONTENT = {"question": "?", "choices": ["4", "6", "7"], "answer": "C", "category": "math"}


@pytest.mark.parametrize("name", ["mmlu_pro", "mmlu_pro:documented"])
async def test_real_questions_pass_with_their_answers_and_fail_with_any_other(
    name: str, real_rows: Path
) -> None:
    played = await validated(name, real_rows / "mmlu_pro")
    assert (played.samples, played.failures) == (50, [])


async def test_the_prompt_shows_five_worked_questions_of_the_category(tmp_path: Path) -> None:
    others = [{**SHOT, "question": "Who?", "category": "law"}]
    shots = [{**SHOT, "question": f"Shot {number}?"} for number in range(6)]
    write_rows(tmp_path / "validation.jsonl", [*others, *shots])
    write_rows(tmp_path / "test.jsonl", [ROW])
    task = benchmark("mmlu_pro")
    (sample,) = task.samples(source("mmlu_pro", tmp_path))
    (message,), params = await asked(task, sample)
    worked = "Options:\nA. 1\nB. 2\nAnswer: Let's think step by step. 2 is even. The answer is (B).\n\n"
    assert message["content"] == (
        "The following are multiple choice questions (with answers) about math. Think step by step and then "
        'finish your answer with "the answer is (X)" where X is the correct letter choice.\n\n\n\n'
        + "".join(f"Question:\nShot {number}?\n{worked}" for number in range(5))
        + "Question:\nWhich is a prime?\nOptions:\nA. 4\nB. 6\nC. 7\nAnswer: Let's think step by step."
    )
    assert params == {}
    assert task.departures == []


def test_an_answer_ends_where_the_model_would_ask_the_next_question() -> None:
    assert find_about("mmlu_pro").params == {"stop": ["Question:"]}


def test_what_always_differs_from_the_authors_code_is_listed() -> None:
    chat, guess = find_about("mmlu_pro").departures
    assert "leave shots out of prompts of 2,048 tokens and more" in chat
    assert "an answer without a letter counts as wrong" in guess


def test_without_a_validation_split_it_is_zero_shot_and_says_so(real_rows: Path) -> None:
    task = benchmark("mmlu_pro")
    sample = next(task.samples(source("mmlu_pro", real_rows / "mmlu_pro")))
    assert sample.content["shots"] == []
    assert [departure.partition(":")[0] for departure in task.departures] == ["zero-shot"]


def test_fillers_are_no_options(tmp_path: Path) -> None:
    (sample,) = samples("mmlu_pro", write_rows(tmp_path / "test.jsonl", [ROW]))
    assert sample.id == "mmlu_pro_7"
    assert sample.content["choices"] == ["4", "6", "7"]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        # stage 1: the first "answer is X"
        ("So the answer is (C).", ("C", 1)),
        ("answer is C. No, the answer is (D).", ("C", 1)),
        ("answer: B. Still, the answer is (C)", ("C", 1)),
        # its pattern does not look at what follows the letter
        ("The answer is Caesar.", ("C", 1)),
        # stage 2: of the first line with "answer: X" the last one
        ("Answer: C", ("C", 2)),
        ("answer: A or answer: B\nanswer: C", ("B", 2)),
        ("Answer:\n\nC", ("C", 2)),
        # a match that starts within the one before it: the A of "Answer" was the letter
        ("answer: Answer: B", ("B", 2)),
        # stage 3: the last letter that stands alone
        ("Either B or D, rather D", ("D", 3)),
        ("(B)", ("B", 3)),
        # which takes the pronoun and the article for letters, as published
        ("B, I think", ("I", 3)),
        ("This is A prime.", ("A", 3)),
        # nothing stands alone
        ("BD or Kb", None),
        ("K", None),
        ("hard to say", None),
        ("", None),
    ],
)
def test_a_letter_is_looked_for_in_three_stages(answer: str, found: tuple[str, int] | None) -> None:
    assert find_letter(answer) == found


PIECES = ["answer is ", "(", ")", "A", "B", "J", "K", "Answer:", "answer: ", " ", "\n", "x", "_", "é", "."]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_linear_stages_agree_with_the_published_patterns(text: str) -> None:
    """The published code in its quadratic form."""
    said = re.search(r"answer is \(?([A-J])\)?", text) or re.search(r".*[aA]nswer:\s*([A-J])", text)
    alone = re.search(r"\b[A-J]\b(?!.*\b[A-J]\b)", text, re.DOTALL)
    expected = said[1] if said else alone[0] if alone else None
    found = find_letter(text)
    assert (found.letter if found else None) == expected


@pytest.mark.parametrize(
    "hostile",
    ["A " * 500_000, "answer:" * 150_000, "answer:" + " " * 1_000_000, "answer: A" * 110_000],
    ids=["letters", "marks", "blanks", "answers"],
)
def test_a_megabyte_of_hostile_text_is_read_at_once(hostile: str) -> None:
    before = time.process_time()
    find_letter(hostile)
    assert time.process_time() - before < 2.0  # the published pattern takes hours


async def test_an_answer_without_a_letter_is_unparsed_and_says_among_how_many_one_would_guess() -> None:
    score = await scored("mmlu_pro", {**CONTENT, "answer": "B"}, "hard to say")
    assert score.value is None
    assert score.detail == {"correct": False, "expected": "B", "category": "math", "options": 3}


async def test_the_details_say_which_stage_found_the_letter() -> None:
    score = await scored("mmlu_pro", CONTENT, "Answer: C")
    assert score.value == 1.0
    assert score.span == "C"
    assert score.detail == {"correct": True, "expected": "C", "category": "math", "stage": 2}


def test_figures_stand_beside_the_score_that_counts_unparsed_answers_wrong() -> None:
    math, law = {"category": "math"}, {"category": "law"}
    one_option = {"options": 1, "expected": "A"}
    scores = [
        graded(1.0, {"stage": 1}, labels=math),
        graded(1.0, {"stage": 3}, labels=math),
        graded(None, one_option | {"category": "math"}, labels=math),
        graded(None, one_option | {"category": "law", "expected": "B"}, labels=law),
        graded(None, one_option | {"category": "law"}, labels=law, status=Status.PROVIDER_ERROR),
    ]
    assert figures(benchmark("mmlu_pro"), scores) == {
        "macro_category": pytest.approx((2 / 3 + 0) / 2),
        "accuracy_random_guess": pytest.approx(3 / 5),
        "accuracy_first_stage": pytest.approx(1 / 5),
    }


def test_the_guesses_are_those_of_the_authors_code() -> None:
    """It seeds once with 12345, takes the categories by their names, and guesses twice for each of them."""
    numbers = random.Random(12345)
    guesses: dict[str, list[str]] = {}
    for category in ("law", "math"):
        for _ in range(2):
            guesses[category] = ["ABCDEFGHIJ"[numbers.randint(0, 9)] for _ in range(30)]
    scores = [
        graded(None, {"options": 10, "expected": guess, "category": category})
        for category in ("math", "law")
        for guess in guesses[category]
    ]
    assert figures(benchmark("mmlu_pro"), scores)["accuracy_random_guess"] == 1.0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"options": ["N/A"]}, "`answer_index` is 2, with 0 options"),
        ({"answer_index": 3, "answer": "D"}, "`answer_index` is 3, with 3 options"),
        ({"answer": "A"}, "`answer` is 'A', but `answer_index` is 2"),
        ({"options": []}, r"`\$.options`"),
        ({"question": 5}, r"`\$.question`"),
    ],
)
def test_a_row_that_is_no_question_is_told_by_its_number(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    path = write_rows(tmp_path / "test.jsonl", [ROW, {**ROW, **change}])
    with pytest.raises(DatasetError, match=f"Row 1: .*{complaint}"):
        list(benchmark("mmlu_pro").samples(source("mmlu_pro", path)))
