"""tau-bench's reward: the final database, what was said, and whether it ended at all."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, source
from tests.catalog.conversations import figures, graded
from tests.catalog.tau_bench.tau_kit import (
    CANCEL,
    CARD,
    NEW_BAGS,
    Action,
    Desk,
    call,
    calling,
    reward,
    sample,
    saying,
    task,
    world,
)

from benchwright.catalog.tau_bench.database import text_to_hash
from benchwright.catalog.tau_bench.environment import DomainEnvironments
from benchwright.catalog.tau_bench.grading import replay_calls
from benchwright.records import Message

DONE = saying("It was $1,022.5 in all.")


def action(name: str, **arguments: Any) -> Message:
    return calling(call(name, arguments))


def gold() -> Message:
    return action(CANCEL["name"], **CANCEL["kwargs"])


async def test_the_right_state_and_the_right_words_score_one(tmp_path: Path) -> None:
    value, detail = await reward(*sample(tmp_path), Desk([gold(), DONE]))
    assert value == 1.0
    assert detail == {
        "correct": True,
        "expected": "cancel_pending_order",
        "domain": "retail",
        "database": True,
        "outputs": {"1022.5": True},
        "ended": "user",
        "steps": 2,
    }


async def test_reading_and_failed_writing_change_nothing(tmp_path: Path) -> None:
    look = action("get_order_details", order_id="#W2")
    fail = action("cancel_pending_order", order_id="#W2", reason="no longer needed")
    value, _ = await reward(*sample(tmp_path), Desk([look, fail, gold(), DONE]))
    assert value == 1.0


@pytest.mark.parametrize(
    ("actions", "database"),
    [
        ([], False),
        ([("cancel_pending_order", {"order_id": "#W1", "reason": "ordered by mistake"})], False),
        ([(CANCEL["name"], CANCEL["kwargs"]), ("think", {"thought": "?"})], True),
        (
            [
                (CANCEL["name"], CANCEL["kwargs"]),
                (
                    "return_delivered_order_items",
                    {"order_id": "#W2", "item_ids": ["red"], "payment_method_id": CARD},
                ),
            ],
            False,
        ),
    ],
    ids=["no action", "another reason", "a thought more", "a write more"],
)
async def test_the_database_must_be_as_after_the_gold_actions(
    tmp_path: Path, actions: list[tuple[str, dict[str, Any]]], database: bool
) -> None:
    replies = [action(name, **arguments) for name, arguments in actions]
    value, detail = await reward(*sample(tmp_path), Desk([*replies, DONE]))
    assert (value, detail["database"]) == (float(database), database)


@pytest.mark.parametrize(
    ("output", "said", "found"),
    [
        ("1022.5", "That is 1,022.50 dollars.", True),
        ("Chicago", "It goes to CHICAGO.", True),
        ("1,022.5", "That is 1,022.5.", False),
        ("22.5", "That is 22 dollars 50.", False),
    ],
    ids=["commas are put aside", "so is case", "but not a comma in what is asked for", "not said"],
)
async def test_outputs_must_be_said(tmp_path: Path, output: str, said: str, found: bool) -> None:
    made, one = sample(tmp_path, task(outputs=[output]))
    value, detail = await reward(made, one, Desk([gold(), saying(said)]))
    assert (value, detail["outputs"]) == (float(found), {output: found})


async def test_words_beside_a_tool_call_are_not_said(tmp_path: Path) -> None:
    beside = gold() | {"content": "1022.5"}
    value, detail = await reward(*sample(tmp_path), Desk([beside, saying("Done.")]))
    assert (value, detail["outputs"]) == (0.0, {"1022.5": False})


async def test_words_in_an_earlier_answer_count(tmp_path: Path) -> None:
    desk = Desk([DONE, gold(), saying("Done.")], ["Hello.", "Go on.", "###STOP###"])
    assert (await reward(*sample(tmp_path), desk))[0] == 1.0


async def test_a_conversation_without_an_end_scores_zero(tmp_path: Path) -> None:
    value, detail = await reward(*sample(tmp_path), Desk([gold(), DONE], ["Hello.", "More."]))
    assert (value, detail["database"], detail["ended"]) == (0.0, True, None)


async def test_a_transfer_is_an_end(tmp_path: Path) -> None:
    made, one = sample(tmp_path, task(outputs=[]))
    desk = Desk([gold(), action("transfer_to_human_agents", summary="?")])
    value, detail = await reward(made, one, desk)
    assert (value, detail["ended"]) == (1.0, "transfer")


async def test_whole_numbers_and_fractions_are_not_the_same(tmp_path: Path) -> None:
    made, one = sample(tmp_path, task("airline"))
    right = await reward(made, one, Desk([action(NEW_BAGS["name"], **NEW_BAGS["kwargs"]), saying("Done.")]))
    fraction = NEW_BAGS["kwargs"] | {"total_baggages": 1.0}
    wrong = await reward(made, one, Desk([action(NEW_BAGS["name"], **fraction), saying("Done.")]))
    assert (right[0], wrong[0]) == (1.0, 0.0)


async def test_gold_actions_that_build_on_each_other_stay_as_they_are(tmp_path: Path) -> None:
    book: Action = {
        "name": "book_reservation",
        "kwargs": {
            "user_id": "bo_2",
            "origin": "JFK",
            "destination": "SEA",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [{"flight_number": "HAT1", "date": "2024-05-20"}],
            "passengers": [{"first_name": "Bo"}],
            "payment_methods": [{"payment_id": CARD, "amount": 150}],
            "total_baggages": 0,
            "nonfree_baggages": 0,
            "insurance": "no",
        },
    }
    cancel: Action = {"name": "cancel_reservation", "kwargs": {"reservation_id": "HATHAT"}}
    made, one = sample(tmp_path, task("airline", actions=[book, cancel]))
    before = deepcopy(one.content)
    for _ in range(2):
        replies = [action(step["name"], **step["kwargs"]) for step in (book, cancel)]
        assert (await reward(made, one, Desk([*replies, saying("Done.")])))[0] == 1.0
    assert one.content == before


def official_hashable(item: Any) -> Any:
    """The rule in words: dicts become sorted tuples of pairs, lists tuples."""
    if isinstance(item, dict):
        return tuple(sorted((key, official_hashable(value)) for key, value in item.items()))
    return tuple(official_hashable(one) for one in item) if isinstance(item, list) else item


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(PLAIN)
def test_the_order_of_keys_does_not_matter(value: Any) -> None:
    def turned(one: Any) -> Any:
        if isinstance(one, dict):
            return {key: turned(one[key]) for key in reversed(one)}
        return [turned(inner) for inner in one] if isinstance(one, list) else one

    assert text_to_hash(turned(value)) == text_to_hash(value)


PUBLISHED = {
    "booking": (0, [0], "province", "ea1402bc4f27311c55d06e318cef7d22ed1f33431a33ada16db71c4177283103"),
    "cancellation": (1, [0], "province", "4fabcb439f40b028cc54119c03042773be0cb580dc4402bc3ff27ae3202d2d8c"),
    "gift cards": (10, [1], "state", "e41273fb50bc71d9e035c7276e3457b591ca8e057d69904b4e67a20147427639"),
}
"""Hashes of the right final database in published runs of the official code, for some airline tasks.

