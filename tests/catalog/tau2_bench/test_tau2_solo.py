"""tau2-bench without a user: the agent has a ticket, all tools and one to say that it is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.catalog_kit import benchmark, samples, validated
from tests.catalog.conversations import graded
from tests.catalog.tau2_bench.tau2_kit import SWITCHED, cancelling, going_online, made, write_shop
from tests.catalog.tau_bench.tau_kit import Desk, call, calling, reward, saying

from benchwright.records import Message

FINISHED = call("done", {}, 9)


def phone(tmp_path: Path) -> Path:
    return write_shop(tmp_path, telecom=[going_online(ticket="The phone of 0 is not online.")])


async def test_the_agent_makes_all_calls_itself_until_it_is_done(tmp_path: Path) -> None:
    one, sample = made(phone(tmp_path), "telecom", mode="solo")
    desk = Desk([calling(SWITCHED, said="I see."), calling(FINISHED)], [])
    value, details = await reward(one, sample, desk)
    role, heard, params = desk.asked[0]
    prompt = heard[0]["content"]
    assert (value, details["ended"], details["steps"]) == (1.0, "agent_stop", 3)
    assert (role, len(heard), params["tool_choice"]) == ("model", 1, "required")
    assert prompt.startswith("<instructions>\nYou are a customer service agent")
    assert prompt.endswith(
        "<policy>\nDo it yourself.\n</policy>\n<ticket>\nThe phone of 0 is not online.\n</ticket>"
    )
    names = [tool["function"]["name"] for tool in params["tools"]]
    assert names[-2:] == ["switch_airplane_mode", "done"]


@pytest.mark.parametrize("agent", [[saying("###STOP###")], [calling(SWITCHED, said="###STOP###")]])
async def test_whoever_only_talks_is_asked_four_times_and_has_failed(
    agent: list[Message], tmp_path: Path
) -> None:
    one, sample = made(phone(tmp_path), "telecom", mode="solo")
    desk = Desk(agent, [])
    value, details = await reward(one, sample, desk)
    assert (value, details["ended"], len(desk.asked)) == (0.0, "agent_error", 4)


async def test_calls_beside_done_are_not_made(tmp_path: Path) -> None:
    one, sample = made(phone(tmp_path), "telecom", mode="solo")
    value, details = await reward(one, sample, Desk([calling(SWITCHED, FINISHED)], []))
    assert (value, details["ended"], details["parts"]) == (0.0, "agent_stop", {"ENV_ASSERTION": False})


async def test_work_without_an_end_is_cut_after_two_hundred_steps(tmp_path: Path) -> None:
    one, sample = made(phone(tmp_path), "telecom", mode="solo")
    value, details = await reward(one, sample, Desk([calling(SWITCHED)], []))
    assert (value, details["ended"], details["steps"]) == (0.0, "max_steps", 202)


async def test_the_right_calls_alone_are_rewarded(tmp_path: Path) -> None:
    result = await validated("tau2_bench", phone(tmp_path), mode="solo", policy="workflow")
    assert (result.samples, result.checks, result.failures) == (1, 3, [])


def test_only_tasks_with_a_ticket_or_a_state_to_begin_with_are_tried(tmp_path: Path) -> None:
    talked = {"initial_state": {"message_history": [{"role": "user", "content": "Hello."}]}}
    rows = [cancelling("a"), cancelling("b") | {"ticket": "Cancel it."}, cancelling("c") | talked]
    root = write_shop(tmp_path, mock=rows)
    assert [one.id for one in samples("tau2_bench", root, {"domain": "mock", "mode": "solo"})] == [
        "tau2_mock_b"
    ]


def test_figures_say_that_there_was_no_user() -> None:
    alone = benchmark("tau2_bench", {"mode": "solo", "policy": "workflow"})
    assert alone.departures == (
        "the agent works from a ticket, without a user (solo)",
        "telecom's policy is workflow in place of manual",
    )
    assert "user" not in alone.about.roles
    (figure,) = alone.figures([graded(1.0)])
    assert str(figure.note).startswith("no user; not comparable: ")
