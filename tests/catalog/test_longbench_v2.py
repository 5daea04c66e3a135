"""LongBench v2: long prompts whose middle may be cut out, one or two requests, and the stated letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import Talk, asked, figures, graded, scored, solved

from benchwright.catalog.longbench_v2.grading import stated_letter
from benchwright.catalog.longbench_v2.solver import fit_prompt
from benchwright.data.errors import DatasetError
from benchwright.errors import UserError
from benchwright.records import Sample, Status, Usage

CONTENT = {
    "question": "Which animal?",
    "choices": ["Fox", "Tapir", "Owl", "Cat"],
    "answer": "B",
    "context": " The tapir crossed. \n",
}
SAMPLE = Sample("s", CONTENT)
ROW = {
    "_id": "66f3",
    "domain": "Single-Document QA",
    "sub_domain": "Literary",
    "difficulty": "easy",
    "length": "short",
    "question": "Which animal? ",
    **{f"choice_{letter}": f" {name}" for letter, name in zip("ABCD", CONTENT["choices"], strict=True)},
    "answer": "B",
    "context": CONTENT["context"],
}


@pytest.mark.parametrize("name", ["longbench_v2", "longbench_v2:cot", "longbench_v2:documented"])
async def test_synthetic_questions_pass_with_their_answers_and_fail_with_any_other(
    name: str, real_rows: Path
) -> None:
    played = await validated(name, real_rows / "longbench_v2")
    assert played.checks > 0
    assert played.failures == []


async def test_the_prompt_is_the_official_one(tmp_path: Path) -> None:
    (sample,) = samples("longbench_v2", write_rows(tmp_path / "train.jsonl", [ROW]))
    assert sample.id == "66f3"
    assert sample.labels["length"] == "short"
    messages, params = await asked(benchmark("longbench_v2"), sample)
    assert messages == [
        {
            "role": "user",
            "content": "Please read the following text and answer the question below.\n\n<text>\nThe tapir crossed."
            "\n</text>\n\nWhat is the correct answer to this question: Which animal?\nChoices:\n(A) Fox\n(B) Tapir"
            '\n(C) Owl\n(D) Cat\n\nFormat your response as follows: "The correct answer is (insert answer here)".',
        }
    ]
    assert params == {}


async def test_a_text_that_looks_like_the_template_stays_as_it_is() -> None:
    """The official code fills its template by replacing marks, also those in the text."""
    messages, _ = await asked(benchmark("longbench_v2"), Sample("s", {**CONTENT, "context": "$Q$ $C_A$"}))
    assert "<text>\n$Q$ $C_A$\n</text>" in messages[0]["content"]


async def test_chain_of_thought_asks_a_second_time_for_the_letter_without_the_text() -> None:
    talk = Talk(["  The tapir did. ", "The correct answer is (B)"], settings={"max_tokens": 1024})
    outcome = await solved(benchmark("longbench_v2:cot"), SAMPLE, talk)
    (_, first, _), (_, second, params) = talk.asked
    assert first[0]["content"].endswith("(D) Cat\n\nLet’s think step by step:")
    assert second == [
        {
            "role": "user",
            "content": "Please read the following text and answer the questions below.\n\nThe text is too long and "
            "omitted here.\n\nWhat is the correct answer to this question: Which animal?\nChoices:\n(A) Fox\n"
            "(B) Tapir\n(C) Owl\n(D) Cat\n\nLet’s think step by step: The tapir did.\n\nBased on the above, what is "
            "the single, most likely answer choice? Format your response as follows: "
            '"The correct answer is (insert answer here)".',
        }
    ]
    assert params == {"max_tokens": 128}
    assert outcome.answer == "The correct answer is (B)"
    assert [message["role"] for message in outcome.messages] == ["user", "assistant"] * 2


async def test_a_smaller_limit_of_tokens_holds_for_the_second_request_too() -> None:
    talk = Talk(["Hm.", "The correct answer is (B)"], settings={"max_tokens": 50})
    await solved(benchmark("longbench_v2:cot"), SAMPLE, talk)
    assert talk.asked[1][2] == {"max_tokens": 50}


async def test_the_documented_prompt_holds_the_full_text() -> None:
    talk = Talk(["B"])
    await solved(benchmark("longbench_v2:documented"), SAMPLE, talk)
    assert talk.asked[0][1][0]["content"].startswith(CONTENT["context"])
    with pytest.raises(UserError, match="has no option 'max_input_tokens'"):
        benchmark("longbench_v2:documented", {"max_input_tokens": "9"})


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("The correct answer is (B)", "B"),
        ("The correct answer is B.", "B"),
        ("**The correct answer is (B)**", "B"),
        ("The correct answer is (**B**) Tapir", "B"),
        # one in brackets goes before one without
        ("The correct answer is A, no: The correct answer is (B)", "B"),
        ("The correct answer is (A). The correct answer is (B).", "A"),
        # case counts
        ("the correct answer is (B)", None),
        ("The correct answer is (b)", None),
        ("The correct answer is (E)", None),
        ("B", None),
        ("", None),
    ],
)
def test_the_letter_is_the_one_stated_in_the_official_words(answer: str, letter: str | None) -> None:
    assert stated_letter(answer) == letter


async def test_an_answer_without_a_letter_is_unparsed() -> None:
    score = await scored("longbench_v2", CONTENT, "B")
    assert (score.value, score.status) == (None, "unparsed")


# --- how long a prompt is


async def detail(talk: Talk, **options: str) -> dict[str, Any]:
    """The details of the score of one question that was asked and answered."""
    task = benchmark("longbench_v2", options)
    outcome = await solved(task, SAMPLE, talk)
    score = await task.scorers[0].score(SAMPLE, outcome, talk)
    assert score.detail is not None
    return {name: score.detail.get(name) for name in ("context_length", "approximate", "cut")}


async def test_the_length_of_the_context_is_the_servers_count() -> None:
    talk = Talk(["The correct answer is (B)"], usage=Usage(prompt_tokens=99))
    assert await detail(talk) == {"context_length": 99, "approximate": None, "cut": None}
    assert talk.counted == []


async def test_without_a_count_it_is_told_by_characters_and_marked() -> None:
    talk = Talk(["The correct answer is (B)"])
    length = await detail(talk)
    characters = len(talk.asked[0][1][0]["content"])
    assert length == {"context_length": round(characters / 4), "approximate": True, "cut": None}


async def test_a_prompt_that_fits_is_sent_as_it_is() -> None:
    talk = Talk(["The correct answer is (B)"], count=len)
    length = await detail(talk, max_input_tokens="5000")
    assert length == {"context_length": len(talk.counted[0]), "approximate": None, "cut": False}
    assert talk.asked[0][1][0]["content"] == talk.counted[0]


async def test_of_a_prompt_that_does_not_fit_the_middle_is_cut_out() -> None:
    talk = Talk(["The correct answer is (B)"], count=len)
    assert (await detail(talk, max_input_tokens="100"))["cut"] is True
    sent, whole = talk.asked[0][1][0]["content"], talk.counted[0]
    assert sent == whole[:50] + whole[-50:]


async def test_a_server_that_does_not_count_is_cut_for_by_characters_and_marked() -> None:
    talk = Talk(["The correct answer is (B)"])
    length = await detail(talk, max_input_tokens="25")
    assert length["approximate"] is True
    whole, sent = talk.counted[0], talk.asked[0][1][0]["content"]
    assert 90 <= len(sent) <= 100  # four characters a token
    assert sent == whole[: len(sent) // 2] + whole[-(len(sent) // 2) :]


def words(text: str) -> int:
    """A tokenizer under which tokens are of very different lengths."""
    return len(text.split())


@given(
    st.lists(st.sampled_from(["a", "an", "elephant", "x" * 60]), min_size=1, max_size=400),
    st.integers(2, 300),
)
async def test_what_is_sent_never_has_more_tokens_than_allowed_and_holds_both_ends(
    parts: list[str], most: int
) -> None:
    text = " ".join(parts)
    fitted = await fit_prompt(Talk(count=words), text, most)
    assert fitted.tokens == len(parts)
    assert fitted.is_cut == (len(parts) > most)
    if not fitted.is_cut:
        assert fitted.text == text
    else:
        heads = [size for size in range(len(fitted.text) + 1) if text.startswith(fitted.text[:size])]
        assert any(text.endswith(fitted.text[size:]) and words(text[:size]) <= most // 2 for size in heads)


async def test_a_server_that_stops_counting_midway_costs_no_more_than_the_estimate() -> None:
    counts = iter([1000, None, None])
    fitted = await fit_prompt(Talk(count=lambda text: next(counts)), "y" * 1000, 100)
    assert fitted.is_cut
    assert 0 < len(fitted.text) <= 400


# --- figures


def test_figures_are_the_official_columns_and_the_compensated_mean() -> None:
    short, long = {"difficulty": "easy", "length": "short"}, {"difficulty": "hard", "length": "long"}
    scores = [
        graded(1.0, labels=short),
        graded(None, labels=short),
        graded(0.0, labels=long),
        graded(None, labels=long, status=Status.PROVIDER_ERROR),
    ]
    assert figures(benchmark("longbench_v2"), scores) == {
        "accuracy_easy": 0.5,
        "accuracy_hard": 0.0,
        "accuracy_short": 0.5,
        "accuracy_medium": None,
        "accuracy_long": 0.0,
        "accuracy_compensated": pytest.approx((1 + 0.25 + 0 + 0) / 4),
    }


@pytest.mark.parametrize("value", ["many", "-1", "1.5"])
def test_a_limit_that_is_no_number_is_told(value: str) -> None:
    with pytest.raises(UserError, match="max_input_tokens takes a whole number"):
        benchmark("longbench_v2", {"max_input_tokens": value})


@pytest.mark.parametrize(
    ("change", "field"),
    [({"answer": "E"}, "answer"), ({"length": "tiny"}, "length"), ({"choice_D": None}, "choice_D")],
)
def test_a_row_that_is_no_question_is_told_by_its_number_and_field(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    path = write_rows(tmp_path / "train.jsonl", [ROW, {**ROW, **change}])
    with pytest.raises(DatasetError, match=rf"Row 1: .* `\$.{field}`"):
        list(benchmark("longbench_v2").samples(source("longbench_v2", path)))
