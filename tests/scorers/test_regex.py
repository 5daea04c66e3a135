"""Regex: patterns from an option or from the row, and patterns that would never come to an end."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from typing import Any

import pytest

from benchwright.engine.offload import offload_processes
from benchwright.errors import GraderError, UserError
from benchwright.records import Outcome, Sample
from benchwright.scorers.regex import MAX_ANSWER_LENGTH, Regex, _OutOfTime, _time_limit


@pytest.mark.parametrize(
    ("answer", "pattern", "value", "span"),
    [
        ("Order 66 it is", r"\d+", 1.0, "66"),
        ("Order it is", r"\d+", 0.0, None),
        ("ORDER", "order", 0.0, None),
    ],
)
def test_the_target_is_the_pattern_by_default(
    answer: str, pattern: str, value: float, span: str | None, score: Any
) -> None:
    scored = score(Regex(), answer, pattern)
    assert (scored.value, scored.span) == (value, span)


def test_of_a_list_of_patterns_any_will_do(score: Any) -> None:
    assert score(Regex(), "Order 66", [r"[a-z]{9}", r"\d+"]).span == "66"
    assert score(Regex(), "Order 66", ["x", "y"]).value == 0.0


def test_what_is_no_pattern_is_told_before_the_first_request() -> None:
    assert "is not a regular expression" in (Regex().wrong_target({"ground_truth": "("}) or "")
    assert Regex().wrong_target({"ground_truth": r"\d+"}) is None
    assert Regex(pattern="x").wrong_target({"ground_truth": "("}) is None


def test_a_pattern_given_as_option_serves_every_row(score: Any) -> None:
    assert score(Regex(pattern="yes|no"), "I say yes", "not looked at").span == "yes"


def test_full_asks_for_the_whole_answer(score: Any) -> None:
    assert score(Regex(full=True), " 66\n", r"\d+").value == 1.0
    assert score(Regex(full=True), "Order 66", r"\d+").value == 0.0


def test_case_can_be_ignored(score: Any) -> None:
    assert score(Regex(ignore_case=True), "ORDER", "order").value == 1.0


def test_a_wrong_pattern_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match=r"^The pattern '\(' is not a regular expression: "):
        Regex(pattern="(")


def test_a_wrong_pattern_in_a_row_is_the_graders_error(score: Any) -> None:
    with pytest.raises(GraderError, match=r"^ground_truth '\(' is not a regular expression: "):
        score(Regex(), "x", "(")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a?a)+$", "(.*a){12}$"])
def test_a_pattern_without_end_is_given_up(pattern: str, score: Any) -> None:
    with pytest.raises(GraderError, match=r"was not decided in 0\.25 s$"):
        score(Regex(pattern=pattern), "a" * 40 + "!", "")


def test_the_time_limit_leaves_signals_as_they_were(score: Any) -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    score(Regex(), "66", r"\d+")
    with pytest.raises(GraderError):
        score(Regex(pattern="(a+)+$"), "a" * 40 + "!", "")
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("a{99999999999999999999}", "the repetition number is too large"),
        ("(" * 5000 + ")" * 5000, "its brackets are nested too deeply"),
        ("x" * 10_001, "it has 10,001 characters; at most 10,000 are read"),
    ],
)
def test_a_pattern_beyond_what_can_be_read_is_told_in_a_line(pattern: str, says: str, score: Any) -> None:
    with pytest.raises(UserError, match=f"is not a regular expression: {says}$") as told:
        Regex(pattern=pattern)
    assert len(str(told.value)) < 200
    with pytest.raises(GraderError, match=f"is not a regular expression: {says}$"):
        score(Regex(), "x", pattern)


async def test_a_pattern_without_end_holds_nothing_else_up() -> None:
    sample, outcome = Sample("s1", {"ground_truth": "(a+)+$"}), Outcome(answer="a" * 40 + "!")
    scorer: Any = Regex()
    async with offload_processes():
        trials = [asyncio.ensure_future(scorer.score(sample, outcome, None)) for _ in range(4)]
        longest, last = 0.0, time.thread_time()
        while not all(trial.done() for trial in trials):
            await asyncio.sleep(0)
            longest, last = max(longest, time.thread_time() - last), time.thread_time()
    errors = await asyncio.gather(*trials, return_exceptions=True)
    assert [str(error) for error in errors] == ["the pattern '(a+)+$' was not decided in 0.25 s"] * 4
    assert longest < 0.15


async def test_outside_the_main_thread_it_works_all_the_same() -> None:
    def elsewhere() -> float | None:
        sample = Sample("s1", {"ground_truth": r"\d+"})
        return asyncio.run(Regex().score(sample, Outcome(answer="66"), None)).value  # type: ignore[arg-type]

    assert await asyncio.to_thread(elsewhere) == 1.0


def test_a_very_long_answer_is_the_graders_error_not_a_wrong_answer(score: Any) -> None:
    with pytest.raises(GraderError, match=r"at most 100000 are searched$"):
        score(Regex(), "x" * (MAX_ANSWER_LENGTH + 1), r"\d+")


def test_the_fingerprint_covers_pattern_and_options() -> None:
    scorers = [Regex(), Regex(pattern="x"), Regex(full=True), Regex(ignore_case=True)]
    assert len({scorer.fingerprint for scorer in scorers}) == 4


def test_a_signal_in_a_callback_is_followed_by_another() -> None:
    """The limit passes while Python runs something else in between, where nothing may be raised."""

    def late_compilation() -> None:
        with _time_limit(0.01):
            end = time.process_time() + 0.03
            while time.process_time() < end:
                pass
            re.compile("(?:a|b){1,3}" * 3000)

    with pytest.raises(_OutOfTime):
        late_compilation()
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
