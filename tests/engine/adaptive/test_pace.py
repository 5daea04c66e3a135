"""The pace of `--concurrency auto`, against servers as queueing theory draws them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.adaptive.queueing_model import SECOND, Model, Moment, play

from benchwright.engine.adaptive.concurrency_controller import MIN_WINDOW_TRIALS, ConcurrencyController

BOUND = 512

SLOTS = st.integers(1, 40)
SERVICE = st.sampled_from([0.1, 1.0, 10.0])
SPREAD = st.floats(0.02, 0.25)
SEEDS = st.integers(0, 10_000)


def enough_for(slots: int) -> int:
    """Trials in which a pace settles on a server of so many slots, and then goes on for a while."""
    return 400 + 60 * slots


def settled_at(history: list[Moment]) -> int:
    """The last level that stood."""
    return [moment.level for moment in history if moment.settled][-1]


def times_settled(history: list[Moment]) -> int:
    return sum(after.settled and not before.settled for before, after in pairwise(history))


@given(SLOTS, SERVICE, SPREAD, SEEDS)
@settings(max_examples=40, deadline=None)
def test_it_settles_near_the_slots_of_a_server_that_lets_others_wait(
    slots: int, service: float, spread: float, seed: int
) -> None:
    model = Model(slots, service, spread, "waits", seed=seed)
    level = settled_at(play(model, ConcurrencyController(BOUND, 0), enough_for(slots)))
    assert slots / 2 <= level <= 4 * slots


@given(SLOTS, SERVICE, SPREAD, SEEDS)
@settings(max_examples=40, deadline=None)
def test_it_settles_below_or_hardly_above_the_slots_of_a_server_that_refuses_others(
    slots: int, service: float, spread: float, seed: int
) -> None:
    model = Model(slots, service, spread, "refused", seed=seed)
    level = settled_at(play(model, ConcurrencyController(BOUND, 0), enough_for(slots)))
    assert slots / 3 <= level <= 1.25 * slots


@given(SLOTS, SERVICE, SPREAD, SEEDS)
@settings(max_examples=20, deadline=None)
def test_once_settled_it_stays(slots: int, service: float, spread: float, seed: int) -> None:
    history = play(
        Model(slots, service, spread, seed=seed), ConcurrencyController(BOUND, 0), enough_for(slots)
    )
    assert times_settled(history) == 1
    first = next(place for place, moment in enumerate(history) if moment.settled)
    assert {moment.level for moment in history[first:]} == {history[first].level}
    assert first <= 300 + 30 * slots


@given(
    st.integers(1, 30), st.lists(st.sampled_from(["begin", "end", "refuse", "wait", "starve"]), max_size=400)
)
def test_whatever_happens_it_stays_between_one_and_its_bound(bound: int, happenings: list[str]) -> None:
    pace, now, in_flight = ConcurrencyController(bound, 0), 0, 0
    for happening in happenings:
        now += 1000
        if happening == "begin" and in_flight < pace.level:
            pace.mark_busy(now)
            pace.count_start()
            in_flight += 1
        elif happening == "end" and in_flight:
            pace.count_end(now)
            in_flight -= 1
        elif happening == "refuse" and in_flight:
            pace.count_refusal(now)
        elif happening == "starve":
            pace.mark_idle()
        assert 1 <= pace.level <= bound
        assert not pace.is_settled or in_flight <= pace.level


@pytest.mark.parametrize("bound", [1, 3, 64])
def test_where_nothing_ever_gets_slower_it_settles_at_the_bound(bound: int) -> None:
    assert settled_at(play(Model(10_000), ConcurrencyController(bound, 0), 3000)) == bound


def test_it_starts_slowly_and_doubles() -> None:
    history = play(Model(10_000), ConcurrencyController(64, 0), 1000)
    assert list(dict.fromkeys(moment.level for moment in history)) == [1, 2, 4, 8, 16, 32, 64]


def risen_to(level: int) -> tuple[ConcurrencyController, int]:
    """A pace that has just doubled to a level, with as many in flight; and the time."""
    pace, now, in_flight = ConcurrencyController(BOUND, 0), 0, 0
    while True:
        while in_flight < pace.level:
            pace.count_start()
            in_flight += 1
        if pace.level == level:
            return pace, now
        now += SECOND // pace.level
        pace.count_end(now)
        in_flight -= 1


def test_a_single_refusal_is_taken_for_chance_and_more_halve_it_at_once() -> None:
    pace, now = risen_to(16)
    pace.count_refusal(now)
    assert pace.level == 16
    pace.count_refusal(now)
    assert pace.level == 8


def test_refusals_of_what_was_asked_before_it_was_halved_do_not_halve_it_again() -> None:
    pace, now = risen_to(16)
    for _ in range(10):
        pace.count_refusal(now)
    assert pace.level == 8


def test_a_server_that_loses_slots_is_followed_down() -> None:
    model = Model(32, beyond="refused")
    history = play(model, ConcurrencyController(BOUND, 0), 6000, lambda ended: 8 if ended == 2000 else None)
    before = [moment.level for moment in history[:2000] if moment.settled][-1]
    assert 16 <= before <= 40
    assert 4 <= settled_at(history) <= 12
    assert times_settled(history) >= 2


def test_a_server_that_was_away_for_a_while_is_followed_up_again() -> None:
    def slots_after(ended: int) -> int | None:
        return {2000: 1, 2060: 32}.get(ended)

    history = play(Model(32, beyond="refused", again=0.5), ConcurrencyController(BOUND, 0), 8000, slots_after)
    before = [moment.level for moment in history[:2000] if moment.settled][-1]
    assert min(moment.level for moment in history[2000:]) <= before // 4
    assert settled_at(history) >= before / 2


def test_what_ends_while_there_is_no_work_tells_nothing_of_a_level() -> None:
    pace = ConcurrencyController(BOUND, 0)
    for now in range(MIN_WINDOW_TRIALS - 1):
        pace.count_start()
        pace.count_end(now)
    pace.count_start()
    pace.mark_idle()
    pace.count_end(1000 * SECOND)
    assert pace.level == 1
    pace.mark_busy(2000 * SECOND)
    for now in range(MIN_WINDOW_TRIALS):
        assert pace.level == 1
        pace.count_start()
        pace.count_end(2000 * SECOND + now)
    assert pace.level == 2


@given(st.integers(0, 60), st.integers(2, 1000))
@settings(max_examples=60, deadline=None)
def test_a_standstill_of_our_own_ends_no_search(after: int, seconds: int) -> None:
    """A server for which each trial takes a second, however many there are: the highest level is the best one."""
    pace, now = ConcurrencyController(16, 0), 0
    for turn in range(80):
        level = pace.level
        for _ in range(level):
            pace.count_start()
        now += SECOND
        if turn == after:
            now += seconds * SECOND
            pace.restart_window(now)
        for _ in range(level):
            pace.count_end(now)
    assert (pace.level, pace.is_settled) == (16, True)
