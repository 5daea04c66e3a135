"""LiveCodeBench: rows and windows, the prompt, hidden tests that execute nothing, and what programs score."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored
from tests.catalog.livecodebench.lcb_kit import cases, method_row, packed, row

from benchwright.catalog.livecodebench import problem_tests
from benchwright.catalog.livecodebench.inside import to_json
from benchwright.catalog.livecodebench.output_comparison import same_output, same_value
from benchwright.catalog.livecodebench.problem_tests import Test, read_tests
from benchwright.catalog.livecodebench.prompts import extract_code
from benchwright.data.errors import DatasetError
from benchwright.engine.offload import offload_processes
from benchwright.engine.protocols import Score
from benchwright.errors import GraderError, UserError
from benchwright.records import Status


async def verdict(path: Path, made: dict[str, Any], code: str) -> Score:
    """What the scorer says of code for a problem."""
    (sample,) = samples("livecodebench", write_rows(path / "test.jsonl", [made]))
    return await scored("livecodebench", sample.content, f"So:\n```python\n{code}\n```")


@pytest.mark.slow
async def test_programs_that_know_the_tests_pass_and_others_do_not(tmp_path: Path) -> None:
    played = await validated("livecodebench", write_rows(tmp_path / "test.jsonl", [row(), method_row()]))
    assert (played.samples, played.failures) == (2, [])


async def test_the_prompt_is_that_of_the_authors_for_chat_models(tmp_path: Path) -> None:
    plain, method = samples("livecodebench", write_rows(tmp_path / "test.jsonl", [row(), method_row()]))
    messages, _ = await asked(benchmark("livecodebench"), plain)
    assert messages[0]["content"].startswith("You are an expert Python programmer.")
    text = messages[1]["content"]
    assert text.startswith(
        "### Question:\nPrint the sum, abc1_a.\n\n### Format: Read the inputs from stdin solve the problem"
    )
    assert text.endswith(
        "```python\n# YOUR CODE HERE\n```\n\n### Answer: (use the provided format with backticks)\n\n"
    )
    messages, _ = await asked(benchmark("livecodebench"), method)
    assert "You will use the following starter code" in messages[1]["content"]
    assert (
        "```python\nclass Solution:\n    def pair(self, a: int, b: int) -> List[int]:\n        \n```\n\n"
        in (messages[1]["content"])
    )


def test_problems_are_chosen_by_the_day_of_their_contest(tmp_path: Path) -> None:
    days = ("2024-07-31", "2024-08-01", "2025-02-01", "2025-02-02")
    path = write_rows(tmp_path / "test.jsonl", [row(day, f"{day}T00:00:00") for day in days])
    chosen = samples("livecodebench", path, {"from": "2024-08-01", "to": "2025-02-01"})
    assert [(one.id, one.labels["month"]) for one in chosen] == [
        ("2024-08-01", "2024-08"),
        ("2025-02-01", "2025-02"),
    ]
    (departure,) = benchmark("livecodebench", {"from": "2024-08-01"}).departures
    assert "from 2024-08-01" in departure


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"from": "August"}, "--option from is a day such as 2024-08-01, not 'August'"),
        ({"from": "2025-01-02", "to": "2025-01-01"}, "The window is empty"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        benchmark("livecodebench", options)


def test_version_5_has_the_first_five_files(tmp_path: Path) -> None:
    for name in ("test", *(f"test{number}" for number in range(2, 7))):
        write_rows(tmp_path / f"{name}.jsonl", [row(name)])
    assert [one.id for one in samples("livecodebench", tmp_path)] == [
        *("test", "test2", "test3", "test4", "test5", "test6")
    ]
    assert [one.id for one in samples("livecodebench:v5", tmp_path)] == [
        *("test", "test2", "test3", "test4", "test5")
    ]


def test_hidden_tests_are_json_or_a_packed_string_of_json() -> None:
    made = cases(("1", "2"))
    assert read_tests(json.dumps(made)) == read_tests(packed(json.dumps(made))) == [Test("1", "2")]


class _Harmful:
    def __reduce__(self) -> Any:
        return os.mkdir, ("harm",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (packed(_Harmful()), "asks for posix.mkdir"),
        (packed(["no", "text"]), "holds no text but list"),
        (packed("[{}]"), "missing required field"),
        (base64.b64encode(zlib.compress(b"\x80\x04X")).decode(), "cannot be read"),
        (base64.b64encode(zlib.compress(pickle.dumps("[]"))[:-5]).decode(), "cut off"),
        ("no base64", "cannot be read"),
    ],
)
def test_what_is_no_packed_string_is_refused_and_nothing_of_it_is_executed(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=said):
        read_tests(text)
    assert list(tmp_path.iterdir()) == []


def test_a_stream_that_swells_beyond_all_bounds_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem_tests, "MAX_TESTS_BYTES", 1000)
    with pytest.raises(ValueError, match="more than 1,000 bytes"):
        read_tests(packed("[" + " " * 10_000 + "]"))


async def test_damaged_hidden_tests_are_a_failure_and_no_wrong_answer(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="damaged"):
        await verdict(tmp_path, row(private_test_cases=packed(["no", "text"])), "pass")


def test_a_row_with_damaged_public_tests_is_told_by_its_number(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "test.jsonl", [row(), row(public_test_cases="[{}]")])
    with pytest.raises(DatasetError, match="Row 1"):
        list(benchmark("livecodebench").samples(source("livecodebench", path)))


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("```python\na\n```", "a"),
        ("```\na\n```\nor\n``` py\nb\nc\n```\n", "b\nc"),
        # the last two lines with fences, whatever they belong to
        ("```python\na\n```\n```", ""),
        ("`a`", None),
        ("```python\na", None),
    ],
)
def test_the_code_stands_between_the_last_two_fences(answer: str, code: str | None) -> None:
    assert extract_code(answer) == code


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("3\n", "3", True),
        (" 3 \n4\n\n", "3\n4", True),
        ("3.0 1e2", "3 100", True),
        ("1  2", "1 2", True),
        ("a  b", "a b", False),
        ("YES", "Yes", False),
        ("0.30000000000000004", "0.3", False),
        ("3\n\n4", "3\n4", False),
        ("sNaN", "1", False),
        ("", "0", False),
    ],
)
def test_lines_are_equal_as_texts_or_as_decimal_numbers(printed: str, expected: str, same: bool) -> None:
    assert same_output(printed, expected) is same


@pytest.mark.parametrize(
    ("returned", "expected", "same"),
    [
        ([1, 2], "[1, 2]", True),
        ([1.0, True], "[1, 1]", True),
        ([(1, 2)], "[[1, 2]]", False),
        ({1: 2}, '{"1": 2}', False),
        ({"a": 1}, '{"a": 1}', True),
        ({1, 2}, "[1, 2]", False),
        ([float("nan")], "[NaN]", False),
        (0.1 + 0.2, "0.3", False),
        (object(), "null", False),
        (None, "null", True),
    ],
)
def test_values_are_equal_as_python_compares_them(returned: Any, expected: str, same: bool) -> None:
    assert same_value(to_json(returned), expected) is same


READ = "a, b = map(int, input().split())\n"


@pytest.mark.parametrize(
    ("code", "result"),
    [
        (f"{READ}print(a + b)", "passed"),
        ("import sys\nprint(sum(map(int, sys.stdin.read().split())))", "passed"),
        # it is the body of a function, with many modules imported before it
        (f"def main():\n    {READ}    print(reduce(add, [a, b]))\nif __name__ == '__main__':\n    main()", "passed"),
        (f"{READ}print(a + b)\nexit()\n1 / 0", "passed"),
        (f"{READ}print(abs(a) + abs(b))", "wrong answer"),
        (f"x = 0\ndef main():\n    global x\n    x += 1\nmain()\n{READ}print(a + b)", "run-time error"),
        ("import sys\nfor line in sys.stdin:\n    print(line)", "run-time error"),
        (f"{READ}print(a + b)\nimport os\nos._exit(0)", "run-time error"),
        ("print(", "run-time error"),
    ],
)  # fmt: skip
async def test_a_program_is_run_as_by_the_official_checker(tmp_path: Path, code: str, result: str) -> None:
    score = await verdict(tmp_path, row(), code)
    assert score.detail is not None
    assert (score.value, score.detail["result"]) == (float(result == "passed"), result)


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("class Solution:\n    def pair(self, a, b):\n        return a, b", "passed"),
        ("def pair(a, b):\n    return [a, b]", "passed"),
        ("# class Solution\ndef pair(a, b):\n    return [a, b]", "run-time error"),
        ("class Solution:\n    def pair(self, a, b):\n        return [b, a]", "wrong answer"),
    ],
)
async def test_a_method_is_called_with_the_arguments_of_each_test(
    tmp_path: Path, code: str, result: str
) -> None:
    score = await verdict(tmp_path, method_row(), code)
    assert score.detail is not None
    assert (score.value, score.detail["result"]) == (float(result == "passed"), result)


async def test_the_score_says_how_many_tests_passed_before_one_failed(tmp_path: Path) -> None:
    score = await verdict(tmp_path, row(), f"{READ}print(a + b if a < 10 else 0)")
    assert score.detail is not None
    assert (score.detail["passed_tests"], score.detail["tests"]) == (2, 3)
    assert score.explanation == "wrong answer, 2 of 3 tests passed"


async def test_long_tests_are_read_and_compared_in_another_process(tmp_path: Path) -> None:
    long = "1 " * 60_000
    made = row(private_test_cases=packed(json.dumps(cases(("1 2", "3"), (long, long)))))
    async with offload_processes():
        score = await verdict(
            tmp_path, made, "t = input()\nprint(t if len(t) > 9 else sum(map(int, t.split())))"
        )
    assert (score.value, score.explanation) == (1.0, "passed, 3 of 3 tests passed")


async def test_an_answer_without_code_is_unparsed(tmp_path: Path) -> None:
    (sample,) = samples("livecodebench", write_rows(tmp_path / "test.jsonl", [row()]))
    assert (await scored("livecodebench", sample.content, "I do not know.")).status is Status.UNPARSED


async def test_a_program_finds_no_expected_output_in_its_process(tmp_path: Path) -> None:
    """Neither in its memory nor in its files: what tests expect stays outside."""
    secret = "7" * 30
    code = (
        "import gc, sys, os\n"
        "things = [thing for thing in gc.get_objects() if isinstance(thing, dict)]\n"
        "known = [str(value) for thing in things for value in list(thing.values())]\n"
        "frame = sys._getframe()\n"
        "while frame:\n    known += map(str, frame.f_locals.values())\n    frame = frame.f_back\n"
        "known += [open(name, errors='replace').read() for name in os.listdir('.')]\n"
        "found = [text for text in known if '7' * 30 in text]\n"
        "print('7' * 30 if found else 'nothing')"
    )
    made = row(public_test_cases=json.dumps(cases(("", secret))), private_test_cases="[]")
    score = await verdict(tmp_path, made, code)
    assert (score.value, score.explanation) == (0.0, "wrong answer, 0 of 1 tests passed")


@pytest.mark.slow
async def test_a_program_that_never_ends_is_ended_after_six_seconds(tmp_path: Path) -> None:
    score = await verdict(tmp_path, row(), "while True:\n    pass")
    assert score.detail is not None
    assert (score.value, score.detail["result"]) == (0.0, "time limit exceeded")


def test_figures_are_unbiased_pass_at_k() -> None:
    scores = [graded(float(number < 2), sample=name) for name in ("a", "b") for number in range(5)]
    known = figures(benchmark("livecodebench"), scores)
    assert known["pass@1"] == pytest.approx(0.4)
    assert known["pass@5"] == 1.0
