"""Multiple choice: which letter an answer settles on. One table a reader can check by eye, ten options A to J."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from benchwright.errors import GraderError
from benchwright.records import Status
from benchwright.scorers.mcq import MultipleChoice, offers_options
from benchwright.scorers.option_letters import find_option_letter

TEN = "ABCDEFGHIJ"

STATED = [
    ("The answer is (C).", "C"),
    ("the answer is C", "C"),
    ("The answer is: **C**", "C"),
    ("**Answer:** C", "C"),
    ("**Answer: C**", "C"),
    ("ANSWER: C", "C"),
    ("Answer:\n\nC", "C"),
    ("Answer: c", "C"),
    ("The answer is (c).", "C"),
    ("The answer is 'C'", "C"),
    ("The answer is \\(C\\)", "C"),
    ("Therefore, the answer is $C$.", "C"),
    ("The final answer is $\\boxed{C}$", "C"),
    ("\\boxed{\\text{C}}", "C"),
    ("The correct answer is option (C) Cranial", "C"),
    ("My answer would be C", "C"),
    ("The correct option is C.", "C"),
    ("So my choice is C!", "C"),
    ("Option (C) is correct, since B lacks vitamin D.", "C"),
    ("C is the best answer; vitamin D is another matter.", "C"),
    ("I choose C, not D.", "C"),
    ("I would go with option **C** over D.", "C"),
    # the last statement counts, and it counts more than any letter behind it
    ("At first I thought the answer is (B). But no: the answer is (D).", "D"),
    ("The answer is (C) because A and B contradict D", "C"),
    # A and I as options
    ("The answer is A.", "A"),
    ("The answer is A because plan B fails", "A"),
    ("So the answer is I.", "I"),
]
BOLD = [
    ("It must be **C** given vitamin D", "C"),
    ("**C. Cranial** (not D)", "C"),
    ("**(C)** Cranial, see D", "C"),
    # several bold letters are a walk through the options
    ("**A**: no. **B**: no. **D**: no. That leaves C", "C"),
]
LINES = [
    ("C", "C"),
    ("c", "C"),
    ("(c)", "C"),
    ("A", "A"),
    ("I", "I"),
    ("A.", "A"),
    ("Vitamin D is out.\nC\nSee E and F", "C"),
    ("C. Lack of vitamin D", "C"),
    ("(C) Lack of vitamin D", "C"),
    ("I. Lack of vitamin D", "I"),
    ("Let me think about D.\nC) Cranial, as in D", "C"),
    ("A: Let's think step by step. It is not that. Hence (D).", "D"),
]
CAPITALS = [
    ("It is option C", "C"),
    ("I think that a dog prefers C", "C"),
    ("I considered A at length but D fits", "D"),
    ("That leaves A.", "A"),
    ("A dog and a cat: (I)", "I"),
]
CORRECTED = [
    ("Answer: B. On reflection the second law applies, so the answer is actually C", "C"),
    ("Answer: B\nI change my answer to C.", "C"),
    ("The answer is B. Wait, that is wrong. It should be D.", "D"),
    ("The answer is B. No, wait. Switching to option A", "A"),
    ("Answer: It is not B, the answer is D", "D"),
    ("Answer: I rule out C, leaving D", "D"),
    ("If the answer is B, then x = 2. But x = 3, so it must be C.", "C"),
    ("If x were 2, the answer would be C. But the answer is B.", "B"),
    ("It is neither A nor B, so it must be C.", "C"),
    ("There is no doubt that the answer is C.", "C"),
    ("A is wrong, B is wrong, C is impossible. D fits.", "D"),
    ("Option A is right", "A"),
    ("The right choice is option A since it rains", "A"),
    ("Answer seems to be D.", "D"),
    ("The answer to the question is D.", "D"),
    ("The answer is C. not all of them", "C"),
    ("\\boxed{C. \\text{Oslo}}", "C"),
    ("<answer>C</answer>", "C"),
    ("[[C]]", "C"),
    ("\\boxed{\\Delta E}\nAnswer: B", "B"),
    ("答案：C", "C"),
    ("因此，正确答案是（C）。", "C"),
    ("故选C。", "C"),
    ("Ｃ", "C"),
    ("Respuesta: **C**", "C"),
    ("(c) because of the second law", "C"),
]
NOTHING = [
    "",
    "   \n",
    "I do not know.",
    "A dog ate it. I agree.",
    "The answer is a matter of taste.",
    "The answer is A lot of people.",
    "Answer: A vaccine prevents it",
    "I'd say that Ångström's U.S.A. won",
    "B-cells, D-glucose, C++ and C# at 20 °C",
    "The answer is not B",
    "Answer: X",
    "The answer is A or B",
    "The answer is (B) or (C).",
    "Answer: A, B",
    "Either A or D",
    "B and C",
    "If x were 2, the answer would be C.",
    "The answer would be B if we assumed friction",
    "neither A nor B",
    "It is neither A nor B.",
    "I do not think the answer is B.",
    "The answer is not A, B, or D.",
    "The answer is B. Wait, that is wrong.",
    "If x is 2 the answer is B, if x is 3 the answer is C.",
    "Both A and C are correct.",
    "ANSWER: None of the above",
    "ANSWER: I don't know",
    "The answer is (X), where X is the letter.",
    "A. Paris\nB. Rome\nC. Oslo\nD. Bern",
    "The patient lacks vitamin D and has hepatitis B",
    "A perfect answer cannot be found.",
]


@pytest.mark.parametrize(("answer", "letter"), STATED + BOLD + LINES + CAPITALS + CORRECTED)
def test_the_letter_an_answer_settles_on(answer: str, letter: str) -> None:
    found = find_option_letter(answer, TEN)
    assert found is not None
    assert found[0] == letter
    assert found[1] in answer


@pytest.mark.parametrize("answer", NOTHING)
def test_these_settle_on_nothing(answer: str) -> None:
    assert find_option_letter(answer, TEN) is None


@pytest.mark.parametrize(("answer", "letter"), STATED + BOLD + LINES + CAPITALS + CORRECTED)
def test_reasoning_before_the_answer_does_not_change_it(answer: str, letter: str) -> None:
    reasoning = "I looked at A, B and E. A plan is needed: option B is tempting, D is not.\n\n"
    found = find_option_letter(reasoning + answer, TEN)
    assert found is not None
    assert found[0] == letter


def test_the_text_of_an_option_stands_for_its_letter() -> None:
    options = ["Paris", "New York", "Oslo"]
    assert find_option_letter("New York.", "ABC", options) == ("B", "New York.")
    assert find_option_letter("The answer is Oslo", "ABC", options) == ("C", "Oslo")
    assert find_option_letter("The answer is Rome", "ABC", options) is None
    assert find_option_letter("Same", "AB", ["same", "same"]) is None


def test_a_list_of_letters_is_no_target() -> None:
    """Any of them, or all? Nobody can tell."""
    wrong = MultipleChoice().wrong_target({"ground_truth": ["A", "B"]})
    assert wrong is not None
    assert wrong.endswith("whether any or all are meant")


@pytest.mark.parametrize(
    ("content", "offered"),
    [
        ({"user_prompt": "Which?", "options": ["x", "y"]}, True),
        ({"user_prompt": "Which?\nA. x\nB. y"}, True),
        ({"user_prompt": "Which? (A) x (B) y"}, True),
        ({"user_prompt": "Which? A) x B) y"}, True),
        ({"user_prompt": "Which?"}, False),
        ({"user_prompt": "A. Smith asks: which?"}, False),
    ],
)
def test_options_are_a_list_or_labels_in_the_prompt(content: dict[str, Any], offered: bool) -> None:
    assert offers_options(content) is offered


def test_letters_beyond_the_options_do_not_count() -> None:
    assert find_option_letter("The answer is E", "ABCD") is None
    assert find_option_letter("Let X be B and Y be Z", "ABCD") == ("B", "B")


@pytest.mark.parametrize(
    "text",
    [
        "word and more ",
        "answer is ",
        "answer: A and ",
        "**",
        "* ",
        "\n",
        " ",
        "((",
        "A",
        "C or ",
        "\\boxed{",
        "I ",
    ],
)
def test_a_megabyte_takes_no_more_than_a_moment(text: str) -> None:
    answer = text * (1_000_000 // len(text))
    started = process_time()
    find_option_letter(answer, TEN)
    assert process_time() - started < 1


def test_the_end_of_a_megabyte_is_what_counts() -> None:
    found = find_option_letter("The answer is (A). " * 50_000 + "No: the answer is (B).", TEN)
    assert found is not None
    assert found[0] == "B"


@pytest.mark.parametrize(("target", "value"), [("C", 1.0), (" c\n", 1.0), (2, 1.0), ("B", 0.0), (0, 0.0)])
def test_the_target_is_a_letter_or_an_index(target: Any, value: float, score: Any) -> None:
    assert score(MultipleChoice(), "The answer is C", target).value == value


def test_the_rows_options_say_which_letters_there_are(score: Any) -> None:
    assert score(MultipleChoice(), "Answer: C", "A", options=["x", "y"]).status is Status.UNPARSED
    assert score(MultipleChoice(), "Answer: K", "K", options=list("abcdefghijk")).value == 1.0


def test_without_options_the_number_of_letters_is_an_option_of_the_scorer(score: Any) -> None:
    assert score(MultipleChoice(), "Answer: K", "A").status is Status.UNPARSED
    assert score(MultipleChoice(letters=26), "Answer: K", "K").value == 1.0


def test_a_score_tells_the_letter_and_where_it_was_found(score: Any) -> None:
    found = score(MultipleChoice(), "Hence the answer is (C).", "C")
    assert (found.span, found.detail) == ("answer is (C)", {"letter": "C"})


@pytest.mark.parametrize("target", ["E", "Paris", "", 4, -1, True, 1.0])
def test_a_target_that_is_no_letter_is_the_graders_error(target: Any, score: Any) -> None:
    with pytest.raises(GraderError, match=r"^sample s1: ground_truth .* is none of the letters A to D$"):
        score(MultipleChoice(), "A", target, options=["w", "x", "y", "z"])
