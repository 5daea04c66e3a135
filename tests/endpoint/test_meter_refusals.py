"""What the meter refuses as no answer, and the errors that servers send in place of one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.http_kit import completion, delta, event
from tests.endpoint.meter_kit import STREAM, reply_of, streamed, whole

from benchwright.endpoint import meter as module
from benchwright.endpoint.meter import AnswerMeter, BadAnswer

STOP = delta("stop")
DEEP = b"[" * 100_000

STRANGE_CHOICES: list[object] = [[None], [5], ["text"], [[]], {"0": {}}, "text", 5]
NO_CHOICES: list[object] = [[], [None], None, 5, {"0": {}}]

NO_CHUNKS: list[object] = [
    b"{",
    b"NaN",
    DEEP,
    b'{"choices": ' + DEEP,
    *([], "text", 5, None),
    *({"choices": choices} for choices in STRANGE_CHOICES),
    *({"choices": [{"delta": delta}]} for delta in (["content"], "text", 5)),
    *(delta(content=content) for content in (5, True, {"text": 5}, [5], [{"text": 5}])),
    *(delta(tool_calls=calls) for calls in (5, "look", ["look"], [5])),
    *(
        delta(tool_calls=[{"index": 0, "function": function}])
        for function in ("look", ["look"], {"name": 5}, {"name": ["look"]})
    ),
    {"choices": [{"delta": {}, "finish_reason": 5}]},
    {"choices": [{"delta": {}, "finish_reason": ["stop"]}]},
    {"choices": [{"delta": {}, "logprobs": [1]}]},
    {"choices": [], "model": 5},
]


class TestAStream:
    @pytest.mark.parametrize("chunk", NO_CHUNKS, ids=lambda chunk: repr(chunk)[:60])
    def test_with_a_chunk_that_is_none_is_refused(self, chunk: object) -> None:
        with pytest.raises(BadAnswer, match="a piece of the stream is not a chat completion chunk: "):
            streamed(delta(content="a"), chunk).finish_reply()

    @pytest.mark.parametrize("channel", ["reasoning", "reasoning_content", "refusal"])
    @pytest.mark.parametrize("content", [5, [5], {"text": 5}])
    def test_whose_pieces_are_no_text_is_refused(self, channel: str, content: Any) -> None:
        with pytest.raises(BadAnswer):
            reply_of(delta(**{channel: content}), STOP)

    def test_whose_completions_are_no_text_is_refused(self) -> None:
        with pytest.raises(BadAnswer):
            reply_of({"choices": [{"text": ["a"], "finish_reason": "stop"}]})

    def test_that_is_refused_is_flagged_and_read_no_further(self) -> None:
        meter = streamed(delta(content="a"), b"{", delta(content="b"), STOP)
        assert (meter.flags, meter.chunks) == (["malformed_chunk"], 1)
        with pytest.raises(BadAnswer):
            meter.finish_reply()

    def test_that_goes_on_is_refused_before_its_end(self) -> None:
        meter = streamed(b"{", done=False)
        for _ in range(module.MAX_UNREAD_PIECES - 1):
            meter.receive_data(event(delta(content="a")), 300)
        with pytest.raises(BadAnswer, match="not a chat completion chunk"):
            meter.receive_data(event(delta(content="a")), 300)

    def test_with_a_large_piece_is_read_at_once(self) -> None:
        meter = streamed(done=False)
        with pytest.raises(BadAnswer, match="not a chat completion chunk"):
            meter.receive_data(event(b"{" * module.LARGE_PIECE_BYTES), 100)


class TestAWholeAnswer:
    @pytest.mark.parametrize(
        "answer",
        [
            *(b"", b"{", b"<html>", b"\xff", b'"\xff"', b"NaN", DEEP),
            *([], "text", 5, None, {}),
            *({"choices": choices} for choices in NO_CHOICES),
            *({"choices": [{"message": message}]} for message in (5, "text", ["content"])),
            *(completion(content) for content in (5, {"text": 5}, [5], [{"text": 5}])),
            completion("a", reasoning=5),
            completion("a", reasoning_content=5),
            completion("a", refusal=5),
            *(completion(tool_calls=calls) for calls in (5, [5], ["look"], [{"function": "look"}])),
            {"choices": [{"message": {"content": "a"}, "finish_reason": 5}]},
            {**completion(), "model": 5},
        ],
        ids=lambda answer: repr(answer)[:60],
    )
    def test_that_is_none_is_refused(self, answer: object) -> None:
        with pytest.raises(BadAnswer, match="the answer is not a chat completion"):
            whole(answer).finish_reply()


class TestErrorsInPlaceOfAnAnswer:
    ERROR = {"message": "out of memory", "code": 500}

    @pytest.mark.parametrize(
        "chunks",
        [
            [{"error": ERROR}],
            [delta(content="a"), {"error": ERROR}],
            [{"error": ERROR, "choices": []}],
            [{"error": ERROR, **delta("error", content="")}],
        ],
    )
    @pytest.mark.parametrize("done", [True, False])
    def test_inside_a_stream(self, chunks: list[Any], done: bool) -> None:
        meter = streamed(*chunks, done=done)
        meter.finish_reply()
        assert meter.error == self.ERROR

    def test_in_an_answer_that_came_whole(self) -> None:
        meter = whole({"error": self.ERROR})
        meter.finish_reply()
        assert meter.error == self.ERROR

    def test_as_bare_text(self) -> None:
        assert streamed({"error": "out of memory"}).error == {"message": "out of memory"}

    @pytest.mark.parametrize("nothing", [None, "", {}])
    def test_but_no_error_is_none(self, nothing: Any) -> None:
        meter = streamed({"error": nothing, **delta(content="a")}, STOP, {"error": nothing, "choices": []})
        assert (meter.finish_reply().text, meter.error) == ("a", None)
        assert whole({"error": nothing, **completion("a")}).finish_reply().text == "a"


class TestLimits:
    @pytest.mark.parametrize("coding", [b"gzip", b"br", b"GZIP"])
    def test_compressed_answers_are_refused(self, coding: bytes) -> None:
        with pytest.raises(
            BadAnswer, match=f"compressed its answer .{coding.decode()}. without being asked to"
        ):
            AnswerMeter().receive_head(200, [*STREAM, (b"content-encoding", coding)], 50)

    def test_but_not_errors_whose_status_says_enough(self) -> None:
        meter = AnswerMeter()
        meter.receive_head(429, [(b"content-encoding", b"gzip"), (b"retry-after", b"3")], 50)
        assert meter.status == 429

    def test_identity_is_no_compression(self) -> None:
        AnswerMeter().receive_head(200, [*STREAM, (b"content-encoding", b"identity")], 50)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    *("choices", "delta", "message", "content", "reasoning", "tool_calls", "function", "name", "arguments"),
    *("index", "id", "finish_reason", "usage", "prompt_tokens", "logprobs", "error", "text", "type", "model"),
]
ANSWER_LIKE = st.recursive(
    JSON_VALUES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2)
        | st.dictionaries(st.sampled_from(FIELDS), inner, min_size=1, max_size=4)
    ),
    max_leaves=12,
)


class TestWhateverComes:
    @given(ANSWER_LIKE)
    def test_a_whole_answer_is_read_or_refused(self, answer: object) -> None:
        try:
            reply = whole(answer).finish_reply()
        except BadAnswer:
            return
        assert isinstance(reply.text, str)

    @given(st.lists(ANSWER_LIKE, max_size=3))
    def test_a_stream_is_read_or_refused(self, chunks: list[Any]) -> None:
        try:
            reply = reply_of(*chunks)
        except BadAnswer:
            return
        assert isinstance(reply.text, str)
        json.loads(reply.raw)
