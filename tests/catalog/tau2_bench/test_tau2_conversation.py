"""tau2-bench's protocol: who hears what, whose calls are made where, and what ends a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.catalog_kit import validated
from tests.catalog.tau2_bench.tau2_kit import (
    CANCELLED,
    ORDER,
    SWITCHED,
    cancelling,
    going_online,
    made,
    write_shop,
)
from tests.catalog.tau_bench.tau_kit import Desk, call, calling, played, reward, saying

from benchwright.catalog.tau2_bench.conversation import UnusableMessage, reply_to_message
from benchwright.endpoint.reply import Reply
from benchwright.errors import ExecutionError
from benchwright.records import Status

UNKNOWN = call("fly_away", {})


async def test_right_conversations_are_rewarded_and_decoys_are_not(tmp_path: Path) -> None:
    root = write_shop(tmp_path, retail=[cancelling()], telecom=[going_online()])
    result = await validated("tau2_bench", root, domain="retail,telecom")
    assert (result.samples, result.checks, result.failures) == (2, 7, [])


async def test_a_decoy_that_passes_as_the_right_calls_change_nothing_is_listed(tmp_path: Path) -> None:
    beyond_its_means = {"name": "fly_away", "arguments": {}}
    root = write_shop(tmp_path, retail=[cancelling("105", actions=[beyond_its_means], communicate_info=[])])
    result = await validated("tau2_bench", root, domain="retail")
    assert (result.failures, list(result.exceptions)) == ([], ["tau2_retail_105/no action"])


async def test_neither_side_hears_the_others_calls(tmp_path: Path) -> None:
    one, sample = made(write_shop(tmp_path, telecom=[going_online()]), "telecom")
    desk = Desk(
        [calling(UNKNOWN, said="A moment."), saying("Switch it off."), saying("Good.")],
        ["It is broken.", calling(SWITCHED), "It is off now.", "Thanks. ###STOP###"],
    )
    value, details = await reward(one, sample, desk)
    agent, user = ([asked for asked in desk.asked if asked[0] == role] for role in ("model", "user"))
    assert (value, details["parts"]) == (1.0, {"ENV_ASSERTION": True})
    assert agent[0][1][0]["content"].endswith("<policy>\nBe kind in telecom.\n</policy>")
    assert user[0][1][0]["content"] == (
        "You are a customer with a phone. Say ###STOP### in the end.\n\n<scenario>\nInstructions:\n\t"
        "You are 0, whose phone is not online.\n</scenario>"
    )
    assert [tool["function"]["name"] for tool in user[0][2]["tools"]] == ["switch_airplane_mode"]
    heard = [(message["role"], message["content"]) for message in agent[-1][1][1:]]
    assert heard == [
        ("assistant", "Hi! How can I help you today?"),
        ("user", "It is broken."),
        ("assistant", "A moment."),
        ("tool", "Error: Tool 'fly_away' not found."),
        ("assistant", "Switch it off."),
        ("user", "It is off now."),
    ]
    heard = [(message["role"], message["content"]) for message in user[-1][1][1:]]
    assert heard == [
        ("user", "Hi! How can I help you today?"),
        ("assistant", "It is broken."),
        ("user", "Switch it off."),
        ("assistant", None),
        ("tool", "off"),
        ("assistant", "It is off now."),
        ("user", "Good."),
    ]


async def test_all_calls_of_a_message_are_made_and_a_task_may_begin_in_the_middle(tmp_path: Path) -> None:
    history = [
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Cancel the order 2."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "name": "cancel_order", "arguments": {"order": "2"}}],
        },
        {"role": "tool", "id": "a", "content": "done", "requestor": "assistant"},
    ]
    row = cancelling() | {"initial_state": {"message_history": history}}
    one, sample = made(write_shop(tmp_path, retail=[row]), "retail")
    desk = Desk([calling(ORDER, CANCELLED), saying("It costs 1,2 dollars.")], ["###TRANSFER###"])
    outcome = await played(one, sample, desk)
    score = await one.scorers[0].score(sample, outcome, desk)
    assert [message["content"] for message in outcome.messages if message["role"] == "tool"] == [
        "done",
        '"on its way"',
        "done",
    ]
    assert (score.value, dict(score.detail or {})["parts"]) == (1.0, {"DB": True, "COMMUNICATE": True})


@pytest.mark.parametrize(
    ("agent", "ended", "status"),
    [
        ([saying("And?")], "max_steps", Status.LIMIT),
        ([calling(*[UNKNOWN] * 10), saying("Sorry.")], "too_many_errors", Status.ANSWERED),
        ([saying(" ")], "agent_error", Status.ANSWERED),
    ],
)
async def test_a_conversation_without_a_proper_end_is_worth_nothing(
    agent: list[dict[str, object]], ended: str, status: Status, tmp_path: Path
) -> None:
    row = cancelling(actions=[], communicate_info=[])
    one, sample = made(write_shop(tmp_path, retail=[row]), "retail")
    outcome = await played(one, sample, Desk(agent, ["Hello."]))
    score = await one.scorers[0].score(sample, outcome, Desk([]))
    assert (outcome.artifacts["ended"], outcome.status, score.value) == (ended, status, 0.0)
    assert outcome.reason == score.explanation


async def test_after_an_answer_that_is_none_the_conversation_begins_again(tmp_path: Path) -> None:
    one, sample = made(write_shop(tmp_path, retail=[cancelling()]), "retail")
    broken = calling(call("cancel_order", "{"))
    desk = Desk([calling(CANCELLED), broken, calling(CANCELLED), saying("12")], ["Hi.", "Hi.", "###STOP###"])
    outcome = await played(one, sample, desk)
    assert [message["role"] for message in outcome.messages[1:]] == [
        *("assistant", "user", "assistant", "tool", "assistant", "user")
    ]
    assert (await one.scorers[0].score(sample, outcome, desk)).value == 1.0


@pytest.mark.parametrize("arguments", ['["1"]', "{", '{"order": NaN}', r'{"order": "\ud800"}', "[" * 100_000])
def test_arguments_that_are_no_json_object_cannot_be_used(arguments: str) -> None:
    message = calling(call("get_order", arguments))
    with pytest.raises(UnusableMessage, match="called get_order with arguments that are no JSON object"):
        reply_to_message(Reply(message, "", tool_calls=message["tool_calls"]), "assistant")


async def test_what_is_not_the_agents_fault_is_no_score(tmp_path: Path) -> None:
    one, sample = made(write_shop(tmp_path, retail=[cancelling()]), "retail")
    with pytest.raises(ExecutionError, match="4 times the simulated user said nothing"):
        await played(one, sample, Desk([saying("Hello?")], [""]))
    with pytest.raises(ExecutionError, match="the program in the sandbox has ended"):
        await played(one, sample, Desk([calling(call("vanish", {}))]))


@pytest.mark.slow
async def test_an_expression_that_takes_for_ever_fails_and_the_conversation_goes_on(tmp_path: Path) -> None:
    one, sample = made(write_shop(tmp_path, retail=[cancelling()]), "retail")
    endless = call("calculate", {"expression": "9**9**9**9"})
    desk = Desk([calling(endless), calling(CANCELLED), saying("12")])
    outcome = await played(one, sample, desk)
    told = [message["content"] for message in outcome.messages if message["role"] == "tool"]
    assert told == ["Error: this takes too long to compute", "done"]
