"""Programs with known verdicts, by which the grader is checked.

They look up the expected outputs of the tests, because the dataset contains no solutions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.livecodebench.grading import tests_of
from benchwright.catalog.livecodebench.problem_tests import Test
from benchwright.records import Sample

CHEATING_PROGRAMS = {
    "does nothing": "pass",
    "ends its process": "import os\nos._exit(0)",
    "is no Python": "so it is",
}


def checks(sample: Sample) -> Iterator[Check]:
    """Yield programs that check the grader. One has the outputs of all tests; others lack some or all outputs."""
    content = sample.content
    tests = tests_of(content)
    yield Check(GOLD, [assistant(_fenced(_table(content, tests)))])
    wrong = [*tests[:-1], Test(tests[-1].input, json.dumps(f"not {tests[-1].output[:20]}"))]
    yield Check("the last test fails", [assistant(_fenced(_table(content, wrong)))], passes=False)
    for name, code in CHEATING_PROGRAMS.items():
        yield Check(name, [assistant(_fenced(code))], passes=False)
    unfenced = _table(content, tests)
    yield Check("without fences", [assistant(unfenced)], passes=False)
    yield Check("other code behind it", [assistant(_fenced(unfenced) + _fenced("pass"))], passes=False)
    yield Check("empty", [assistant("")], passes=False)


def _table(content: dict[str, Any], tests: Sequence[Test]) -> str:
    """Return a program that looks up the expected outputs of these tests in a table, and prints or returns them."""
    answers = {test.input: test.output for test in tests}
    if content["function"] is None:
        return f"import sys\nanswers = {answers!r}\nprint(answers[sys.stdin.read()])"
    return (
        f"import json\n\nanswers = {answers!r}\n\n\nclass Solution:\n"
        f"    def {content['function']}(self, *given):\n"
        "        for asked, answer in answers.items():\n"
        "            if [json.loads(line) for line in asked.split('\\n')] == list(given):\n"
        "                return json.loads(answer)\n"
    )


def _fenced(code: str) -> str:
    return f"Here it is:\n\n```python\n{code}\n```\n\nIt does what is asked.\n"
