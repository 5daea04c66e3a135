"""From an answer to the program that is run: the code is taken out, put behind the prompt, and checked.

The official program is prompt, completion, test and a call of `check` (openai/human-eval, execution.py). It was
made for models that go on from the prompt. What a chat model writes is read in two ways: as simple-evals does, whose
scores are published, and leniently, so that code in any form is found: in fences of any kind, the whole function
once more, a body that has lost its indentation.
"""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)

_STEP = "    "


def program(content: dict[str, Any], completion: str) -> str:
    """The official program that decides about what follows the prompt."""
    return f"{content['prompt']}{completion}\n{content['test']}\ncheck({content['entry_point']})"


def published_completion(answer: str) -> str:
    """What follows the prompt by simple-evals (humaneval_eval.py, find_code): the first Python block from its body on.

    Without such a block it is the answer; without a body four spaces deep only the first character is dropped.
    """
    block, closed, _ = answer.partition("```python\n")[2].partition("```")
    code = block if closed else answer
    return code[code.find(":\n    ") + 2 :]


def lenient_completion(content: dict[str, Any], answer: str) -> str:
    """What follows the prompt: the whole function, which then replaces the prompt's, or its indented body."""
    code = code_of(answer, content["entry_point"]).strip("\n")
    return code if _defines(code, content["entry_point"]) else _as_body(code)


def code_of(answer: str, entry_point: str) -> str:
    """The first fenced block that defines the function, else the first one, else the answer as it stands."""
    blocks = [match[1] for match in _FENCED.finditer(answer)]
    if not blocks:
        return answer
    return next((block for block in blocks if _defines(block, entry_point)), blocks[0])


def _defines(code: str, entry_point: str) -> bool:
    return re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(entry_point)}\b", code, re.MULTILINE) is not None


def _as_body(code: str) -> str:
    """The code as a function's body: indented where it is not; where only its first line is not, that one."""
    first, *rest = code.split("\n")
    if not first or first[0].isspace():
        return code
    depths = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    lost = bool(depths) and min(depths) > 0
    if lost and first.rstrip().endswith(":"):
        lost = depths[0] > min(depths)
    return _STEP + code if lost else indent(code, _STEP)
