"""Construction of the program to run: code is extracted from the answer and put after the prompt.

The official program consists of prompt, completion, test and a call of `check` (openai/human-eval,
execution.py). It was made for models that continue the prompt. Code is extracted from a chat model's response
in two ways: as in simple-evals, whose scores are published, and leniently. The lenient way finds code in any
kind of fence. It also accepts a repetition of the whole function, or a body that has lost its indentation.
"""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)

_STEP = "    "


def build_program(content: dict[str, Any], completion: str) -> str:
    """Return the official test program with this completion of the prompt."""
    return f"{content['prompt']}{completion}\n{content['test']}\ncheck({content['entry_point']})"


def published_completion(answer: str) -> str:
    """Return the completion as simple-evals extracts it: the body of the function in the first Python block.

    As in simple-evals' humaneval_eval.py (find_code), the whole answer is searched if it has no such block.
    If no body is indented by four spaces, only the first character is dropped.
    """
    block, closed, _ = answer.partition("```python\n")[2].partition("```")
    code = block if closed else answer
    return code[code.find(":\n    ") + 2 :]


def lenient_completion(content: dict[str, Any], answer: str) -> str:
    """Return the completion: an indented body, or the whole function, which then replaces the prompt's function."""
    code = extract_code(answer, content["entry_point"]).strip("\n")
    return code if _defines(code, content["entry_point"]) else _as_body(code)


def extract_code(answer: str, entry_point: str) -> str:
    """Return the first fenced block that defines the function.

    If there is none, return the first block. If there is no block, return the answer.
    """
    blocks = [match[1] for match in _FENCED.finditer(answer)]
    if not blocks:
        return answer
    return next((block for block in blocks if _defines(block, entry_point)), blocks[0])


def _defines(code: str, entry_point: str) -> bool:
    return re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(entry_point)}\b", code, re.MULTILINE) is not None


def _as_body(code: str) -> str:
    """Return the code indented as a function's body.

    If all lines but the first are indented already, only the first is indented.
    """
    first, *rest = code.split("\n")
    if not first or first[0].isspace():
        return code
    depths = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    lost = bool(depths) and min(depths) > 0
    if lost and first.rstrip().endswith(":"):
        lost = depths[0] > min(depths)
    return _STEP + code if lost else indent(code, _STEP)
