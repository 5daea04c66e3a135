"""Scorers by name, their options as a command line gives them."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.errors import UserError
from benchwright.runs.keys import fingerprint
from benchwright.scorers.judge import CORRECTNESS_RUBRIC, JUDGE_INSTRUCTIONS
from benchwright.scorers.registry import SCORERS, make_scorer


@pytest.mark.parametrize("name", SCORERS)
def test_every_listed_scorer_can_be_made_and_says_what_it_does(name: str) -> None:
    scorer = make_scorer(name)
    assert scorer.name == name
    assert len(scorer.fingerprint) == 32
    assert "\n" not in SCORERS[name].description


VALUES = {
    "strict": "yes",
    "relative": "0.01",
    "absolute": "2",
    "pattern": "x",
    "full": "true",
    "ignore_case": "1",
}
VALUES |= {"contains": "TRUE", "letters": "4", "model": "m", "rubric": "r", "scale": "1-5"}


@pytest.mark.parametrize(
    ("name", "option"), [(name, o) for name, kind in SCORERS.items() for o in kind.option_parsers]
)
def test_every_option_is_taken_and_changes_the_fingerprint(name: str, option: str) -> None:
    assert make_scorer(name, {option: VALUES[option]}).fingerprint != make_scorer(name).fingerprint


EARLIER = {
    "exact": fingerprint("exact", 1, False),
    "numeric": fingerprint("numeric", 1, 1e-9, 0.0),
    "regex": fingerprint("regex", 1, None, False, False),
    "mcq": fingerprint("mcq", 1, 10),
    "judge": fingerprint("judge", 1, JUDGE_INSTRUCTIONS, CORRECTNESS_RUBRIC, "0-1", ""),
}
"""The fingerprints of rules of before."""


@pytest.mark.parametrize("name", EARLIER)
def test_verdicts_by_an_earlier_rule_are_not_taken_for_todays(name: str) -> None:
    assert make_scorer(name).fingerprint != EARLIER[name]


def test_options_are_read_as_what_they_mean(score: Any) -> None:
    assert score(make_scorer("numeric", {"relative": "0.01"}), "3.14", "3.1416").value == 1.0
    assert score(make_scorer("exact", {"strict": "no"}), "paris", "Paris").value == 1.0
    assert score(make_scorer("exact", {"strict": "true"}), "paris", "Paris").value == 0.0


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "numeirc",
            {},
            "Unknown scorer 'numeirc'. Did you mean 'numeric'? "
            "Scorers: exact, numeric, regex, json, mcq, judge",
        ),
        (
            "numeric",
            {"relativ": "1"},
            "Scorer 'numeric' has no option 'relativ'. Did you mean 'relative'? Options: relative, absolute",
        ),
        ("numeric", {"relative": "much"}, "Scorer 'numeric': relative=much: give a number"),
        ("numeric", {"absolute": "-1"}, "Scorer 'numeric': absolute=-1: give a number of 0 or more"),
        ("exact", {"strict": "maybe"}, "Scorer 'exact': strict=maybe: give true or false"),
        ("mcq", {"letters": "27"}, "Scorer 'mcq': letters=27: give a number from 2 to 26"),
        ("judge", {"scale": "1-10"}, "Scorer 'judge': scale=1-10: give 0-1 or 1-5"),
    ],
)
def test_a_mistake_gets_one_line_that_says_what_to_give(
    name: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        make_scorer(name, options)
    assert str(caught.value) == message
