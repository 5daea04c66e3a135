"""SimpleQA and SimpleQA Verified: what is asked, what a judge's reply means, and the figures of three grades."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import Talk, asked, figures, graded, scored

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.registry import find_about
from benchwright.catalog.simpleqa.grading import OFFICIAL_JUDGE, read_grade
from benchwright.catalog.simpleqa.rows import parse_labels
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.errors import DatasetError
from benchwright.errors import GraderError
from benchwright.records import Status

ASKED = {"question": "How high is the {hill}?", "answer": "41 m"}
FILES = {"simpleqa": "simple_qa_test_set.csv", "simpleqa_verified": "simpleqa_verified.csv"}


def judged(name: str, judge: str = OFFICIAL_JUDGE) -> Benchmark:
    return benchmark(name, {"judge_model": judge}, ["judge"])


@pytest.mark.parametrize("name", FILES)
async def test_real_and_made_up_questions_pass_where_the_judge_says_so(name: str, real_rows: Path) -> None:
    path = real_rows / "simpleqa" / FILES[name]
    played = await validate_benchmark(judged(name), source(name, path))
    assert (played.samples, played.failures) == (len(samples(name, path)), [])
    assert (await validated(name, path)).failures == []


async def test_the_question_is_asked_alone(tmp_path: Path) -> None:
    row = {
        "problem": "How high?",
        "answer": "41 m",
        "metadata": "{'topic': 'Art', 'answer_type': 'Number', 'urls': []}",
    }
    (sample,) = samples("simpleqa", write_rows(tmp_path / "test.jsonl", [row]))
    assert sample.labels == {"topic": "Art", "answer_type": "Number"}
    messages, _ = await asked(benchmark("simpleqa"), sample)
    assert messages == [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "How high?"},
    ]
    verified = {"original_index": 7, "problem": "How high?", "answer": "41 m", "topic": "Art"}
    (sample,) = samples("simpleqa_verified", write_rows(tmp_path / "eval.jsonl", [verified]))
    messages, _ = await asked(benchmark("simpleqa_verified"), sample)
    assert (sample.id, messages) == ("simpleqa_7", [{"role": "user", "content": "How high?"}])


@pytest.mark.parametrize("metadata", ["", "{", "__import__('os').system('x')", "[1]", "(" * 500])
def test_metadata_that_is_no_dictionary_gives_no_labels(metadata: str) -> None:
    assert parse_labels(metadata) == {}


async def test_the_judge_is_asked_with_the_prompt_of_its_set() -> None:
    first, second = Talk(judge=["A"]), Talk(judge=["A"])
    for name, talk in (("simpleqa", first), ("simpleqa_verified", second)):
        score = await scored(judged(name), ASKED, "{41} metres", talk)
        assert (score.value, score.span) == (1.0, "{41} metres")
        detail = dict(score.detail or {})
        assert len(detail.pop("judge_prompt")) == 32
        params = {key: value for key, value in talk.asked[0][2].items() if key != "slot"}
        assert detail == {
            "correct": True,
            "expected": "41 m",
            "grade": "CORRECT",
            "judge": "the judge",
            "judge_settings": params,
        }
        text = talk.asked[0][1][-1]["content"]
        assert text.startswith("Your job is to look at a question, a gold target, and a predicted answer")
        for part in (
            "Question: How high is the {hill}?\n",
            "Gold target: 41 m\n",
            "Predicted answer: {41} metres\n",
        ):
            assert part in text
    (old,), (new,) = ([one[1][-1]["content"] for one in talk.asked] for talk in (first, second))
    assert "correct to the last significant figure" in old
    assert "acceptable range" not in old
    assert "correct to the last significant figure" not in new
    assert "gold target will also specify the allowed range" in new
    assert first.asked[0][2] == {"slot": "judge", "temperature": 0.5, "max_tokens": 2048}
    assert [message["role"] for message in first.asked[0][1]] == ["system", "user"]
    assert second.asked[0][2] == {"slot": "judge"}


@pytest.mark.parametrize(
    ("said", "grade"),
    [
        ("A", "CORRECT"),
        ("B", "INCORRECT"),
        (" C.\n", "NOT_ATTEMPTED"),
        ("**B**", "INCORRECT"),
        ("A: CORRECT", "CORRECT"),
        ("B) because it contradicts", "INCORRECT"),
        ("A\n\nBoth are right.", "CORRECT"),
        ("Grade: B", "INCORRECT"),
        ("My grade is (A).", "CORRECT"),
        ("A - it agrees", "CORRECT"),
        ("I say C: NOT_ATTEMPTED", "NOT_ATTEMPTED"),
        # the words that the prompt asks for, too; the official pattern reads C, C and A from them
        ("CORRECT", "CORRECT"),
        ("INCORRECT", "INCORRECT"),
        ("NOT_ATTEMPTED", "NOT_ATTEMPTED"),
        ("not attempted", "NOT_ATTEMPTED"),
        ("The answer is incorrect.", "INCORRECT"),
        ("It is not correct.", "INCORRECT"),
        ("Because it is correct", "CORRECT"),
        # what says several of them, or none, is not a grade
        ("CORRECT or INCORRECT", None),
        ("CORRECT (B)", None),
        ("A or B", None),
        ("A guess", None),
        ("Certainly", None),
        ("", None),
    ],
)
def test_a_grade_is_a_letter_or_one_of_three_words(said: str, grade: str | None) -> None:
    assert read_grade(said) == grade


async def test_a_judge_without_a_grade_is_a_failure_and_no_wrong_answer() -> None:
    with pytest.raises(GraderError, match="none of the three grades: 'Hm'"):
        await scored(judged("simpleqa"), ASKED, "41 m", Talk(judge=["Hm"]))


async def test_a_blank_answer_is_not_attempted_without_asking() -> None:
    talk = Talk()
    score = await scored(judged("simpleqa"), ASKED, " \n", talk)
    assert (score.value, talk.asked) == (None, [])
    assert score.detail is not None
    assert score.detail["grade"] == "NOT_ATTEMPTED"


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("It is 41 m high.", 1.0),
        ("41  M", 1.0),
        ("141 m", 0.0),
        ("41 miles", 0.0),
        ("I do not know", 0.0),
        ("", None),
    ],
)
async def test_without_a_judge_the_words_of_the_answer_must_be_there(
    answer: str, value: float | None
) -> None:
    assert (await scored("simpleqa", ASKED, answer)).value == value
    assert "no judge" in benchmark("simpleqa").departures[0]


def test_another_judge_is_a_departure() -> None:
    assert judged("simpleqa_verified").departures == ()
    assert judged("simpleqa_verified", "some-judge").departures == (
        f"judged by some-judge; published figures use {OFFICIAL_JUDGE}",
    )


@given(st.lists(st.sampled_from(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]), min_size=1))
def test_f1_is_the_harmonic_mean_of_correct_and_of_accuracy_given_attempted(grades: list[str]) -> None:
    scores = [graded(float(grade == "CORRECT"), {"grade": grade}) for grade in grades]
    scores.append(graded(None, status=Status.PROVIDER_ERROR))
    known = figures(judged("simpleqa"), scores)
    correct = grades.count("CORRECT") / len(grades)
    given_attempted = known["accuracy_given_attempted"]
    assert (given_attempted is None) == (set(grades) == {"NOT_ATTEMPTED"})
    given_attempted = given_attempted or 0.0
    total = correct + given_attempted
    assert known["f1"] == pytest.approx(2 * correct * given_attempted / total if total else 0.0)
    assert known["incorrect"] == grades.count("INCORRECT") / len(grades)
    assert known["not_attempted"] == grades.count("NOT_ATTEMPTED") / len(grades)


def test_without_answers_there_are_no_figures() -> None:
    assert set(figures(judged("simpleqa"), []).values()) == {None}


def test_the_sets_have_their_sizes() -> None:
    assert (find_about("simpleqa").items, find_about("simpleqa_verified").items) == (4_326, 1_000)


def test_a_row_without_an_answer_is_told_by_its_number_and_field(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "test.jsonl", [{"problem": "How high?"}])
    with pytest.raises(DatasetError, match=r"Row 0: .*`answer`"):
        list(benchmark("simpleqa").samples(source("simpleqa", path)))
