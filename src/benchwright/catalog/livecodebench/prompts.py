"""LiveCodeBench's prompts for chat models (lcb_runner/prompts/code_generation.py), and code extraction."""

from __future__ import annotations

from typing import Any

from benchwright.catalog.asking import system, user
from benchwright.records import Message

SYSTEM_PROMPT = (
    "You are an expert Python programmer. You will be given a question (problem specification) and will generate a "
    "correct Python program that matches the specification and passes all tests."
)
STARTER_CODE_INSTRUCTION = (
    "You will use the following starter code to write the solution to the problem and enclose your code within "
    "delimiters."
)
NO_STARTER_CODE_INSTRUCTION = (
    "Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on the sample "
    "inputs). Enclose your code within delimiters as follows. Ensure that when the python program runs, it reads the "
    "inputs, runs the algorithm and writes output to STDOUT."
)

_FENCE = "```"


def prompt_messages(content: dict[str, Any]) -> list[Message]:
    """Return the official prompt, word for word."""
    starter_code = content["starter_code"]
    form = STARTER_CODE_INSTRUCTION if starter_code else NO_STARTER_CODE_INSTRUCTION
    return [
        system(SYSTEM_PROMPT),
        user(
            f"### Question:\n{content['question']}\n\n### Format: {form}\n"
            f"```python\n{starter_code or '# YOUR CODE HERE'}\n```\n\n"
            "### Answer: (use the provided format with backticks)\n\n"
        ),
    ]


def extract_code(answer: str) -> str | None:
    """Return the text between the last two lines with a code fence. Return None if there are fewer than two."""
    lines = answer.split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) > 1 else None
