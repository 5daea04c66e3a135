"""Made-up problems of LiveCodeBench in the layout of the hub."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any


def cases(*pairs: tuple[str, str], kind: str = "stdin") -> list[dict[str, str]]:
    return [{"input": asked, "output": expected, "testtype": kind} for asked, expected in pairs]


def packed(value: object) -> str:
    """Hidden tests as most rows have them: base64 of zlib of a pickle."""
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def row(identity: str = "abc1_a", date: str = "2025-01-04T00:00:00", **changed: Any) -> dict[str, Any]:
    """A problem whose programs read two numbers and print their sum."""
    return {
        "question_title": "Sum",
        "question_content": f"Print the sum, {identity}.",
        "platform": "atcoder",
        "question_id": identity,
        "contest_id": "abc1",
        "contest_date": date,
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps(cases(("1 2", "3"))),
        "private_test_cases": packed(json.dumps(cases(("2 2\n", "4\n"), ("10 -1", "9")))),
        "metadata": "{}",
    } | changed


def method_row(identity: str = "3000", **changed: Any) -> dict[str, Any]:
    """A problem whose method `pair` gets two numbers and returns them as a list."""
    public = cases(("1\n2", "[1, 2]"), kind="functional")
    private = cases(("3\n4", "[3, 4]"), kind="functional")
    given = {
        "platform": "leetcode",
        "starter_code": "class Solution:\n    def pair(self, a: int, b: int) -> List[int]:\n        ",
        "public_test_cases": json.dumps(public),
        "private_test_cases": json.dumps(private),
        "metadata": json.dumps({"func_name": "pair"}),
    }
    return row(identity, **given | changed)
