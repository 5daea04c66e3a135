"""What the meter puts together from an answer, streamed or whole."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from tests.endpoint.http_kit import DONE, completion, delta, event, usage
from tests.endpoint.meter_kit import STREAM, reply_of, streamed, whole

from benchwright.endpoint.meter import AnswerMeter, BadAnswer, EmptyStream
from benchwright.records import NO_USAGE, Usage

STOP = delta("stop")
SEARCH = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}


class TestText:
    def test_is_put_together_from_deltas(self) -> None:
        reply = reply_of(delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo"), STOP)
        assert (reply.text, reply.finish_reason) == ("Hello", "stop")
        assert reply.message == {"role": "assistant", "content": "Hello"}

    def test_of_completions_too(self) -> None:
        chunks = [{"choices": [{"text": "Hel"}]}, {"choices": [{"text": "lo", "finish_reason": "length"}]}]
        reply = reply_of(*chunks)
        assert (reply.text, reply.finish_reason) == ("Hello", "length")

    def test_comes_whole_from_servers_that_do_not_stream(self) -> None:
        assert whole(completion("Hello")).finish_reply().text == "Hello"
        assert whole({"choices": [{"text": "Hello", "finish_reason": "stop"}]}).finish_reply().text == "Hello"

    def test_may_come_in_typed_parts(self) -> None:
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "a"},
        ]
        for reply in (reply_of(delta(content=parts), STOP), whole(completion(parts)).finish_reply()):
            assert (reply.text, reply.reasoning) == ("a", "hm")

    def test_of_further_choices_is_left_out(self) -> None:
        other = {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "length"}]}
        reply = reply_of(delta(content="a"), other, delta(content="b"), STOP, other)
        assert (reply.text, reply.finish_reason) == ("ab", "stop")

    def test_a_refusal_is_kept_apart(self) -> None:
        for reply in (
            reply_of(delta(refusal="I can"), delta(refusal="not"), STOP),
            whole(completion(None, refusal="I cannot")).finish_reply(),
        ):
            assert (reply.text, reply.refusal) == ("", "I cannot")
            assert reply.message["refusal"] == "I cannot"


class TestReasoning:
    @pytest.mark.parametrize("channel", ["reasoning_content", "reasoning"])
    def test_from_a_channel_of_its_own(self, channel: str) -> None:
        pieces = [delta(**{channel: "h"}), delta(**{channel: "m"}), delta(content="42"), STOP]
        for reply in (reply_of(*pieces), whole(completion("42", **{channel: "hm"})).finish_reply()):
            assert (reply.reasoning, reply.text) == ("hm", "42")

    def test_from_both_channels_counts_once(self) -> None:
        reply = reply_of(delta(reasoning_content="hm", reasoning="hm"), delta(content="42"), STOP)
        assert reply.reasoning == "hm"

    @pytest.mark.parametrize("content", ["<think>\nhm\n</think>\n\n42", "hm</think>42"])
    def test_from_the_text_itself(self, content: str) -> None:
        for reply in (
            reply_of(*(delta(content=character) for character in content), STOP),
            whole(completion(content)).finish_reply(),
        ):
            assert (reply.reasoning, reply.text) == ("hm", "42")
            assert reply.message["content"] == "42"

    def test_that_never_ends_leaves_no_answer(self) -> None:
        reply = reply_of(delta(content="<think>hm"), delta("length"))
        assert (reply.reasoning, reply.text) == ("hm", "")

    def test_that_came_apart_leaves_the_text_alone(self) -> None:
        reply = whole(completion("Close it with </think>.", reasoning="hm")).finish_reply()
        assert (reply.reasoning, reply.text) == ("hm", "Close it with </think>.")


class TestToolCalls:
    def test_are_put_together_from_fragments(self) -> None:
        reply = reply_of(
            delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "search", "arguments": ""}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": '{"q": '}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": '"x"}'}}]),
            delta("tool_calls"),
        )
        assert reply.tool_calls == [SEARCH]
        assert reply.message == {"role": "assistant", "content": None, "tool_calls": [SEARCH]}
        assert reply.finish_reason == "tool_calls"

    def test_come_whole_too(self) -> None:
        reply = whole(completion("Let me look.", tool_calls=[SEARCH])).finish_reply()
        assert reply.message == {"role": "assistant", "content": "Let me look.", "tool_calls": [SEARCH]}

    def test_that_came_whole_are_in_order_whatever_their_index_says(self) -> None:
        calls = [{"index": 0, **SEARCH}, {"index": 0, **SEARCH, "id": "c2"}]
        reply = whole(completion(None, tool_calls=calls)).finish_reply()
        assert [call["id"] for call in reply.tool_calls] == ["c1", "c2"]


class TestUsage:
    COUNTS = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}

    def test_in_the_last_chunk(self) -> None:
        assert reply_of(delta(content="a"), STOP, usage(**self.COUNTS)).usage == Usage(5, 3)

    def test_in_every_chunk_the_last_counts(self) -> None:
        chunks = [{**delta(content="a"), "usage": {"completion_tokens": number}} for number in (1, 2, 3)]
        assert reply_of(*chunks, STOP).usage.completion_tokens == 3

    def test_in_none(self) -> None:
        assert reply_of({**delta(content="a"), "usage": None}, STOP).usage == NO_USAGE

    def test_of_an_answer_that_came_whole(self) -> None:
        assert whole({**completion(), "usage": self.COUNTS}).finish_reply().usage == Usage(5, 3)

    def test_tells_cached_and_reasoning_tokens(self) -> None:
        details = {
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 2},
        }
        assert reply_of(STOP, usage(**self.COUNTS, **details)).usage == Usage(5, 3, 4, 2)

    @pytest.mark.parametrize("nonsense", [-1, 1.5, "5", None, True, [5], {}, 10**30])
    def test_that_is_no_count_is_not_known(self, nonsense: Any) -> None:
        assert reply_of(STOP, usage(prompt_tokens=nonsense, completion_tokens=3)).usage == Usage(None, 3)

    @pytest.mark.parametrize("nonsense", ["many", 5, [5], {"prompt_tokens_details": [1]}])
    def test_of_an_unknown_shape_is_not_known(self, nonsense: Any) -> None:
        assert reply_of(STOP, {"choices": [], "usage": nonsense}).usage == NO_USAGE


class TestWhatElseItHolds:
    def test_logprobs_are_collected(self) -> None:
        first, second = ({"token": token, "logprob": -0.5, "top_logprobs": []} for token in "ab")
        chunks = [delta(content="a"), delta(content="b"), STOP]
        chunks[0]["choices"][0]["logprobs"] = {"content": [first], "refusal": None}
        chunks[1]["choices"][0]["logprobs"] = {"content": [second], "refusal": None}
        assert reply_of(*chunks).logprobs == {"content": [first, second]}

    def test_logprobs_of_completions_too(self) -> None:
        chunks = [
            {"choices": [{"text": token, "logprobs": {"tokens": [token], "token_logprobs": [-0.5]}}]}
            for token in "ab"
        ]
        assert reply_of(*chunks, STOP).logprobs == {"tokens": ["a", "b"], "token_logprobs": [-0.5, -0.5]}

    def test_the_model_that_answered(self) -> None:
        assert reply_of({"model": "m-2", **delta(content="a")}, STOP).model == "m-2"

    def test_unknown_fields_of_every_level_are_kept(self) -> None:
        chunk = {
            "choices": [{"delta": {"content": "a", "annotations": [1]}, "stop_reason": 7}],
            "provider": "p",
        }
        extra = {"provider": "p", "stop_reason": 7, "annotations": [1]}
        assert reply_of(chunk, STOP).extra == extra
        message = {"message": {"content": "a", "annotations": [1]}, "stop_reason": 7, "finish_reason": "stop"}
        assert whole({"choices": [message], "provider": "p"}).finish_reply().extra == extra

    def test_the_raw_answer_as_it_came(self) -> None:
        answer = b'{ "choices": [ {"message": {"content": "<think>hm</think>a"}} ] }'
        assert whole(answer).finish_reply().raw == answer

    def test_the_raw_answer_of_a_stream_put_together(self) -> None:
        chunks = [delta(reasoning="hm"), delta(content="a"), delta(tool_calls=[{"index": 0, **SEARCH}]), STOP]
        raw = json.loads(reply_of({"provider": "p", **chunks[0]}, *chunks[1:], usage(prompt_tokens=5)).raw)
        assert raw == {
            "provider": "p",
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": "a",
                        "reasoning_content": "hm",
                        "tool_calls": [SEARCH],
                    },
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 5},
        }

    def test_the_raw_text_keeps_the_reasoning_that_was_in_it(self) -> None:
        raw = json.loads(reply_of(delta(content="<think>hm</think>a"), STOP).raw)
        assert raw["choices"][0]["message"] == {"role": "assistant", "content": "<think>hm</think>a"}


class TestTheEndOfAStream:
    def test_without_done_is_flagged(self) -> None:
        meter = streamed(delta(content="a"), STOP, done=False)
        assert meter.finish_reply().text == "a"
        assert meter.flags == ["no_done"]
        assert streamed(delta(content="a"), STOP).flags == []

    def test_without_done_or_a_finish_reason_is_a_broken_answer(self) -> None:
        with pytest.raises(BadAnswer, match="the stream ended before the answer did"):
            reply_of(delta(content="a"), done=False)

    def test_with_done_needs_no_finish_reason(self) -> None:
        assert reply_of(delta(content="a")).finish_reason is None

    def test_with_done_alone_is_no_answer(self) -> None:
        with pytest.raises(BadAnswer, match="the stream held no answer"):
            reply_of()

    def test_before_any_byte_is_told_apart(self) -> None:
        with pytest.raises(EmptyStream):
            reply_of(done=False)

    def test_may_say_nothing_for_a_reason(self) -> None:
        assert reply_of(STOP).text == ""

    def test_what_follows_done_is_passed_over(self) -> None:
        meter = streamed(delta(content="a"), STOP)
        meter.receive_data(event(delta(content="b")), 900)
        assert (meter.finish_reply().text, meter.chunks) == ("a", 1)

    def test_an_event_cut_off_by_the_end_does_not_count(self) -> None:
        meter = streamed(delta(content="a"), STOP, done=False)
        meter.receive_data(b"data: [DONE]", 900)
        meter.finish_reply()
        assert meter.flags == ["no_done"]


EVERYTHING = b"".join(
    [
        b": welcome\r\n\r\n",
        event({"model": "m", **delta(role="assistant", content="")}),
        event({**delta(reasoning_content="hm"), "usage": {"prompt_tokens": 5}}),
        event(delta(content="Grüße, ")).replace(b"\n", b"\r\n"),
        event(json.dumps(delta(content="日本 🎉"), ensure_ascii=False).encode()),
        event(delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}])),
        event(delta(tool_calls=[{"index": 0, "function": {"arguments": "}"}}])),
        b"event: usage\n" + event(usage(prompt_tokens=5, completion_tokens=9)),
        event({"provider": "p", **delta("stop")}),
        DONE,
    ]
)


def test_an_answer_is_the_same_wherever_the_network_cuts_it() -> None:
    def outcome(*pieces: bytes) -> Any:
        meter = AnswerMeter()
        meter.receive_head(200, STREAM, 50)
        for number, piece in enumerate(pieces, 1):
            meter.receive_data(piece, number)
        return (
            msgspec.structs.asdict(meter.finish_reply()),
            meter.chunks,
            sum(meter.gaps.values()),
            meter.flags,
        )

    uncut = outcome(EVERYTHING)
    assert (uncut[0]["text"], uncut[1:]) == ("Grüße, 日本 🎉", (5, 4, []))
    for cut in range(1, len(EVERYTHING)):
        assert outcome(EVERYTHING[:cut], EVERYTHING[cut:]) == uncut
    assert outcome(*(EVERYTHING[at : at + 1] for at in range(len(EVERYTHING)))) == uncut
