"""A statistic that may not exist: what may be done with it, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.analysis.json_documents import encode_document
from benchwright.formats import figure_text, format_interval, number_text
from benchwright.records import Record
from benchwright.statistic import NoScore, Statistic, is_number, numeric_statistics

NONE = NoScore(11, {"HTTP 404: no such model": 11})
STATISTICS = st.none() | st.floats(-1e6, 1e6) | st.builds(NoScore, st.integers(0, 10**6))

USES: dict[str, Callable[[Any], Any]] = {
    "as a number": float,
    "in an f-string": lambda one: f"{one:.3f}",
    "compared": lambda one: one < 0.5,
    "added": lambda one: one + 1,
    "asked whether it is true": bool,
    "or another in its place": lambda one: one or 0.0,
    "sorted": lambda one: sorted([0.5, one]),
    "encoded by the standard library": json.dumps,
}


@pytest.mark.parametrize("use", USES)
def test_no_score_is_refused_wherever_a_number_is_wanted(use: str) -> None:
    with pytest.raises(TypeError):
        USES[use](NONE)


@pytest.mark.parametrize(
    ("none", "text", "brief"),
    [
        (NONE, "no score (11 of 11 failed: HTTP 404: no such model)", "no score (11 of 11 failed)"),
        (
            NoScore(16, {"HTTP 500": 10, "HTTP 404": 6}),
            "no score (16 of 16 failed, 10 of them: HTTP 500)",
            "no score (16 of 16 failed)",
        ),
        (NoScore(4), "no score (none of 4 was scored)", "no score (none of 4 was scored)"),
        (NoScore(0), "no score (no trial is finished)", "no score (no trial is finished)"),
    ],
)
def test_it_says_how_many_failed_and_why(none: NoScore, text: str, brief: str) -> None:
    assert (str(none), none.brief) == (text, brief)


def test_it_is_what_it_is_and_nothing_else() -> None:
    assert NoScore(1) == NoScore(1)
    assert NoScore(1) != NoScore(2)
    match NONE:
        case NoScore(failed=failed):
            assert failed == 11


@given(STATISTICS)
def test_only_a_number_is_one(value: Statistic) -> None:
    assert is_number(value) == isinstance(value, float)
    assert numeric_statistics([value]) == ([value] if isinstance(value, float) else [])


@given(STATISTICS, STATISTICS)
def test_what_is_shown_has_digits_only_for_numbers(low: Statistic, high: Statistic) -> None:
    for value in (low, high):
        assert any(map(str.isdigit, number_text(value))) == is_number(value)
        assert any(map(str.isdigit, figure_text(value))) == is_number(value)
    assert (format_interval(low, high) == "–") != (is_number(low) and is_number(high))


class Scores(Record, frozen=True):
    """A record of statistics."""

    name: str
    mean: Statistic
    low: Statistic = None
    parts: list[Any] = []


def test_in_a_document_it_is_null_and_the_reason_stands_beside_it() -> None:
    scores = Scores("exact", NONE, NONE, [Scores("part", 0.5), Scores("other", NoScore(3))])
    assert json.loads(encode_document({"scores": [scores], "n": 2})) == {
        "scores": [
            {
                "name": "exact",
                "mean": None,
                "low": None,
                "parts": [
                    {"name": "part", "mean": 0.5},
                    {"name": "other", "mean": None, "no_score": {"failed": 3}},
                ],
                "no_score": {"failed": 11, "reasons": {"HTTP 404: no such model": 11}},
            }
        ],
        "n": 2,
    }


@given(st.lists(st.builds(Scores, st.text(max_size=3), STATISTICS, STATISTICS), max_size=3))
def test_no_document_has_a_number_that_is_none(listed: list[Scores]) -> None:
    for scores, written in zip(listed, json.loads(encode_document(listed)), strict=True):
        for name in ("mean", "low"):
            value = getattr(scores, name)
            assert written.get(name) == (value if is_number(value) else None)
        assert ("no_score" in written) == any(isinstance(one, NoScore) for one in (scores.mean, scores.low))


@given(st.builds(Scores, st.text(max_size=3), STATISTICS, STATISTICS))
def test_what_is_kept_for_ourselves_is_read_back_as_it_was(scores: Scores) -> None:
    assert msgspec.json.decode(msgspec.json.encode(scores), type=Scores) == scores
