"""MATH-500: what is asked, and what math-verify says of the last box."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, scored

from benchwright.catalog.math_500 import grading
from benchwright.catalog.math_500.grading import grade
from benchwright.catalog.registry import find_about
from benchwright.data.errors import DatasetError
from benchwright.engine.offload import offload_processes
from benchwright.errors import UserError

ROW = {
    "problem": "What is $\\sqrt 4$?",
    "solution": "",
    "answer": "2",
    "subject": "Algebra",
    "level": 3,
    "unique_id": "test/algebra/1.json",
}


async def test_real_problems_pass_with_their_answers(real_rows: Path) -> None:
    played = await validated("math_500", real_rows / "math_500")
    assert (played.samples, played.failures) == (10, [])


async def test_the_problem_is_followed_by_the_instruction(tmp_path: Path) -> None:
    (sample,) = samples("math_500", write_rows(tmp_path / "test.jsonl", [ROW]))
    assert (sample.id, sample.labels) == ("test/algebra/1.json", {"subject": "Algebra", "level": "3"})
    messages, _ = await asked(benchmark("math_500"), sample)
    assert messages == [
        {
            "role": "user",
            "content": "What is $\\sqrt 4$?\n\n"
            "Please reason step by step, and put your final answer within \\boxed{}.",
        }
    ]


@pytest.mark.parametrize(
    ("right", "stated", "value"),
    [
        ("2", "2", 1.0),
        ("2", "2.", 1.0),
        ("2", "\\frac{4}{2}", 1.0),
        ("2", "-2", 0.0),
        # a bare root or pair, of which the library reads nothing without dollars
        ("\\sqrt{2}", "2^{1/2}", 1.0),
        ("(2,3)", "( 2, 3 )", 1.0),
        ("(2,3)", "(3,2)", 0.0),
        ("2\\pi", "2", 0.0),
        ("1,3,7", "7, 3, 1", 1.0),
        ("\\left( 3, \\frac{\\pi}{2} \\right)", "(3, \\pi/2)", 1.0),
        ("p - q", "p-q", 1.0),
        ("p - q", "q-p", 0.0),
        ("\\text{Evelyn}", "Evelyn", 1.0),
        ("\\text{Evelyn}", "Angela", 0.0),
        ("x \\in [-2,7]", "[-2,7]", 1.0),
        ("[-2,7]", "(-2,7)", 0.0),
        ("11,\\! 111,\\! 111,\\! 100", "11111111100", 1.0),
        ("2", "", None),
        ("2", "2+" * 2_000 + "2", None),
    ],
)
def test_the_library_compares_the_last_box(right: str, stated: str, value: float | None) -> None:
    assert grade({"answer": right}, f"So it is \\boxed{{{stated}}}").score == value


@pytest.mark.parametrize("answer", ["", "It is 2", "\\boxed{2"])
def test_without_a_box_an_answer_is_unparsed(answer: str) -> None:
    assert grade({"answer": "2"}, answer).score is None


def test_earlier_boxes_are_not_read_as_a_set() -> None:
    assert grade({"answer": "70"}, "First \\boxed{71}, no: \\boxed{70}").score == 1.0
    assert grade({"answer": "70"}, "First \\boxed{70}, no: \\boxed{71}").score == 0.0


@pytest.mark.slow
async def test_an_answer_that_is_computed_for_ever_is_wrong_and_holds_up_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The library's arithmetic hears no signal; the process is killed, and the next answer gets another one."""
    monkeypatch.setattr("benchwright.catalog.math_500.benchmark.CPU_SECONDS", 6.0)
    task = benchmark("math_500")
    async with offload_processes():
        score = await scored(task, {"answer": "2"}, "\\boxed{9^{9^{9^{9}}}}")
        assert score.value in (0.0, None)
        assert (await scored(task, {"answer": "\\sqrt{4}"}, "\\boxed{2}")).value == 1.0


async def test_the_import_of_the_library_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes seconds, the more the busier the machine is: right answers must not become wrong by it."""
    monkeypatch.setattr("benchwright.catalog.math_500.benchmark.CPU_SECONDS", 0.6)
    async with offload_processes():
        score = await scored(benchmark("math_500"), {"answer": "\\frac{\\sqrt{8}}{2}"}, "\\boxed{\\sqrt{2}}")
    assert score.value == 1.0


def test_without_the_library_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark("math_500")  # whose modules take the name of the library when they are imported
    monkeypatch.setattr(grading, "LIBRARY_NAME", "math-verify-that-nobody-has")
    with pytest.raises(UserError, match=r"pip install 'benchwright\[math\]'"):
        benchmark("math_500")


def test_another_version_of_the_library_is_a_departure(monkeypatch: pytest.MonkeyPatch) -> None:
    published = benchmark("math_500")
    assert published.departures == ()
    monkeypatch.setattr("benchwright.catalog.math_500.benchmark.library_version", lambda: "1.0")
    other = benchmark("math_500")
    assert other.departures == ("math-verify 1.0 instead of 0.9.0",)
    assert other.scorers[0].fingerprint != published.scorers[0].fingerprint


def test_it_is_sampled_as_the_card_recommends() -> None:
    metadata = find_about("math_500")
    assert (metadata.temperature, metadata.params, metadata.max_tokens) == (0.6, {"top_p": 0.95}, 32_768)


def test_a_row_without_an_answer_is_told_by_its_number_and_field(tmp_path: Path) -> None:
    row = {name: value for name, value in ROW.items() if name != "answer"}
    path = write_rows(tmp_path / "test.jsonl", [row])
    with pytest.raises(DatasetError, match=r"Row 0: .*`answer`"):
        list(benchmark("math_500").samples(source("math_500", path)))
