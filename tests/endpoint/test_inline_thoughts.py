"""Thinking in the text of an answer: before it, within it, and words that only look like it."""

from __future__ import annotations

from time import process_time

import pytest

from benchwright.endpoint.reasoning_parser import (
    find_answer_offset,
    find_inline_thoughts,
    has_late_thought,
    split_reasoning,
)


@pytest.mark.parametrize(
    ("content", "reasoning", "answer"),
    [
        ("<think>a</think>Working.<think>b</think>42", "a\n\nb", "Working.42"),
        ("Let me see.\n<think>a</think>\n42", "a", "Let me see.\n42"),
        ("The answer is<think>sure?</think> 42.", "sure?", "The answer is 42."),
        ("Answer: 42\n<think>let me check", "let me check", "Answer: 42\n"),
        ("<think>a</think>\n\n</think>\n\n42", "a", "42"),
        ("[THINK]a[/THINK]42", "a", "42"),
        ("<seed:think>a</seed:think>42", "a", "42"),
        ("◁think▷a◁/think▷42", "a", "42"),
        ("<|START_THINKING|>a<|END_THINKING|>42", "a", "42"),
        ("<thought>a</thought>42", "a", "42"),
        ("<|channel>thought\na\n<channel|>42", "a", "42"),
        ("<|channel>thought\n<channel|>42", "", "42"),
        ("a\n<channel|>42", "a", "42"),
    ],
)
def test_may_come_more_than_once_late_and_under_other_tags(content: str, reasoning: str, answer: str) -> None:
    assert split_reasoning(content) == (reasoning, answer)


def test_a_block_that_the_template_opened_holds_all_that_is_opened_within_it() -> None:
    assert split_reasoning("a <think> b </think> c </think> 42") == ("a  b  c", "42")


@pytest.mark.parametrize(
    "answer",
    [
        "Use `<think>x</think>` like that.",
        'The tags are "<think>" and "</think>".',
        "Close it with `</think>`.",
        "```\n<think>x</think>\n```\nis how it looks",
        "the tag <think> opens a block",
    ],
)
def test_tags_that_are_quoted_are_words_of_the_answer(answer: str) -> None:
    assert split_reasoning(answer) == ("", answer)
    assert split_reasoning(f"<think>hm</think>{answer}") == ("hm", answer)


def test_a_thought_may_end_with_a_quotation_mark() -> None:
    assert split_reasoning('He says "x"</think>42') == ('He says "x"', "42")


@pytest.mark.parametrize(
    ("content", "late"),
    [
        ("<think>a</think>42", False),
        ("a</think>42", False),
        ("<think>a</think>\n<think>b</think>42", False),
        ("Well.\n<think>a</think>42", True),
        ("<think>a</think>Well.<think>b</think>42", True),
    ],
)
def test_is_late_behind_the_beginning_of_the_answer(content: str, late: bool) -> None:
    assert has_late_thought(content, find_inline_thoughts(content)) is late


def test_the_answer_starts_before_a_late_thought() -> None:
    assert find_answer_offset("Well.\n<think>a</think>42") == 0
    assert find_answer_offset("<think>a</think>Well.<think>b</think>42") == len("<think>a</think>")


@pytest.mark.parametrize(
    "text", ["<think>", "</think>", "`<think>", "<think></think>", "think", "```<think>"]
)
def test_many_tags_cost_no_more_each_than_few(text: str) -> None:
    started = process_time()
    split_reasoning(text * 20_000)
    assert process_time() - started < 10, "looking at all of the text for each tag takes minutes"
