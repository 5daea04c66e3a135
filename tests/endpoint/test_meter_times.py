"""What the meter measures: the first token, the first of the answer proper, and the times between tokens."""

from __future__ import annotations

from typing import Any

import pytest
from tests.endpoint.http_kit import delta, event, usage
from tests.endpoint.meter_kit import STREAM, streamed, whole

from benchwright.endpoint.meter import AnswerMeter

ROLE = delta(role="assistant")
CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "look", "arguments": ""}}


class TestTheFirstToken:
    @pytest.mark.parametrize(
        "first",
        [
            delta(content="a"),
            delta(content=" "),
            delta(content=[{"type": "text", "text": "a"}]),
            delta(reasoning_content="a"),
            delta(reasoning="a"),
            delta(refusal="a"),
            delta(tool_calls=[CALL]),
            delta(role="assistant", content="a"),
            delta("stop", content="a"),
            {"choices": [{"text": "a"}]},
        ],
    )
    def test_is_the_first_piece_on_any_channel(self, first: Any) -> None:
        assert streamed(ROLE, first, delta(content="later")).first_token_at == 200

    @pytest.mark.parametrize(
        "empty",
        [
            ROLE,
            delta(role="assistant", content=""),
            delta(content=None, reasoning_content=None, tool_calls=None, refusal=None),
            delta(content="", reasoning_content="", reasoning="", tool_calls=[], refusal=""),
            delta(tool_calls=[{"index": 0, "id": "c", "function": {}}]),
            delta("stop"),
            usage(prompt_tokens=5),
            {"choices": []},
            {"choices": None},
            {"choices": [{"index": 0, "delta": None}]},
            {"choices": [{"index": 0}]},
            {"choices": [{"index": 0, "text": ""}]},
            {"choices": [{"index": 1, "delta": {"content": "of another choice"}}]},
            {"prompt_filter_results": [], "choices": []},
            {},
            b"",
        ],
    )
    def test_is_no_chunk_without_any(self, empty: Any) -> None:
        meter = streamed(empty, empty, delta(content="a"), empty)
        assert (meter.first_token_at, meter.chunks) == (300, 1)

    def test_is_none_where_nothing_was_said(self) -> None:
        assert streamed(ROLE, delta("stop")).first_token_at == 0

    def test_is_not_known_of_an_answer_that_came_whole(self) -> None:
        meter = whole({"choices": [{"message": {"content": "a"}}]})
        meter.finish_reply()
        assert (meter.first_token_at, meter.streamed) == (0, False)

    def test_came_when_its_last_byte_came(self) -> None:
        meter = AnswerMeter()
        meter.receive_head(200, STREAM, 50)
        content = event(delta(content="a"))
        meter.receive_data(content[:-1], 100)
        meter.receive_data(content[-1:], 200)
        meter.parse_waiting_pieces()
        assert meter.first_token_at == 200


class TestTheFirstOfTheAnswer:
    def answer_at(self, *chunks: Any) -> int:
        return streamed(ROLE, *chunks).answer_started_at()

    def test_is_the_first_token_where_nothing_was_thought(self) -> None:
        assert self.answer_at(delta(content="a"), delta(content="b")) == 200

    @pytest.mark.parametrize("channel", ["reasoning_content", "reasoning"])
    def test_comes_after_reasoning_on_a_channel_of_its_own(self, channel: str) -> None:
        assert self.answer_at(delta(**{channel: "a"}), delta(**{channel: "b"}), delta(content="c")) == 400

    @pytest.mark.parametrize(
        "thoughts",
        [
            ["<think>", "hm", "</think>", "\n\n"],
            ["\n<thi", "nk>hm</", "think>", " "],
            ["<thinking>", "hm", "</thinking>", "\n"],
            ["the template", " opened the", " block", "</think>"],
        ],
    )
    def test_comes_after_reasoning_in_line(self, thoughts: list[str]) -> None:
        assert self.answer_at(*(delta(content=text) for text in [*thoughts, "42", "!"])) == 600

    def test_may_share_a_chunk_with_the_end_of_the_reasoning(self) -> None:
        assert self.answer_at(delta(content="<think>hm"), delta(content="</think>42")) == 300

    def test_is_none_where_the_reasoning_never_ends(self) -> None:
        assert self.answer_at(delta(content="<think>"), delta(content="hm")) == 0

    def test_is_no_white_space(self) -> None:
        assert self.answer_at(delta(content="\n"), delta(content=" 42")) == 300
        assert self.answer_at(delta(content="\n")) == 0

    def test_may_be_a_tool_call(self) -> None:
        assert self.answer_at(delta(reasoning="hm"), delta(tool_calls=[CALL]), delta(content="so")) == 300

    def test_a_tag_that_only_the_answer_mentions_ends_no_reasoning(self) -> None:
        chunks = [delta(reasoning="hm"), delta(content="use "), delta(content="</think>"), delta(content="!")]
        assert self.answer_at(*chunks) == 300


class TestTheTimesBetweenTokens:
    def test_there_is_one_fewer_than_chunks_that_hold_a_token(self) -> None:
        chunks = [ROLE, *(delta(content="a") for _ in range(10)), delta("stop"), usage(completion_tokens=10)]
        meter = streamed(*chunks)
        assert meter.chunks == 10
        assert sum(meter.gaps.values()) == 9
        assert len(meter.gaps) == 1

    def test_tokens_that_came_together_are_no_time_apart(self) -> None:
        meter = AnswerMeter()
        meter.receive_head(200, STREAM, 50)
        meter.receive_data(event(delta(content="a")) * 5, 100)
        meter.parse_waiting_pieces()
        assert (meter.chunks, meter.gaps) == (5, {0: 4})

    def test_a_single_token_has_none(self) -> None:
        assert streamed(delta(content="a")).gaps == {}
