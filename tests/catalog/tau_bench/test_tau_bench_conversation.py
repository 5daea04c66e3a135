"""tau-bench's protocol: who is asked what, what is executed, and when it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.tau_bench.tau_kit import CANCEL, Desk, call, calling, played, sample, saying

from benchwright.records import Status

ORDER = call("get_order_details", {"order_id": "#W1"})


async def test_the_agent_gets_the_policy_the_tools_and_the_customers_first_words(tmp_path: Path) -> None:
    desk = Desk([saying("Goodbye.")], ["I have a wish.", "###STOP###"])
    await played(*sample(tmp_path), desk)
    _, messages, params = next(asked for asked in desk.asked if asked[0] == "model")
    assert messages == [
        {"role": "system", "content": "# retail policy\n"},
        {"role": "user", "content": "I have a wish."},
    ]
    assert [tool["function"]["name"] for tool in params["tools"]] == ["calculate", "think"]


async def test_the_customer_is_another_model_that_knows_the_instruction(tmp_path: Path) -> None:
    desk = Desk([saying("What is your wish?")])
    await played(*sample(tmp_path), desk)
    role, messages, params = desk.asked[0]
    assert (role, params) == ("user", {"slot": "user", "temperature": None})
    assert messages[0]["content"].startswith(
        "You are a user interacting with an agent.\n\nInstruction: Cancel the mugs.\n\nRules:\n- Just generate one"
    )
    assert messages[1:] == [{"role": "user", "content": "Hi! How can I help you today?"}]


async def test_the_customer_sees_what_is_said_to_it_and_no_tools(tmp_path: Path) -> None:
    desk = Desk([calling(ORDER, said="Let me look."), saying("It is pending.")])
    await played(*sample(tmp_path), desk)
    _, messages, _ = desk.asked[-1]
    assert [message["content"] for message in messages[2:]] == ["Hello.", "It is pending."]


async def test_only_the_first_call_of_an_answer_is_executed(tmp_path: Path) -> None:
    cancel = call(CANCEL["name"], CANCEL["kwargs"], 2)
    desk = Desk([calling(ORDER, cancel), calling(ORDER), saying("Done.")])
    outcome = await played(*sample(tmp_path), desk)
    answers = [message for message in outcome.messages if message["role"] == "assistant"]
    told = [message for message in outcome.messages if message["role"] == "tool"]
    assert answers[0]["tool_calls"] == [ORDER]
    assert [message["tool_call_id"] for message in told] == ["call_1", "call_1"]
    assert '"status": "pending"' in told[1]["content"]


async def test_what_a_tool_writes_later_calls_see(tmp_path: Path) -> None:
    desk = Desk([calling(call(CANCEL["name"], CANCEL["kwargs"])), calling(ORDER), saying("Done.")])
    outcome = await played(*sample(tmp_path), desk)
    assert '"status": "cancelled"' in outcome.messages[5]["content"]


async def test_the_customers_stop_ends_it(tmp_path: Path) -> None:
    desk = Desk([saying("Yes?"), saying("Done.")], ["Hello.", "Cancel.", "Thanks! ###STOP###"])
    outcome = await played(*sample(tmp_path), desk)
    assert (outcome.status, outcome.answer) == (Status.ANSWERED, "Done.")
    assert outcome.messages[-1] == {"role": "user", "content": "Thanks! ###STOP###"}


async def test_a_stop_in_the_customers_first_words_does_not(tmp_path: Path) -> None:
    desk = Desk([saying("Done.")], ["###STOP###", "###STOP###"])
    outcome = await played(*sample(tmp_path), desk)
    assert [message["role"] for message in outcome.messages] == ["system", "user", "assistant", "user"]


async def test_a_transfer_to_a_human_ends_it(tmp_path: Path) -> None:
    desk = Desk([calling(call("transfer_to_human_agents", {"summary": "too hard"}))])
    outcome = await played(*sample(tmp_path), desk)
    assert outcome.status is Status.ANSWERED
    assert outcome.messages[-1]["content"] == "Transfer successful"


async def test_thirty_steps_are_the_limit(tmp_path: Path) -> None:
    desk = Desk([saying("And then?")], ["More."])
    outcome = await played(*sample(tmp_path), desk)
    assert (outcome.status, outcome.reason) == (Status.LIMIT, "no end within 30 steps")
    assert sum(role == "model" for role, _, _ in desk.asked) == 30


@pytest.mark.parametrize("arguments", ["{", "[1]", "[" * 100_000])
async def test_arguments_that_are_no_object_end_it(tmp_path: Path, arguments: str) -> None:
    outcome = await played(*sample(tmp_path), Desk([calling(call("calculate", arguments))]))
    assert outcome.reason == "the arguments of calculate are not a JSON object"


async def test_an_unknown_tool_is_told_and_it_goes_on(tmp_path: Path) -> None:
    outcome = await played(*sample(tmp_path), Desk([calling(call("rm", "")), saying("Hm.")]))
    assert outcome.messages[3]["content"] == "Unknown action rm"
    assert outcome.messages[-1]["content"] == "###STOP###"


async def test_documented_tools_always_succeed_and_all_calls_are_made(tmp_path: Path) -> None:
    desk = Desk([calling(ORDER, call("think", {}, 2)), saying("Done.")])
    outcome = await played(*sample(tmp_path, name="tau_bench:documented"), desk)
    told = [message["content"] for message in outcome.messages if message["role"] == "tool"]
    assert told == [
        '{"status": "success", "result": "Executed get_order_details"}',
        '{"status": "success", "result": "Executed think"}',
    ]
    assert {role for role, _, _ in desk.asked} == {"model"}


async def test_documented_turns_are_twenty(tmp_path: Path) -> None:
    desk = Desk([calling(ORDER)])
    outcome = await played(*sample(tmp_path, name="tau_bench:documented"), desk)
    assert (outcome.status, len(desk.asked)) == (Status.LIMIT, 20)
