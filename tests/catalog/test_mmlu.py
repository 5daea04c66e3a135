"""MMLU: three ways of asking, and the letters found in the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored

from benchwright.catalog.mmlu.grading import stated_letter
from benchwright.catalog.mmlu.solver import most_probable_letter
from benchwright.catalog.registry import find_about
from benchwright.data.errors import DatasetError

ROW = {
    "question": "Which is a prime?",
    "subject": "elementary_mathematics",
    "choices": ["4", "6", "7", "8"],
    "answer": 2,
}
CONTENT = {**ROW, "answer": "C"}


@pytest.mark.parametrize("name", ["mmlu", "mmlu:documented"])
async def test_real_questions_pass_with_their_answers_and_fail_with_any_other(
    name: str, real_rows: Path
) -> None:
    played = await validated(name, real_rows / "mmlu")
    assert (played.samples, played.failures) == (56, [])


async def test_five_shots_come_from_the_dev_split_of_the_same_subject(tmp_path: Path) -> None:
    dev = [
        {**ROW, "question": f"Shot {number}?", "subject": subject, "answer": 0}
        for subject in ("elementary_mathematics", "astronomy")
        for number in range(6)
    ]
    write_rows(tmp_path / "dev.jsonl", dev)
    write_rows(tmp_path / "test.jsonl", [ROW])
    (sample,) = samples("mmlu:5shot", tmp_path)
    assert [shot["question"] for shot in sample.content["shots"]] == [f"Shot {n}?" for n in range(5)]
    assert (await validated("mmlu:5shot", tmp_path)).failures == []


async def test_the_prompt_is_that_of_simple_evals(tmp_path: Path) -> None:
    (sample,) = samples("mmlu", write_rows(tmp_path / "test.jsonl", [ROW]))
    messages, _ = await asked(benchmark("mmlu"), sample)
    assert messages == [
        {"role": "system", "content": "You are a helpful assistant."},
        {
            "role": "user",
            "content": "Answer the following multiple choice question. The last line of your response should be "
            "of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. "
            "Think step by step before answering.\n\nWhich is a prime?\n\nA) 4\nB) 6\nC) 7\nD) 8",
        },
    ]


def test_it_is_sampled_as_the_published_rows_of_chat_models_were() -> None:
    assert (find_about("mmlu").temperature, find_about("mmlu").max_tokens) == (0.5, 2048)


@pytest.mark.parametrize("name", ["mmlu", "humaneval"])
async def test_a_model_that_refuses_system_messages_can_be_asked_without_one(
    name: str, real_rows: Path
) -> None:
    task = benchmark(name, {"system_message": "no"})
    messages, _ = await asked(task, next(iter(task.samples(source(name, real_rows / name)))))
    assert [message["role"] for message in messages] == ["user"]
    assert task.departures == ("no system message",)
    assert benchmark(name).departures == ()


@pytest.mark.parametrize("name", ["mmlu:5shot", "mmlu:documented"])
def test_other_protocols_keep_their_temperature(name: str) -> None:
    assert find_about(name).temperature == 0.0


def test_a_question_has_its_subject_and_its_category(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "subject": "sociology"}, {**ROW, "subject": "nutrition"}]
    labels = [sample.labels for sample in samples("mmlu", write_rows(tmp_path / "test.jsonl", rows))]
    assert [label["category"] for label in labels] == ["stem", "social sciences", "other"]
    assert labels[0]["subject"] == "elementary_mathematics"


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("So 7 it is.\n\nAnswer: C", "C"),
        ("**Answer:** $\\boxed{C}$", "C"),
        ("Answer: \\(C\\)", "C"),
        # the colon may be on another line than the word, but the letter must be on the line of the colon
        ("ANSWER\n: C", "C"),
        ("Answer:\nC", None),
        # a lower-case letter stays one, and is right nowhere
        ("Answer: c", "c"),
        # nothing has to follow the letter
        ("Answer: Both", "B"),
        # the first one stated counts
        ("Answer: A\nAnswer: C", "A"),
        # in another language, too, and with its letters
        ("Antwort: C", "C"),
        ("Réponse : C", "C"),
        ("答案：Ｃ", "C"),
        ("정답: C", "C"),
        ("উত্তরঃ ড", "C"),
        ("الإجابة الصحيحة هي: ج", "C"),
        ("Answer:\u200b\u200b\u200b\u200b\u200b\u200bC", "C"),
        ("Answer:\u200bC", None),
        # the English word goes first, wherever it stands
        ("Antwort: A. Answer: C", "C"),
        # the letter between those of B and C in Arabic is none of the four
        ("الجواب: ت", "ت"),
        # prose holds no letters: neither the article nor the pronoun
        ("A prime is what I want.", None),
        ("The answer is C", None),
        ("Ответ: C", None),
        ("Answer: E", None),
        ("", None),
    ],
)
def test_the_letter_is_the_one_that_is_stated(answer: str, letter: str | None) -> None:
    assert stated_letter(answer) == letter


async def test_an_answer_without_a_letter_is_unparsed_and_names_its_subject() -> None:
    score = await scored("mmlu", CONTENT, "I would rather not say.")
    assert score.value is None
    assert score.status == "unparsed"
    assert score.detail == {"correct": False, "expected": "C", "subject": "elementary_mathematics"}


async def test_a_lower_case_letter_is_a_wrong_answer() -> None:
    score = await scored("mmlu", CONTENT, "Answer: c")
    assert (score.value, score.span) == (0.0, "c")


@pytest.mark.parametrize(
    ("tokens", "letter"),
    [
        ({" C": -0.2, " A": -2.0}, "C"),
        # a more probable token that is not a letter does not count
        ({" the": -0.01, "B": -3.0, " C": -2.5}, "C"),
        ({" the": -0.01, " E": -0.5}, None),
        # a server sent NaN
        ({" A": None, "B": -3.0, " C": None}, "B"),
        ({" A": None}, None),
        ({}, None),
    ],
)
def test_the_next_letter_is_the_most_probable_one_of_the_four(
    tokens: dict[str, float | None], letter: str | None
) -> None:
    assert most_probable_letter({"top_logprobs": [tokens]}) == letter


@pytest.mark.parametrize("logprobs", [None, {}, {"top_logprobs": None}, {"top_logprobs": []}, [1]])
def test_a_server_without_log_probabilities_gives_no_letter(logprobs: Any) -> None:
    assert most_probable_letter(logprobs) is None


@given(st.dictionaries(st.sampled_from([" A", "B", " C", "D", " x", "AB"]), st.floats(-50, 0)))
def test_no_letter_is_more_probable_than_the_one_taken(tokens: dict[str, float]) -> None:
    letter = most_probable_letter({"top_logprobs": [tokens]})
    known = {token.strip(): value for token, value in tokens.items() if token.strip() in ("A", "B", "C", "D")}
    assert (letter is None) == (not known)
    assert letter is None or known[letter] == max(known.values())


def test_the_macro_average_weighs_subjects_alike() -> None:
    scores = [
        graded(1.0, labels={"subject": "law"}),
        graded(1.0, labels={"subject": "law"}),
        graded(None, labels={"subject": "law"}),
        graded(0.0, labels={"subject": "logic"}),
    ]
    assert figures(benchmark("mmlu"), scores) == {"macro_subject": pytest.approx((2 / 3 + 0) / 2)}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"answer": "C"}, r"Row 0: Expected `int`, got `str` - at `\$.answer`"),
        ({"answer": 4}, r"Row 0: .* `\$.answer`"),
        ({"choices": ["4", "6"]}, r"Row 0: .* `\$.choices`"),
        ({"subject": None}, r"Row 0: .* `\$.subject`"),
    ],
)
def test_a_row_that_is_no_question_is_told_by_its_number_and_field(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    path = write_rows(tmp_path / "test.jsonl", [{**ROW, **change}])
    with pytest.raises(DatasetError, match=complaint):
        list(benchmark("mmlu").samples(source("mmlu", path)))