(number of the task, its actions, the name that users' addresses had for the state, hash). The first two are in
its historical_trajectories/gpt-4o-airline.json; the third is of a run before the task's cancellation was added.
"""


@pytest.mark.parametrize(("number", "actions", "field", "published"), PUBLISHED.values(), ids=PUBLISHED)
def test_the_final_database_hashes_as_in_published_runs(
    real_rows: Path, number: int, actions: list[int], field: str, published: str
) -> None:
    found = source("tau_bench", real_rows / "tau_bench")
    made = benchmark("tau_bench", {"domain": "airline"})
    content = list(made.samples(found))[number].content
    worlds = DomainEnvironments(found)
    steps = [content["actions"][index] for index in actions]
    database = replay_calls(worlds["airline"], [(step["name"], step["kwargs"]) for step in steps])
    state = {name: deepcopy(dict(table)) for name, table in database.items()}
    for user in state["users"].values():
        user["address"][field] = user["address"].pop("state")
    assert hashlib.sha256(str(official_hashable(state)).encode()).hexdigest() == published


def test_pass_k_is_the_mean_over_tasks_of_all_k_tries_passing() -> None:
    """Task a passes 3 of 4 tries, b 1 of 4: pass^2 = (C(3,2) / C(4,2) + 0) / 2 = 1/4; pass^3 = (1/4 + 0) / 2."""
    labels = {"domain": "retail"}
    scores = [graded(value, sample="a", labels=labels) for value in (1.0, 1.0, 0.0, 1.0)]
    scores += [graded(value, sample="b", labels=labels) for value in (0.0, None, 1.0, 0.0)]
    scores += [graded(1.0, sample="c", labels={"domain": "airline"}) for _ in range(4)]
    shown = figures(benchmark("tau_bench"), scores)
    of_retail = {k: shown[f"retail pass^{k}"] for k in (1, 2, 3, 4)}
    assert of_retail == pytest.approx({1: 1 / 2, 2: 1 / 4, 3: 1 / 8, 4: 0})
    assert shown["airline pass^4"] == 1.0
    assert shown["pass^2"] == pytest.approx((1 / 2 + 0 + 1) / 3)


def test_pass_k_is_of_the_tasks_with_k_tries_and_says_how_many_these_are() -> None:
    """Task a is tried three times, b once, as where a run stopped early."""
    scores = [graded(value, sample="a") for value in (1.0, 0.0, 1.0)] + [graded(1.0, sample="b")]
    found = {one.name: one for one in benchmark("tau_bench").figures(scores)}
    assert [found[f"pass^{k}"].value for k in (1, 2, 3)] == pytest.approx([(2 / 3 + 1) / 2, 1 / 3, 0])
    notes = [found[f"pass^{k}"].note or "" for k in (1, 2)]
    assert "samples" not in notes[0]
    assert notes[1].endswith("of 1 of 2 samples: the others have fewer than 2 repeats")


@pytest.mark.parametrize(
    ("called", "score"),
    [
        (["get_order_details", "cancel_pending_order"], 1.0),
        (["cancel_pending_order", "get_order_details"], 0.0),
    ],
    ids=["in order", "out of order"],
)
async def test_documented_scores_are_those_of_the_sequence_of_names(
    tmp_path: Path, called: list[str], score: float
) -> None:
    steps: list[Action] = [
        {"name": name, "kwargs": {}} for name in ("get_order_details", "cancel_pending_order")
    ]
    made, one = sample(tmp_path, task(actions=steps), "tau_bench:documented")
    replies = [calling(*(call(name, {}, number) for number, name in enumerate(called))), saying("Done.")]
    value, detail = await reward(made, one, Desk(replies))
    assert (value, detail["actions"]) == (score, called)


def test_a_replay_leaves_the_shared_tables_alone() -> None:
    shop = world("retail")
    before = json.dumps(shop.tables)
    replay_calls(shop, [(CANCEL["name"], CANCEL["kwargs"])])
    assert json.dumps(shop.tables) == before
