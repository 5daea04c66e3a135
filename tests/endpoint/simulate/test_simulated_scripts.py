"""Whole conversations, played turn by turn: found by their opening, right or wrong from beginning to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.endpoint.simulate.simulate_kit import Client, Simulate

from benchwright.endpoint.simulate import Script, read_scripts
from benchwright.errors import UserError


def said(text: str, *calls: tuple[str, str]) -> dict[str, Any]:
    """An assistant message."""
    tools = [{"type": "function", "function": {"name": name, "arguments": text}} for name, text in calls]
    return {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {})}


def ask(client: Client, *messages: tuple[str, str]) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": role, "content": text} for role, text in messages]}
    return client.ask("POST", "/v1/chat/completions", body).message


def test_each_turn_gets_the_next_reply_and_the_last_one_stays(simulate: Simulate) -> None:
    client = simulate(scripts=(Script("what is", [said("one"), said("two")]),))
    first = ("user", "what is this?")
    assert ask(client, first)["content"] == "one"
    then = (first, ("assistant", "one"), ("user", "and then?"))
    assert ask(client, *then)["content"] == "two"
    assert ask(client, *then, ("assistant", "two"), ("user", "what is it?"))["content"] == "two"


def test_a_reply_may_call_tools(simulate: Simulate) -> None:
    client = simulate(scripts=(Script("book", [said("", ("book_flight", '{"to": "Oslo"}'))]),))
    (call,) = ask(client, ("user", "book a flight"))["tool_calls"]
    assert call["function"] == {"name": "book_flight", "arguments": '{"to": "Oslo"}'}


def test_a_script_is_found_by_the_system_message_too_and_the_longest_opening_wins(simulate: Simulate) -> None:
    scripts = (Script("rules", [said("short")]), Script("rules of the house", [said("long")]))
    client = simulate(scripts=scripts, policy="refusal")
    assert ask(client, ("system", "the rules of the house"), ("user", "hello"))["content"] == "long"
    assert ask(client, ("system", "some rules"), ("user", "hello"))["content"] == "short"
    assert ask(client, ("user", "something else"))["refusal"]


@pytest.mark.parametrize(("accuracy", "right"), [(0.0, 0), (0.5, 5), (0.75, 8), (1.0, 10)])
def test_exactly_the_stated_share_goes_right_in_all_turns(
    simulate: Simulate, accuracy: float, right: int
) -> None:
    scripts = tuple(
        Script(f"task {number}.", [said("good"), said("good")], [said("bad"), said("bad")])
        for number in range(10)
    )
    client = simulate(scripts=scripts, accuracy=accuracy)
    heard = []
    for number in range(10):
        first = ("user", f"task {number}.")
        one = ask(client, first)["content"]
        two = ask(client, first, ("assistant", one), ("user", "go on"))["content"]
        assert one == two
        heard.append(one)
    assert heard.count("good") == right


@pytest.mark.parametrize(
    "line", ["{", '{"prompt": "p"}', '{"prompt": "", "replies": [{}]}', '{"prompt": "p", "replies": []}']
)
def test_a_file_that_holds_no_scripts_is_told_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "scripts.jsonl"
    path.write_text('{"prompt": "p", "replies": [{"content": "fine"}]}\n' + line + "\n")
    with pytest.raises(UserError, match="line 2"):
        read_scripts(path)
