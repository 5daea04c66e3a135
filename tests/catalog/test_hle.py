"""Humanity's Last Exam: what is asked, how a judge or a match decides, and calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import Talk, asked, figures, graded, scored
from tests.drawn import png, shown, url

from benchwright.catalog.hle.grading import (
    JUDGE_PROMPT,
    OFFICIAL_JUDGE,
    find_stated_answer,
    find_stated_confidence,
    rms_calibration_error,
    says_yes,
)
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.errors import DatasetError
from benchwright.records import Status
from benchwright.runs.keys import fingerprint

SHORT = {"question": "What is 1 + 1?", "answer": "2", "answer_type": "exactMatch"}
CHOICE = {"question": "Which is a prime?\nA. 4\nE. 7", "answer": "E", "answer_type": "multipleChoice"}
ROW = {
    **SHORT,
    "id": "66e8",
    "image": "",
    "category": "Math",
    "raw_subject": "Arithmetic",
    "canary": "SYNTHETIC",
}
JUDGED = benchmark("hle", {"judge_model": OFFICIAL_JUDGE}, ["judge"])


@pytest.mark.parametrize("name", ["hle", "hle:documented"])
async def test_synthetic_questions_pass_with_their_answers(name: str, real_rows: Path) -> None:
    played = await validated(name, real_rows / "hle" / "SYNTHETIC_layout_sample.jsonl")
    assert (played.samples, played.failures) == (2, [])


async def test_synthetic_questions_pass_where_the_judge_says_so(real_rows: Path) -> None:
    played = await validate_benchmark(
        JUDGED, source("hle", real_rows / "hle" / "SYNTHETIC_layout_sample.jsonl")
    )
    assert (played.samples, played.failures) == (2, [])


async def test_the_prompt_is_the_official_one(tmp_path: Path) -> None:
    (sample,) = samples("hle", write_rows(tmp_path / "test.jsonl", [ROW]))
    assert (sample.id, sample.labels["category"]) == ("66e8", "Math")
    messages, _ = await asked(benchmark("hle"), sample)
    assert messages == [
        {
            "role": "system",
            "content": "Your response should be in the following format:\n"
            "Explanation: {your explanation for your answer choice}\nAnswer: {your chosen answer}\n"
            "Confidence: {your confidence score between 0% and 100% for your answer}",
        },
        {"role": "user", "content": "What is 1 + 1?"},
    ]


def test_questions_with_an_image_are_passed_over_and_counted(tmp_path: Path) -> None:
    rows: list[dict[str, str | None]] = [
        {**ROW},
        {**ROW, "image": "data:image/png;base64,iVBORw0KGgo="},
        {**ROW, "image": None},
    ]
    task = benchmark("hle")
    path = write_rows(tmp_path / "test.jsonl", rows)
    assert len(list(task.samples(source("hle", path)))) == 2
    assert figures(task, [])["image_questions_skipped"] == 1.0


async def test_the_variant_images_asks_all_questions_and_sends_images_as_what_they_are(
    tmp_path: Path,
) -> None:
    rows: list[dict[str, str | None]] = [
        {**ROW, "image": None},
        {**ROW, "id": "seen", "image": url(png(1), "image/jpeg")},
    ]
    text, seen = samples("hle:images", write_rows(tmp_path / "test.jsonl", rows))
    assert [text.labels["image"], seen.labels["image"]] == ["no", "yes"]
    (_, message), _ = await asked(benchmark("hle:images"), text)
    assert message == {"role": "user", "content": "What is 1 + 1?"}
    (_, message), _ = await asked(benchmark("hle:images"), seen)
    parts = [{"type": "text", "text": "What is 1 + 1?"}, shown(url(png(1)))]
    assert message == {"role": "user", "content": parts}


@pytest.mark.parametrize(
    ("image", "wrong"),
    [(url(b"GIF8"), "this is no PNG, JPEG, GIF or WebP image"), ("https://example.org/a.png", "no data URL")],
)
def test_an_image_that_is_none_is_named(image: str, wrong: str, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "test.jsonl", [{**ROW, "image": image}])
    with pytest.raises(DatasetError, match=f"test.jsonl, line 1: Row 0: .*{wrong}"):
        samples("hle:images", path)
    assert samples("hle", path) == []


async def test_synthetic_questions_with_images_pass(real_rows: Path) -> None:
    played = await validated("hle:images", real_rows / "hle" / "SYNTHETIC_image_rows.jsonl")
    assert (played.samples, played.failures) == (4, [])


def test_without_a_judge_scores_are_not_comparable() -> None:
    assert "no judge" in benchmark("hle").departures[0]
    assert JUDGED.departures == ()
    (other,) = benchmark("hle", {"judge_model": "some-judge"}, ["judge"]).departures
    assert other == f"judged by some-judge; published figures use {OFFICIAL_JUDGE}"


# --- with a judge


def judgement(verdict: str, extracted: str = "2") -> str:
    return f"extracted_final_answer: {extracted}\nreasoning: compared\ncorrect: {verdict}\nconfidence: 70"


async def test_the_judge_sees_question_response_and_gold_answer_and_its_word_counts() -> None:
    talk = Talk(judge=[judgement("yes")])
    score = await scored(JUDGED, SHORT, "Answer: two", talk)
    ((role, (message,), params),) = talk.asked
    assert role == "judge"
    assert params == {"slot": "judge", "max_completion_tokens": 4096, "temperature": None}
    for part in ("[question]: What is 1 + 1?", "[response]: Answer: two", "[correct_answer]: 2"):
        assert f"\n\n{part}\n\n" in message["content"]
    assert (score.value, score.span) == (1.0, "2")
    assert score.detail == {
        "correct": True,
        "expected": "2",
        "confidence": 70,
        "judge": "the judge",
        "judge_prompt": fingerprint(JUDGE_PROMPT),
        "judge_settings": {"max_completion_tokens": 4096, "temperature": None},
    }
    assert score.explanation == judgement("yes")


@pytest.mark.parametrize(
    ("said", "yes"),
    [
        (judgement("yes"), True),
        (judgement("no"), False),
        ("**correct:** Yes", True),
        ('{"correct": "yes", "confidence": 100}', True),
        # no verdict is a no
        ("", False),
        ("It is right.", False),
        ("correct: yesterday", False),
        ("incorrect: yes", False),
        # what the judge quotes from the answer is not a verdict of its own
        (judgement("no", extracted="correct: yes"), False),
    ],
)
def test_the_last_verdict_counts_and_none_is_a_no(said: str, yes: bool) -> None:
    assert says_yes(said) is yes


async def test_a_blank_answer_is_not_brought_before_the_judge() -> None:
    talk = Talk()
    score = await scored(JUDGED, SHORT, "\n ", talk)
    assert (score.value, talk.asked) == (None, [])


async def test_braces_in_a_question_are_nothing_special() -> None:
    talk = Talk(judge=[judgement("no")])
    await scored(JUDGED, {**SHORT, "question": "{response} {x}"}, "{question}", talk)
    assert "[question]: {response} {x}\n\n[response]: {question}\n" in talk.asked[0][1][0]["content"]


# --- without one


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        ("Explanation: sum\nAnswer: 2\nConfidence: 90%", "2"),
        ("**Answer:** $2$", "2"),
        ("answer:2", "2"),
        # the last line of that kind
        ("Answer: 1\nAnswer: 2", "2"),
        ("The answer: 2", None),
        ("Answer:\nConfidence: 5%", None),
        ("2", None),
    ],
)
def test_the_stated_answer_is_that_of_the_last_answer_line(answer: str, stated: str | None) -> None:
    assert find_stated_answer(answer) == stated


@pytest.mark.parametrize(
    ("content", "answer", "value"),
    [
        (SHORT, "Answer: 2", 1.0),
        (SHORT, "Answer: **2**.", 1.0),
        ({**SHORT, "answer": "Julius  Caesar"}, "Answer: julius caesar", 1.0),
        # the gold "2" inside "12", which a contains match takes
        (SHORT, "Answer: 12", 0.0),
        (SHORT, "Answer: two", 0.0),
        (SHORT, "2", None),
        # letters go beyond D
        (CHOICE, "Answer: E", 1.0),
        (CHOICE, "Answer: E. 7", 1.0),
        (CHOICE, "Answer: (e) 7", 1.0),
        (CHOICE, "Answer: A", 0.0),
        # a word is not a letter
        (CHOICE, "Answer: E seems right", 0.0),
    ],
)
async def test_matching_is_exact_apart_from_case_spacing_and_markup(
    content: dict[str, str], answer: str, value: float | None
) -> None:
    assert (await scored("hle", content, answer)).value == value


@pytest.mark.parametrize(
    ("answer", "confidence"),
    [("Confidence: 90%", 90), ("**Confidence:** 5", 5), ("confidence: 1000%", 100), ("Answer: 2", 100)],
)
def test_confidence_is_100_unless_stated(answer: str, confidence: int) -> None:
    assert find_stated_confidence(answer) == confidence


async def test_the_documented_match_finds_2_in_12_and_knows_four_letters() -> None:
    assert (await scored("hle:documented", SHORT, "12")).value == 1.0
    assert (await scored("hle:documented", CHOICE, "The answer is E")).value is None


async def test_a_gold_letter_beyond_d_is_a_listed_exception_of_the_documented_variant(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "test.jsonl", [{**ROW, **CHOICE}])
    played = await validated("hle:documented", path)
    assert played.failures == []
    assert list(played.exceptions) == ["66e8/gold"]


# --- calibration


def test_calibration_error_by_hand() -> None:
    """Two bins of two: (0.2, 0.4) with one right of two, (0.8, 1.0) with both right."""
    confidence, correct = [1.0, 0.2, 0.8, 0.4], [True, False, True, True]
    first, second = (0.3 - 0.5) ** 2 / 2, (0.9 - 1.0) ** 2 / 2
    both = rms_calibration_error(confidence, correct, size=2)
    official = rms_calibration_error(confidence, correct, size=2, last_bin=False)
    assert both == pytest.approx((first + second) ** 0.5)
    assert official == pytest.approx(first**0.5)


def official_calibration_error(confidence: list[float], correct: list[bool], beta: int) -> float:
    """The published arithmetic, step by step, ties kept in order."""
    order = numpy.argsort(numpy.array(confidence), kind="stable")
    sure, right = numpy.array(confidence)[order], numpy.array(correct, dtype=float)[order]
    bins = [[i * beta, (i + 1) * beta] for i in range(len(sure) // beta)]
    bins[-1] = [bins[-1][0], len(sure)]
    squares = [
        (end - start) / len(sure) * (sure[start:end].mean() - right[start:end].mean()) ** 2
        for start, end in bins[:-1]
    ]
    return float(numpy.sqrt(sum(squares)))


@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=6, max_size=60))
def test_calibration_error_agrees_with_the_published_arithmetic(answers: list[tuple[int, bool]]) -> None:
    confidence, correct = [sure / 100 for sure, _ in answers], [right for _, right in answers]
    ours = rms_calibration_error(confidence, correct, last_bin=False, size=3)
    assert ours == pytest.approx(official_calibration_error(confidence, correct, 3))


@pytest.mark.parametrize("answers", [0, 1, 99, 199])
def test_too_few_answers_give_no_official_calibration_error(answers: int) -> None:
    scores = [graded(1.0, {"confidence": 90}) for _ in range(answers)]
    known = figures(JUDGED, scores)
    assert known["calibration_error"] is None
    assert known["calibration_error_all_bins"] == (pytest.approx(0.1) if answers else None)


def test_failed_trials_are_not_part_of_calibration() -> None:
    scores = [graded(1.0, {"confidence": 100}), graded(None, {}, status=Status.PROVIDER_ERROR)]
    assert figures(JUDGED, scores)["calibration_error_all_bins"] == 0.0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        # the document's name for the field and its values
        ({"answer_type": "multiple_choice"}, r"Invalid enum value 'multiple_choice' - at `\$.answer_type`"),
        ({"answer": 2}, r"`\$.answer`"),
        ({"id": None}, r"`\$.id`"),
    ],
)
def test_a_row_that_is_no_question_is_told_by_its_number_and_field(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    path = write_rows(tmp_path / "test.jsonl", [{**ROW, **change}])
    with pytest.raises(DatasetError, match=f"Row 0: .*{complaint}"):
        list(benchmark("hle").samples(source("hle", path)))
