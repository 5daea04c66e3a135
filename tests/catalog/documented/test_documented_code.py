"""Code that a model wrote, run in the sandbox: exit code 0 is what counts, as documented."""

from __future__ import annotations

import asyncio

import pytest

from benchwright.catalog.llm_benchmarker_api.evaluators.code_execution import (
    execute_python,
    run_humaneval_test,
)

PROMPT = 'def add(a, b):\n    """Adds."""\n'
CHECK = "def check(candidate):\n    assert candidate(1, 2) == 3\n"


async def test_exit_code_0_passes_and_gives_stdout() -> None:
    assert await execute_python("print('out'); print(__name__)") == (True, "out\n__main__\n")


async def test_leaving_with_exit_code_0_passes_too_as_documented() -> None:
    assert await execute_python("import sys; sys.exit(0)\n1 / 0") == (True, "")


async def test_an_exception_fails_and_gives_stderr() -> None:
    passed, text = await execute_python("print('told')\n1 / 0")
    assert not passed
    assert text.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "told" not in text


async def test_a_program_without_an_end_is_ended() -> None:
    passed, text = await asyncio.wait_for(execute_python("while True: pass", timeout=0.5), 20)
    assert not passed
    assert text.startswith("timed out after 0.5 s")


@pytest.mark.parametrize(
    "completion",
    [
        "    return a + b\n",
        "return a + b",
        "c = a\nreturn c + b",
        "c = a\n    return c + b",
        "```python\n    return a + b\n```",
        "Here you are:\n```python\ndef add(a, b):\n    return a + b\n```\nIt adds.",
        "import math\n\ndef add(a, b):\n    return a + b",
    ],
    ids=["body", "lost indentation", "lost on all lines", "lost on the first", "fence", "whole", "imports"],
)
async def test_a_body_or_a_whole_function_passes(completion: str) -> None:
    assert await run_humaneval_test(PROMPT, completion, CHECK, "add") == (True, "")


async def test_a_wrong_function_fails() -> None:
    passed, text = await run_humaneval_test(PROMPT, "    return a - b\n", CHECK, "add")
    assert not passed
    assert "AssertionError" in text


async def test_a_function_of_another_name_is_taken_for_a_body_with_helpers() -> None:
    helped = "    return plus(a, b)\n\ndef plus(a, b):\n    return a + b"
    assert await run_humaneval_test(PROMPT, helped, CHECK, "add") == (True, "")
