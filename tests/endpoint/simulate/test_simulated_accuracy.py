"""An answer key with a stated accuracy: exact in every round, whatever goes wrong in between."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.simulate.simulate_kit import Client, Simulate

from benchwright.endpoint.simulate import Faults, KeyedAnswer, Settings, keyed_answers
from benchwright.endpoint.simulate.answer_key import PromptRounds, wrong_answer
from benchwright.endpoint.simulate.shared_counters import SharedCounters
from benchwright.errors import UserError

KEY = {f"question {number} of forty?": str(number) for number in range(40)}


def right_in_a_round(client: Client, **fields: Any) -> set[str]:
    """The prompts that are answered rightly when each is asked once."""
    return {prompt for prompt, answer in KEY.items() if client.chat(prompt, **fields).text == answer}


@pytest.mark.parametrize(("accuracy", "right"), [(0.0, 0), (0.3, 12), (0.51, 20), (1.0, 40)])
def test_exactly_the_stated_share_is_right_in_each_round(
    simulate: Simulate, accuracy: float, right: int
) -> None:
    client = simulate(answers=keyed_answers(KEY), accuracy=accuracy)

    assert [len(right_in_a_round(client)) for _ in range(3)] == [right] * 3


def test_rounds_differ_and_the_seed_decides(simulate: Simulate) -> None:
    def rounds(seed: int) -> list[set[str]]:
        client = simulate(answers=keyed_answers(KEY), accuracy=0.5, seed=seed)
        return [right_in_a_round(client) for _ in range(2)]

    first, second = rounds(seed=1)
    assert first != second
    assert rounds(seed=1) == [first, second]
    assert rounds(seed=2) != [first, second]


def test_retries_after_faults_do_not_shift_the_rounds(simulate: Simulate) -> None:
    undisturbed = right_in_a_round(simulate(answers=keyed_answers(KEY), accuracy=0.5))
    faults = Faults(rate_limit=0.3, server_error=0.3, malformed=0.2)
    client = simulate(answers=keyed_answers(KEY), accuracy=0.5, faults=faults)

    right: set[str] = set()
    for prompt, expected in KEY.items():
        while not (answer := client.chat(prompt)).body.endswith(b"}") or answer.status != 200:
            pass
        if answer.text == expected:
            right.add(prompt)
    assert client.stats.faults["malformed"] > 0
    assert right == undisturbed


def test_answers_that_their_clients_left_are_given_again(simulate: Simulate) -> None:
    settings = {"answers": keyed_answers(KEY), "accuracy": 0.5}
    undisturbed = right_in_a_round(simulate(**settings))
    faults = Faults(stall=1.0, stall_seconds=60, max_faults=len(KEY))
    client = simulate(**settings, faults=faults)
    for prompt in KEY:
        body = b'{"messages": [{"role": "user", "content": "%b"}]}' % prompt.encode()
        with client.open_socket() as connection:
            connection.sendall(client.request_bytes(body, f"Content-Length: {len(body)}"))
            assert connection.recv(1000)
    while client.stats.aborted < len(KEY):
        client.ask("GET", "/v1/models")

    assert right_in_a_round(client) == undisturbed


def test_accuracy_goes_with_reasoning_and_streams(simulate: Simulate) -> None:
    client = simulate(answers=keyed_answers(KEY), accuracy=0.25, reasoning="Let me think.")

    right = 0
    for prompt, answer in KEY.items():
        deltas = client.chat(prompt, stream=True).deltas
        assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Let me think."
        right += "".join(delta.get("content", "") for delta in deltas) == answer
    assert right == 10


def test_tool_calls_use_no_round_up(simulate: Simulate) -> None:
    tools = [{"type": "function", "function": {"name": "look"}}]
    client = simulate(answers=keyed_answers(KEY), accuracy=0.5, call_tools=True)

    for prompt in KEY:
        assert "tool_calls" in client.chat(prompt, tools=tools).message
    assert right_in_a_round(client) == right_in_a_round(simulate(answers=keyed_answers(KEY), accuracy=0.5))


# Rounds


@given(st.lists(st.integers(0, 200), max_size=60))
def test_the_lowest_free_round_is_taken(actions: list[int]) -> None:
    rounds = PromptRounds(SharedCounters(1, 1))
    taken: list[int] = []
    for action in actions:
        if taken and action % 3 == 0:
            rounds.free_round(0, taken.pop(action % len(taken)))
        else:
            free = next(number for number in range(61) if number not in taken)
            assert rounds.take_round(0) == free
            taken.append(free)


def test_rounds_go_on_beyond_the_first_sixty_four() -> None:
    rounds = PromptRounds(SharedCounters(1, 2))

    assert [rounds.take_round(1) for _ in range(200)] == list(range(200))
    assert rounds.take_round(0) == 0


# Wrong answers


@given(st.sampled_from("ABCDEFGHIJabcdefghij"))
def test_another_letter_for_a_letter(letter: str) -> None:
    wrong = wrong_answer(letter)

    assert wrong != letter
    assert len(wrong) == 1
    assert wrong.isupper() == letter.isupper()
    assert letter.upper() > "D" or wrong.upper() <= "D"


@given(
    st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9)
)
def test_another_number_for_a_number(number: int | Decimal) -> None:
    assert Decimal(wrong_answer(str(number))) != Decimal(number)


def test_thousands_separators_do_not_hide_a_number() -> None:
    assert wrong_answer("1,234") == "1235"


@given(st.text())
def test_no_wrong_answer_is_right(answer: str) -> None:
    assert wrong_answer(answer).strip() != answer.strip()


@pytest.mark.parametrize(
    "answers",
    [(KeyedAnswer("q", "1"), KeyedAnswer("q", "2")), (KeyedAnswer(" ", "1"),)],
)
def test_a_contradictory_or_blank_key_is_a_user_error(answers: tuple[KeyedAnswer, ...]) -> None:
    with pytest.raises(UserError, match="answer key"):
        Settings(answers=answers)
