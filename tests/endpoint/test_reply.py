"""Reasoning that stands in the text itself, split from the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.endpoint.reasoning_parser import find_answer_offset, split_reasoning
from benchwright.endpoint.reply import assistant_message


@pytest.mark.parametrize(
    ("content", "reasoning", "answer"),
    [
        ("42", "", "42"),
        ("", "", ""),
        (" 42\n", "", " 42\n"),
        ("<think>hm</think>42", "hm", "42"),
        ("\n <think>\nhm\n</think>\n\n42", "hm", "42"),
        ("<thinking>hm</thinking> 42", "hm", "42"),
        ("<think></think>42", "", "42"),
        ("hm</think>\n42", "hm", "42"),
        ("<think>hm", "hm", ""),
        ("<think>", "", ""),
        ("<think>a</think>b</think>c", "a", "b</think>c"),
        ("a < b and b <thin", "", "a < b and b <thin"),
        ("the tag <think> opens a block", "", "the tag <think> opens a block"),
    ],
)
def test_the_answer_begins_after_the_thinking(content: str, reasoning: str, answer: str) -> None:
    assert split_reasoning(content) == (reasoning, answer)


@given(st.text(), st.text("abc <>/\n"))
def test_nothing_of_the_answer_is_lost(thought: str, answer: str) -> None:
    content = f"<think>{thought}</think>{answer}"
    assert content.endswith(split_reasoning(content)[1])
    if "</think" not in thought:
        assert split_reasoning(content) == (thought.strip(), answer.lstrip())


def test_long_runs_of_white_space_cost_no_more_than_other_text() -> None:
    content = "\n" * 1_000_000 + "</think>42"
    assert split_reasoning(content) == ("", "42")
    assert find_answer_offset("\n" * 1_000_000 + "42") == 0


def test_a_message_goes_back_without_empty_fields() -> None:
    assert assistant_message("", [], None) == {"role": "assistant", "content": ""}
