"""AIME and HMMT as MathArena runs them: what is asked, what is read of an answer, and what equals what."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import Talk, figures, graded, scored, solved

from benchwright.catalog.matharena.boxes import find_boxed_contents, find_last_box
from benchwright.catalog.matharena.grading import are_equal_answers, grade, parse_right_answer
from benchwright.catalog.registry import find_about
from benchwright.data.errors import DatasetError
from benchwright.engine.offload import offload_processes

AIME = {"problem_idx": 1, "problem": "What is $6 \\cdot 7$?", "answer": 42}
HMMT = {
    "problem_idx": 3,
    "problem": "Which is it?",
    "answer": "\\frac{1}{2}",
    "problem_type": ["Algebra", "Geometry"],
}


async def test_made_up_problems_pass_with_their_answers(real_rows: Path) -> None:
    for name, file in {"aime_2025": "SYNTHETIC_aime.jsonl", "hmmt": "SYNTHETIC_hmmt.jsonl"}.items():
        played = await validated(name, real_rows / "matharena" / file)
        assert (played.samples, played.failures) == (len(samples(name, real_rows / "matharena" / file)), [])


@pytest.mark.parametrize("name", ["aime_2025", "aime_2026"])
async def test_aime_is_asked_for_a_whole_number(name: str, tmp_path: Path) -> None:
    (sample,) = samples(name, write_rows(tmp_path / "train.jsonl", [AIME]))
    talk = Talk(["\\boxed{42}"])
    async with offload_processes():
        await solved(benchmark(name), sample, talk)
    assert [messages for _, messages, _ in talk.asked] == [
        [
            {
                "role": "user",
                "content": "Put your final answer within \\boxed{}.\n"
                "The answer is an integer between 0 and 999 inclusive.\n\nWhat is $6 \\cdot 7$?",
            }
        ]
    ]


@pytest.mark.parametrize("name", ["hmmt", "hmmt:nov_2025", "hmmt:feb_2025"])
def test_a_problem_has_its_types(name: str, tmp_path: Path) -> None:
    (sample,) = samples(name, write_rows(tmp_path / "train.jsonl", [HMMT]))
    assert (sample.id, sample.labels) == (
        f"{name.replace(':', '_')}_3",
        {"problem_type": "Algebra, Geometry"},
    )


@pytest.mark.parametrize(
    ("first", "asked_again"),
    [
        ("\\boxed{42}", False),
        ("\\boxed{None}", False),
        ("It is 42.", True),
        ("", True),
        ("\\boxed{9^{9^{9^{9}}}}", False),
        ("\\boxed{50\\%}", True),
        ("\\boxed{42", True),
    ],
)
async def test_without_an_answer_in_a_box_one_is_asked_for_once_more(
    first: str, asked_again: bool, tmp_path: Path
) -> None:
    (sample,) = samples("hmmt", write_rows(tmp_path / "train.jsonl", [HMMT]))
    talk, task = Talk([first, "\\boxed{1/2}"]), benchmark("hmmt")
    async with offload_processes():
        outcome = await solved(task, sample, talk)
        score = await task.scorers[0].score(sample, outcome, talk)
    assert len(talk.asked) == 1 + asked_again
    assert (score.value == 1.0) == asked_again
    if asked_again:
        messages = talk.asked[1][1]
        assert messages[1] == {"role": "assistant", "content": first}
        assert "report the final answer again within \\boxed{}" in messages[2]["content"]
        assert score.detail is not None
        assert score.detail["last_chance"] is True


def test_its_figure_is_the_share_that_had_to_be_asked_again() -> None:
    scores = [graded(1.0, {"last_chance": True}), graded(0.0), graded(None), graded(1.0)]
    assert figures(benchmark("hmmt"), scores) == {"last_chance": 0.25}


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("\\boxed{7}", "7"),
        ("first \\boxed{7}, then \\boxed{8}", "8"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\fbox{7}", "7"),
        ("boxed{7}", "7"),
        ("\\boxed{\\boxed{7}}", "7"),
        ("\\boxed{7} and \\boxed{8", "7"),
        ("\\boxed 7", None),
        ("7", None),
    ],
)
def test_the_last_closed_box_holds_the_answer(text: str, box: str | None) -> None:
    assert find_last_box(text) == box


def test_boxes_on_one_line_are_a_list_where_several_answers_are_expected() -> None:
    text = "Not \\boxed{1}.\nBut \\boxed{2} and \\boxed{3}"
    assert find_last_box(text, several=True) == "2,3"
    assert find_last_box(text) == "3"


@given(st.lists(st.sampled_from(["\\boxed{", "fbox{", "{", "}", "x", "\n"]), max_size=12).map("".join))
def test_what_is_in_a_box_has_balanced_braces(text: str) -> None:
    for inside in find_boxed_contents(text):
        assert inside.count("{") == inside.count("}")
        assert inside in text


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("70", "70", True),
        ("70", "070", True),
        ("70", "70.0", True),
        ("70", "7e1", True),
        ("70", "\\frac{140}{2}", True),
        ("70", "n = 70", True),
        ("70", "70^\\circ", True),
        ("70", "70\\text{ cm}", True),
        ("70", "\\sqrt{4900}", True),
        ("1300", "1{,}300", True),
        ("1300", "1,300", True),
        ("70", "71", False),
        ("70", "-70", False),
        ("70", "70.001", False),
        ("70", "69, 70", False),
        ("0", "0", True),  # MathArena's code says no: 0 / 0 is not a small error
        ("\\frac{1}{3}", "0.33333333333", True),
        ("\\frac{1}{3}", "0.333", False),
        ("\\pi", "3.14159265359", True),
        ("\\pi", "3.1416", False),
        ("\\frac{2-\\sqrt{3}}{4}", "\\frac{1}{2} - \\frac{\\sqrt3}{4}", True),
        ("\\frac{2-\\sqrt{3}}{4}", "\\sin^2(\\pi/12)", True),
        ("\\frac{2-\\sqrt{3}}{4}", "\\frac{2+\\sqrt{3}}{4}", False),
        ("\\frac{\\binom{40}{20}}{2}", "68923264410", True),
        ("2^{99}", "633825300114114700748351602688", True),
        ("2^{99}", "633825300114114700748351602689", False),
        ("n^2-1", "n(n+1) - (n+1)", True),
        ("n^2-1", "(n-1) (n+1)", False),  # from one bracket to another is a list, as for MathArena
        ("n^2-1", "n^2-n", False),
        ("8/3", "4\\frac{2}{3}", True),  # side by side is a product, also here
        ("1, 3, 7", "7, 3 and 1", True),
        ("1, 3, 7", "\\{7;3;1\\}", True),
        ("1, 3, 7", "1, 3", False),
        ("1, 3, 7", "1, 3, 7, 7", False),
        ("(1, 2), (3, 4)", "(3,4), (1,2)", True),
        ("(1, 2), (3, 4)", "(1,3), (2,4)", False),
        ("(1, 2), (3, 4)", "(2,1), (4,3)", False),  # the order within a pair of a list counts
        ("(1, 2), (3, 4)", "\\{(3,4), (1,2)\\}", True),
        ("(1, 2)", "(2,1)", True),  # that of a single pair does not, as at MathArena
        ("70", "\\text{seventy}", False),
        ("70", "70 \\pm 0", False),
        ("1000", "1 000", True),
        ("\\log_2 3", "\\frac{\\ln 3}{\\ln 2}", True),
        ("9\\sqrt{15}", "9\\sqrt 15", True),
        (
            "9\\sqrt{15}",
            "9\\sqrt {15}",
            False,
        ),  # read as 9, as MathArena does; so are the roots of the next two
        ("9\\sqrt{15}", "9\\sqrt(15)", False),
        ("9\\sqrt{15}", "9√(15)", False),
        ("2^3", "02^3", False),  # a leading 0 can be read only in a number by itself
        ("70", "70_{10}", True),  # what stands behind an expression is overlooked
        ("70", "70 +", True),
        ("70", "70 (exact)", False),
        ("70", "\\geq 70", True),
        ("70", "x > 70", False),
        ("70", "70²", False),
        ("50(1 - \\frac{1}{2^{101} - 1})", "50 - \\frac{50}{2^{101} - 1}", True),
        ("50(1 - \\frac{1}{2^{101} - 1})", "50", False),
        ("50(1 - \\frac{1}{2^{101} - 1})", "50.0", True),
        ("3^{2025}", "3^{2025} \\pi", False),
        ("50(1 - \\frac{1}{2^{101} - 1})", "(50)", True),  # by itself exact, in brackets almost
        ("x+1", "\\sqrt{(x+1)^2}", False),
        # MathArena has Python read an answer, where it can be rewritten so that Python reads it
        ("70", "70 or 71", True),
        ("70", "71 or 70", False),
        ("70", "70 and 71", False),
        ("70", "70 # in the end", True),
        ("70", "7_0", True),
        ("70", "1070 % 1000", True),
        ("70", "64 | 6", True),
        ("70", "max(70, 3)", True),
        ("70", "[70]", True),
        ("70", "\\Large{70^1}", True),
        ("512", "2^3^2", True),
        ("64", "2^3^2\\pi/\\pi", True),  # and else LaTeX as sympy does
        ("120", "5!", True),
        ("3600", "2^2 + 5! * (1 + 2)! ** 2 * 5/6 - 4", True),
        ("0", "279.50.00", True),  # two factors
        ("720", "3!!\\pi/\\pi", True),
        ("12", "3 x 4", True),
        ("6", "\\lfloor 6.5 \\rfloor", True),
        ("6", "|-2| |3|", True),
        ("1000", "\\log_2 2^{1000}", True),
        ("7", "71...", True),  # read digit by digit where no digit follows a point
        ("0.3", "0.1+0.2", True),
        ("\\frac{3}{10}", "0.1+0.2", False),  # which is rounded, and not by enough to be right by chance
        ("70", "70, \\pi", True),
        ("1234", "\\pi{1, 234}/\\pi", True),
        ("70", "\\lim_{n \\to \\infty} 70", True),
        ("50(1 - \\frac{1}{2^{101} - 1})", "50 - \\frac{50}{2^{101}-1}x", False),
        ("70", "x, 70", True),  # what has no digit is no part of a list
        ("70", "x \\neq 70", False),
        ("\\sqrt{3}", "sqrt{3}", True),
        ("2\\sqrt{3}", "2 sqrt{3}", False),
        ("70", "\\foo 70", False),
        ("70", "1/0", False),
    ],
)
def test_answers_are_compared_by_value(gold: str, answer: str, right: bool) -> None:
    assert (grade({"answer": gold}, f"\\boxed{{{answer}}}").score == 1.0) is right


@pytest.mark.parametrize("text", ["1, 3", "\\frac{1}{2}", "n^2-1", "(1, 2), (3, 4)", "2\\pi", "26!"])
def test_every_answer_equals_itself(text: str) -> None:
    one = parse_right_answer(text)
    assert are_equal_answers(one, one)


def test_without_a_box_the_last_whole_number_counts() -> None:
    assert grade({"answer": "70"}, "It is 70").score == 1.0
    assert grade({"answer": "70"}, "\\boxed{70\\%}").score == 1.0, "nor without one that can be read"
    assert grade({"answer": "70"}, "\\boxed{0 < x < 70}").score == 1.0, "as nor is this"
    assert grade({"answer": "70"}, "It is 70, found in 3 steps").score == 0.0
    assert grade({"answer": "70"}, "I do not know").score is None


HOSTILE = {
    "tower": "9^{9^{9^{9}}}",
    "factorials": "10!!!",
    "powers": "2^" * 1900 + "2",
    "roots": "\\sqrt" * 700 + "2",
    "brackets": "(" * 1900 + "1" + ")" * 1900,
    "lists": "(1," * 900 + "1" + ")" * 900,
    "boxes": "\\boxed{" * 20_000,
    "sum": "1+" * 300_000 + "1",
    "braces": "{" * 500_000,
    "code": "__import__('os').system('touch hurt')",
    "text": "\\text{" * 600 + "}",
    "signs": "-" * 3900 + "1",
    "commas": "(1,2)x," * 550,
    "backslashes": "\\" * 3900 + "frac",
    "fractions": "\\frac{" * 600 + "1" + "}{2}" * 600,
    "shifts": "1 << 999 << 999 << 999999",
    "products": "9**9" + "**9" * 900,
    "comment": "71\n#" + "(" * 3900,
    "bars": "\\pi|" * 900,
    "indices": "x_" * 1900,
    "functions": "\\sin" * 900,
    "letters with brackets": r"\pi(" * 50 + "+" + ")" * 50,
    "functions with brackets": r"\sin(" * 50 + "+" + ")" * 50,
    "more brackets": r"\pi|\sin(\pi(" * 16 + "+" + "))|" * 16,
    "marks": "1! + " * 700,
    "letters": "+".join(f"x{number}" for number in range(800)),
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_are_wrong_at_once(answer: str) -> None:
    before = time.process_time()
    for gold in ("70", "1, 70"):
        assert grade({"answer": gold}, f"\\boxed{{{answer}}}").score != 1.0
    assert time.process_time() - before < 2.0


async def test_so_they_are_in_a_process_of_their_own() -> None:
    async with offload_processes():
        for answer in HOSTILE.values():
            assert (await scored("aime_2025", {"answer": "70"}, f"\\boxed{{{answer}}}")).value != 1.0


def test_the_protocol_has_four_repeats_of_each_problem() -> None:
    assert {find_about(name).repeats for name in ("aime_2025", "aime_2026", "hmmt", "hmmt:nov_2025")} == {4}


def test_a_row_without_an_answer_is_told_by_its_number_and_field(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "train.jsonl", [AIME, {**AIME, "answer": None}])
    with pytest.raises(DatasetError, match=r"Row 1: .*`\$.answer`"):
        list(benchmark("aime_2025").samples(source("aime_2025", path)))
