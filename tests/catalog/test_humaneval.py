"""HumanEval: from an answer to a program, and whether that reaches its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored

from benchwright.catalog.humaneval.program_builder import (
    build_program,
    lenient_completion,
    published_completion,
)
from benchwright.catalog.registry import find_about
from benchwright.data.errors import DatasetError

PROMPT = 'from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n    """Adds them up."""\n'
CONTENT = {
    "prompt": PROMPT,
    "canonical_solution": "    return sum(numbers)\n",
    "test": "\n\ndef check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n",
    "entry_point": "total",
}
ROW = {"task_id": "HumanEval/0", **CONTENT}


@pytest.mark.parametrize("name", ["humaneval", "humaneval:documented"])
async def test_real_problems_pass_with_their_solutions_and_not_by_a_trick(name: str, real_rows: Path) -> None:
    played = await validated(name, real_rows / "humaneval", limit=3)
    assert (played.samples, played.failures) == (3, [])


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_forty_real_problems_pass_with_their_solutions_and_not_by_a_trick(real_rows: Path) -> None:
    """All 164 do; `benchwright validate humaneval` plays them in a minute or so."""
    played = await validated("humaneval", real_rows / "humaneval", limit=40)
    assert (played.samples, played.failures) == (40, [])


async def test_the_prompt_is_that_of_simple_evals(tmp_path: Path) -> None:
    (sample,) = samples("humaneval", write_rows(tmp_path / "test.jsonl", [ROW]))
    assert sample.id == "HumanEval/0"
    messages, _ = await asked(benchmark("humaneval"), sample)
    assert messages == [
        {"role": "system", "content": "You are a helpful assistant."},
        {
            "role": "user",
            "content": "Read the following function signature and docstring, and fully implement the function "
            f"described. Your response should only contain the code for this function.\n{PROMPT}",
        },
    ]


def test_it_is_sampled_as_the_published_rows_of_chat_models_were() -> None:
    assert (find_about("humaneval").temperature, find_about("humaneval").max_tokens) == (0.5, 2048)
    assert find_about("humaneval:documented").temperature == 0.0


BODY = "    return sum(numbers)"
WHOLE = f"{PROMPT}{BODY}"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        # bodies
        (BODY, BODY),
        ("return sum(numbers)", BODY),
        (
            "n = 0\nfor x in numbers:\n    n += x\nreturn n",
            "    n = 0\n    for x in numbers:\n        n += x\n    return n",
        ),
        ("for x in numbers:\n    print(x)", "    for x in numbers:\n        print(x)"),
        # a first line whose indentation was stripped
        ("n = 0\n    return n", "    n = 0\n    return n"),
        (
            "for x in numbers:\n        n += x\n    return n",
            "    for x in numbers:\n        n += x\n    return n",
        ),
        ("x = (\n    1\n)", "    x = (\n        1\n    )"),
        # whole functions, which replace the one that the prompt begins
        (f"def total(numbers):\n{BODY}", f"def total(numbers):\n{BODY}"),
        ("async def total(numbers): ...", "async def total(numbers): ..."),
        # a function of another name is part of a body
        ("def totals(): ...", "    def totals(): ..."),
        # fences
        (f"Sure!\n```python\n{BODY}\n```\nDone.", BODY),
        (f"```\n{BODY}\n```", BODY),
        (f"```python3\n{BODY}\n```", BODY),
        (f"  ```Python\n{BODY}\n  ```", BODY),
        (f"```python\n{BODY}", BODY),
        # of several blocks the one with the function
        (
            f"```python\ntotal([1])\n```\n```python\ndef total(numbers):\n{BODY}\n```",
            f"def total(numbers):\n{BODY}",
        ),
        # a fence within a line is none
        ("    s = '```'\n    return s", "    s = '```'\n    return s"),
        ("", ""),
    ],
)
def test_read_leniently_it_is_a_body_or_the_whole_function(answer: str, code: str) -> None:
    assert lenient_completion(CONTENT, answer) == code


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        # what follows the first colon before a line that is four spaces deep
        (f"Sure!\n```python\n{WHOLE}\n```\nDone.", f'    """Adds them up."""\n{BODY}\n'),
        (f"def total(numbers):\n{BODY}", BODY),
        # of the first block whose mark is exactly this one
        (f"```python\nx = 1\n```\n```python\n{WHOLE}\n```", " = 1\n"),
        (f"```\ndef total(numbers):\n{BODY}\n```", f"{BODY}\n```"),
        # else all but the first character
        (BODY, "   return sum(numbers)"),
        ("def total(numbers): return sum(numbers)", "ef total(numbers): return sum(numbers)"),
        ("", ""),
    ],
)
def test_what_follows_the_prompt_is_what_simple_evals_finds(answer: str, code: str) -> None:
    assert published_completion(answer) == code


def test_the_program_is_the_official_one() -> None:
    assert build_program(CONTENT, BODY) == f"{PROMPT}{BODY}\n{CONTENT['test']}\ncheck(total)"


PASSING = {
    "a whole function in a Python fence": f"```python\n{WHOLE}\n```",
    "a whole function": WHOLE,
    "a whole function without the imports of the prompt": f"def total(numbers: List[int]) -> int:\n{BODY}",
    "a function of another name": f"def add_up(numbers):\n{BODY}",
    "helpers before it": f"def add(a, b):\n    return a + b\n\ndef total(numbers):\n{BODY}",
    "a main block, which does not run": f"{WHOLE}\n\nif __name__ == '__main__':\n    raise SystemExit(1)",
    "words on stdout": f"def total(numbers):\n    print('hello')\n{BODY}",
}


@pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING)
async def test_a_right_answer_passes(answer: str) -> None:
    score = await scored("humaneval", CONTENT, answer)
    assert score.value == 1.0
    assert score.detail is not None
    assert score.detail["result"] == "passed"


ANOTHER_FORM = {
    "a body": BODY,
    "a body in a fence": f"```python\n{BODY}\n```",
    "a fence without a language": f"```\n{WHOLE}\n```",
    "a fence of another spelling": f"```Python\n{WHOLE}\n```",
    "an example before it": f"```python\nprint(1)\n```\n```python\n{WHOLE}\n```",
    "two spaces": "```python\ndef total(numbers):\n  return sum(numbers)\n```",
}


@pytest.mark.parametrize("answer", ANOTHER_FORM.values(), ids=ANOTHER_FORM)
async def test_right_code_that_simple_evals_does_not_find_fails_and_is_noted(answer: str) -> None:
    score = await scored("humaneval", CONTENT, answer)
    assert score.value == 0.0
    assert score.detail is not None
    assert score.detail["passes_leniently"] is True


FAILING = {
    "a wrong number": (f"{PROMPT}    return 3", "failed: AssertionError"),
    "no Python": ("I would rather not say.", "failed: IndentationError"),
    "sys.exit(0)": (f"{PROMPT}    import sys\n    sys.exit(0)", "failed: "),
    "os._exit(0)": (f"{PROMPT}    import os\n    os._exit(0)", "failed: "),
    "exit(0) at the top": (f"{WHOLE}\n\nimport sys\nsys.exit(0)", "failed: "),
    "a failure hidden at the end": (
        f"{PROMPT}    import atexit, os\n    atexit.register(os._exit, 0)",
        "failed: ",
    ),
    "reading stdin": (f"{PROMPT}    return sum(numbers) if input() == '' else 0", "failed: "),
    "an endless loop": (f"{PROMPT}    while True: pass", "timed out"),
}


@pytest.mark.parametrize(("answer", "result"), FAILING.values(), ids=FAILING)
async def test_a_wrong_answer_fails_whatever_its_exit_code(answer: str, result: str) -> None:
    score = await scored("humaneval", CONTENT, answer)
    assert score.value == 0.0
    assert score.detail is not None
    assert score.detail["result"].startswith(result)
    assert score.detail["passes_leniently"] is False


async def test_the_documented_evaluator_lets_exit_code_0_pass() -> None:
    score = await scored("humaneval:documented", CONTENT, FAILING["sys.exit(0)"][0])
    assert score.value == 1.0


async def test_a_blank_answer_is_unparsed() -> None:
    score = await scored("humaneval", CONTENT, " \n")
    assert (score.value, score.status) == (None, "unparsed")


def test_pass_at_k_comes_from_repeats() -> None:
    """Five tries each: two of one problem pass and none of the other's; pass@5 is then 1 and 0."""
    scores = [
        *(graded(value, sample="a") for value in (1.0, 1.0, 0.0, None, 0.0)),
        *(graded(0.0, sample="b") for _ in range(5)),
    ]
    expected = {"pass@1": pytest.approx((2 / 5 + 0) / 2), "pass@5": pytest.approx((1 + 0) / 2)}
    assert figures(benchmark("humaneval:documented"), scores) == expected
    assert figures(benchmark("humaneval"), scores).items() >= expected.items()
    assert figures(benchmark("humaneval:documented"), []) == {}


def test_code_in_any_form_has_a_figure_of_its_own() -> None:
    scores = [
        graded(1.0, sample="a"),
        graded(0.0, {"passes_leniently": True}, sample="b"),
        graded(0.0, {"passes_leniently": False}, sample="c"),
        graded(None, sample="d"),
    ]
    found = figures(benchmark("humaneval"), scores)
    assert (found["pass@1"], found["lenient_pass@1"]) == (1 / 4, 2 / 4)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"entry_point": "check(), total"}, "`entry_point` is not a function name: 'check(), total'"),
        ({"test": None}, r"`\$.test`"),
    ],
)
def test_a_row_that_is_no_problem_is_told_by_its_number(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    path = write_rows(tmp_path / "test.jsonl", [{**ROW, **change}])
    with pytest.raises(DatasetError, match="Row 0: ") as told:
        list(benchmark("humaneval").samples(source("humaneval", path)))
    assert complaint.replace("\\", "") in str(told.value)
