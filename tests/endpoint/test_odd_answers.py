"""Answers as servers in the field send them, byte for byte where it matters: read rightly, or refused, or flagged.

`tests/endpoint/simulate/test_simulated_quirks.py` has those that the simulated endpoint can send.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.endpoint.http_kit import completion, delta, event, usage
from tests.endpoint.meter_kit import JSON, STREAM, reply_of, streamed, whole

from benchwright.endpoint.flags import flag_kind
from benchwright.endpoint.meter import AnswerMeter, BadAnswer
from benchwright.endpoint.reply import Reply

STOP = delta("stop")
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def read(*pieces: bytes, headers: Any = STREAM) -> AnswerMeter:
    """The meter after these bytes."""
    meter = AnswerMeter()
    meter.receive_head(200, headers, 50)
    for at, piece in enumerate(pieces, 1):
        meter.receive_data(piece, 100 * at)
    return meter


def said(data: bytes) -> bytes:
    """A delta, in JSON as it is given."""
    return b'data: {"choices":[{"index":0,"delta":{%b}}]}\n\n' % data


def kinds(meter: AnswerMeter) -> list[str]:
    return [flag_kind(flag) for flag in meter.flags]


ENDS = (event(STOP), event(b"[DONE]"))


class TestHalvesOfCharacters:
    @pytest.mark.parametrize("channel", [b"content", b"reasoning_content"])
    @pytest.mark.parametrize(
        ("first", "second"),
        [(b"\\ud83d", b"\\ude00"), (b"\xed\xa0\xbd", b"\xed\xb8\x80"), (b"\\ud83d", b"\xed\xb8\x80")],
    )
    def test_are_joined(self, channel: bytes, first: bytes, second: bytes) -> None:
        meter = read(said(b'"%b":"a%b"' % (channel, first)), said(b'"%b":"%bb"' % (channel, second)), *ENDS)
        reply = meter.finish_reply()
        assert "a😀b" in (reply.text, reply.reasoning)
        assert "broken_character" not in meter.flags
        assert "a😀b" in reply.raw.decode()

    def test_are_joined_behind_a_pattern_too(self) -> None:
        texts = [said(b'"content":"%b"' % word) for word in (b"a", b"b", b"c", b"\\ud83d", b"\\ude00", b"d")]
        assert read(*texts, *ENDS).finish_reply().text == "abc😀d"

    def test_are_joined_in_arguments(self) -> None:
        opening = said(
            b'"tool_calls":[{"index":0,"id":"1","function":{"name":"look","arguments":"{\\"at\\":\\"\\ud83d"}}]'
        )
        closing = said(b'"tool_calls":[{"index":0,"function":{"arguments":"\\ude00\\"}"}}]')
        (call,) = read(opening, closing, *ENDS).finish_reply().tool_calls
        assert json.loads(call["function"]["arguments"]) == {"at": "😀"}

    @pytest.mark.parametrize("half", [b"\\ud83d", b"\\ude00", b"\xed\xa0\xbd"])
    def test_by_themselves_are_replaced_and_flagged(self, half: bytes) -> None:
        meter = read(said(b'"content":"a%b b"' % half), *ENDS)
        assert (meter.finish_reply().text, kinds(meter)) == ("a\ufffd b", ["broken_character"])

    def test_of_bytes_are_replaced_and_flagged(self) -> None:
        meter = read(said(b'"content":"a\xf0\x9f"'), said(b'"content":"\x98\x80b"'), *ENDS)
        text = meter.finish_reply().text
        assert (text[0], text[-1], set(text[1:-1])) == ("a", "b", {"\ufffd"})

    def test_that_the_server_replaced_itself_are_flagged(self) -> None:
        meter = streamed(delta(content="a \ufffd\ufffd"), STOP)
        assert (meter.finish_reply().text, meter.flags) == ("a \ufffd\ufffd", ["broken_character"])

    def test_of_a_whole_answer_leave_a_raw_answer_that_is_json(self) -> None:
        body = b'{"id":"\\ud83d","choices":[{"message":{"content":"a\\ud83d \\ud83d\\ude00"},"finish_reason":"stop"}]}'
        reply = whole(body).finish_reply()
        assert reply.text == "a\ufffd 😀"
        assert json.loads(reply.raw)["choices"][0]["message"]["content"] == "a\ufffd 😀"

    def test_in_tokens_with_log_probabilities_are_replaced(self) -> None:
        logprobs = b'"logprobs":{"content":[{"token":"\\ud83d","logprob":-1}]}'
        first = b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"},%b}]}\n\n' % logprobs
        reply = read(first, said(b'"content":"\\ude00"'), *ENDS).finish_reply()
        assert reply.logprobs == {"content": [{"token": "\ufffd", "logprob": -1}]}


class TestWhatIsNoStrictJson:
    def test_no_number_is_none(self) -> None:
        body = (
            b'{"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":NaN}]}}]}'
        )
        reply = whole(body).finish_reply()
        assert reply.logprobs == {"content": [{"token": "a", "logprob": None}]}
        json.loads(reply.raw)

    def test_a_line_end_within_a_string_is_one(self) -> None:
        assert whole(b'{"choices":[{"message":{"content":"a\nb"}}]}').finish_reply().text == "a\nb"

    def test_a_byte_order_mark_is_passed_over(self) -> None:
        assert whole(b'\xef\xbb\xbf{"choices":[{"message":{"content":"a"}}]}').finish_reply().text == "a"


class TestEvents:
    def test_may_hold_several_chunks_in_lines(self) -> None:
        chunks = [json.dumps(delta(content=text)).encode() for text in "ab"]
        assert read(b"data: %b\ndata: %b\n\n" % tuple(chunks), *ENDS).finish_reply().text == "ab"

    @pytest.mark.parametrize("before", [b"", said(b'"content":"a"')])
    def test_in_a_field_named_error_are_errors(self, before: bytes) -> None:
        error = b'{"code":400,"message":"exceeds the available context size","type":"invalid_request_error"}'
        meter = read(before or b": alive\n\n", b"error: %b\n\n" % error, event(b"[DONE]"))
        meter.finish_reply()
        assert meter.error == json.loads(error)

    @pytest.mark.parametrize("end", [(), (event(b"[DONE]"),)])
    def test_may_be_followed_by_an_error_without_a_field(self, end: tuple[bytes, ...]) -> None:
        meter = read(said(b'"content":"a"'), b'{"error": {"message": "the upstream is gone"}}\n\n', *end)
        meter.finish_reply()
        assert meter.error == {"message": "the upstream is gone"}

    @pytest.mark.parametrize("headers", [JSON, STREAM, [(b"content-type", b"application/x-ndjson")]])
    def test_may_be_lines_of_json(self, headers: Any) -> None:
        lines = [
            json.dumps(chunk).encode() + b"\n" for chunk in (delta(content="a"), delta(content="b"), STOP)
        ]
        reply = read(*lines, headers=headers).finish_reply()
        assert (reply.text, reply.finish_reason) == ("ab", "stop")

    @pytest.mark.parametrize("headers", [JSON, STREAM])
    def test_of_lines_of_json_end_with_the_stream(self, headers: Any) -> None:
        lines = [json.dumps(chunk).encode() for chunk in (delta(content="a"), STOP)]
        reply = read(b"\n", lines[0], b"\r\n" + lines[1], headers=headers).finish_reply()
        assert (reply.text, reply.finish_reason) == ("a", "stop")

    @pytest.mark.parametrize("headers", [JSON, STREAM])
    def test_of_lines_of_json_that_are_cut_off_are_refused(self, headers: Any) -> None:
        lines = [json.dumps(chunk).encode() for chunk in (delta(content="a"), STOP)]
        with pytest.raises(BadAnswer):
            read(lines[0] + b"\n", lines[1][:-4], headers=headers).finish_reply()

    def test_of_one_line_are_a_whole_answer(self) -> None:
        assert read(json.dumps(completion("a")).encode() + b"\n", headers=JSON).finish_reply().text == "a"

    @pytest.mark.parametrize(
        "done", [b"data: [DONE] \n\n", b"data:[DONE]\r\n\r\n", b"data: [DONE]\n\ndata: [DONE]\n\n"]
    )
    def test_that_end_a_stream_may_have_blanks_and_come_twice(self, done: bytes) -> None:
        meter = read(said(b'"content":"a"'), event(STOP), done)
        assert (meter.finish_reply().text, meter.flags) == ("a", [])


class TestErrors:
    @pytest.mark.parametrize("choices", [None, []])
    def test_in_a_status_beside_no_choices_are_errors(self, choices: Any) -> None:
        answer = {
            "choices": choices,
            "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"},
        }
        for meter in (whole(answer), streamed(answer)):
            meter.finish_reply()
            assert meter.error == {"code": 1008, "message": "insufficient balance"}

    @pytest.mark.parametrize("reason", ["stop", "error", None])
    def test_in_the_choice_of_a_whole_answer_are_errors_of_the_answer(self, reason: str | None) -> None:
        error = {"code": 429, "message": "the upstream is full"}
        choice = {"message": {"role": "assistant", "content": ""}, "finish_reason": reason, "error": error}
        meter = whole({"choices": [choice]})
        meter.finish_reply()
        assert meter.error == error

    def test_a_status_of_success_is_none(self) -> None:
        answer = {**completion("a"), "base_resp": {"status_code": 0, "status_msg": ""}}
        assert whole(answer).finish_reply().text == "a"


class TestChunks:
    def test_may_have_no_choice_or_no_delta(self) -> None:
        first: dict[str, Any] = {"choices": [], "prompt_filter_results": []}
        filtered = {"choices": [{"index": 0, "content_filter_offsets": {}, "finish_reason": None}]}
        null = {"choices": None, "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
        assert reply_of(first, delta(content="a"), filtered, null, STOP).text == "a"

    def test_may_number_their_choice_in_a_string(self) -> None:
        chunk = {"choices": [{"index": "0", "delta": {"content": "a"}, "finish_reason": "stop"}]}
        assert reply_of(chunk).text == "a"

    def test_may_be_a_whole_answer(self) -> None:
        answer = {
            **completion("Hello", tool_calls=[CALL]),
            "usage": {"prompt_tokens": 5, "completion_tokens": 3},
        }
        reply = reply_of(answer)
        assert (reply.text, reply.tool_calls, reply.finish_reason) == ("Hello", [CALL], "stop")

    def test_that_repeat_the_role_say_it_once(self) -> None:
        assert (
            reply_of(delta(role="assistant", content="a"), delta(role="assistant", content="b"), STOP).text
            == "ab"
        )

    def test_of_content_may_be_parts_strings_or_one_object(self) -> None:
        for content in (
            ["a", None, {"type": "text", "text": "b"}],
            [{"text": "ab"}],
            {"type": "text", "text": "ab"},
        ):
            assert reply_of(delta(content=content), STOP).text == "ab"
            assert whole(completion(content)).finish_reply().text == "ab"

    def test_of_content_may_hold_a_call(self) -> None:
        part = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
        for reply in (
            reply_of(delta(content=[part]), delta("tool_use")),
            whole(completion([part])).finish_reply(),
        ):
            assert reply.tool_calls == [CALL]

    def test_a_refusal_by_another_name_is_none_of_the_answer(self) -> None:
        assert reply_of(delta(content="a"), delta("sensitive")).finish_reason == "content_filter"


class TestThinking:
    @pytest.mark.parametrize(
        "field",
        [
            {"reasoning": {"content": "hm"}},
            {"reasoning_content": {"text": "hm"}},
            {"reasoning": ["h", {"text": "m"}]},
            {"thinking": "hm"},
            {"reasoning_text": "hm"},
            {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
            {"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]},
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
        ],
    )
    def test_may_stand_in_many_places(self, field: dict[str, Any]) -> None:
        reply = reply_of(delta(**field), delta(content="42"), STOP)
        assert (reply.reasoning, reply.text) == ("hm", "42")

    @pytest.mark.parametrize("nothing", [None, "", [], {}, [{"type": "reasoning.encrypted", "data": "x"}]])
    def test_that_is_not_told_is_none(self, nothing: Any) -> None:
        assert (
            reply_of(delta(content="42", reasoning=nothing, reasoning_details=nothing), STOP).reasoning == ""
        )

    def test_that_comes_twice_counts_once(self) -> None:
        reply = whole(completion("<think>hm</think>42", reasoning_content="hm")).finish_reply()
        assert (reply.reasoning, reply.text) == ("hm", "42")

    def test_within_the_answer_is_taken_out_and_flagged(self) -> None:
        meter = whole(completion("Let me see.\n<think>hm</think>\n42"))
        assert meter.finish_reply().text == "Let me see.\n42"
        assert meter.flags == ["late_thinking: hm"]

    def test_alone_is_no_answer_and_flagged(self) -> None:
        meter = whole(completion(None, reasoning="So it is 42."))
        assert (meter.finish_reply().text, meter.flags) == (
            "",
            ["no_answer: all text came as thinking: So it is 42."],
        )

    def test_that_was_cut_off_is_not_flagged(self) -> None:
        meter = whole(completion(None, "length", reasoning="So it"))
        meter.finish_reply()
        assert meter.flags == []

    def test_in_channels_of_gpt_oss_is_taken_out_and_flagged(self) -> None:
        harmony = (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>42<|return|>"
        )
        meter = whole(completion(harmony))
        reply = meter.finish_reply()
        assert (reply.reasoning, reply.text, kinds(meter)) == (
            "hm",
            "42",
            ["template_tokens"],
        )

    def test_that_holds_the_final_channel_is_the_answer(self) -> None:
        reply = whole(completion(None, reasoning="<|channel|>final<|message|>42<|return|>")).finish_reply()
        assert (reply.reasoning, reply.text) == ("", "42")


class TestTheEndOfAText:
    @pytest.mark.parametrize("token", ["<|im_end|>", "<|eot_id|>", "</s>", "<end_of_turn>\n"])
    def test_is_no_token_of_a_chat_template(self, token: str) -> None:
        meter = whole(completion(f"42{token}"))
        assert (meter.finish_reply().text, meter.flags) == ("42", [f"template_tokens: {token.strip()}"])

    @pytest.mark.parametrize("text", ["<s>old</s>", "<b>new</b>", "a > b"])
    def test_may_be_other_markup(self, text: str) -> None:
        meter = whole(completion(text))
        assert (meter.finish_reply().text, meter.flags) == (text, [])


class TestRepetitions:
    PIECES = ("The answer ", "is forty", "-two.")

    def test_of_all_that_came_are_taken_out_and_flagged(self) -> None:
        meter = streamed(*(delta(content=text) for text in (*self.PIECES, "".join(self.PIECES))), STOP)
        assert (meter.finish_reply().text, kinds(meter)) == ("The answer is forty-two.", ["answer_repeated"])

    def test_of_what_came_before_are_taken_out_and_flagged(self) -> None:
        texts = ["The answer ", "The answer is forty", "The answer is forty-two."]
        meter = streamed(*(delta(content=text) for text in texts), STOP)
        assert (meter.finish_reply().text, kinds(meter)) == ("The answer is forty-two.", ["answer_repeated"])

    @pytest.mark.parametrize(
        "words", [["ha", "ha"], ["a", "b", "ab"], ["no, ", "no, ", "no!"], ["6", "6", "66", "6"]]
    )
    def test_of_a_model_stay(self, words: list[str]) -> None:
        meter = streamed(*(delta(content=word) for word in words), STOP)
        assert (meter.finish_reply().text, meter.flags) == ("".join(words), [])


class TestWhyItEnded:
    @pytest.mark.parametrize(
        ("theirs", "ours"),
        [
            *(("end_turn", "stop"), ("eos_token", "stop"), ("STOP", "stop"), ("stop_sequence", "stop")),
            *(("MAX_TOKENS", "length"), ("max_tokens", "length"), ("model_length", "length")),
            *(("tool_use", "tool_calls"), ("function_call", "tool_calls")),
            *(("SAFETY", "content_filter"), ("sensitive", "content_filter"), ("refusal", "content_filter")),
            ({"type": "length", "length": 5}, "length"),
            ("something_else", "something_else"),
        ],
    )
    def test_is_told_in_the_words_of_the_reference(self, theirs: Any, ours: str) -> None:
        for reply in (
            reply_of(delta(content="a"), delta(theirs)),
            whole(completion("a", theirs)).finish_reply(),
        ):
            assert reply.finish_reason == ours
            assert reply.extra == ({} if theirs == ours else {"native_finish_reason": theirs})

    def test_is_flagged_if_it_is_not_known(self) -> None:
        meter = streamed(delta(content="a"), delta("engine_overloaded"))
        meter.finish_reply()
        assert meter.flags == ["unknown_end: engine_overloaded"]

    def test_may_be_told_as_gemini_spells_it(self) -> None:
        choice = {"index": 0, "finish_reason": None, "finishReason": "MAX_TOKENS"}
        last: dict[str, Any] = {"choices": [{**choice, "delta": {}}]}
        message = {"role": "assistant", "content": "a"}
        for reply in (
            reply_of(delta(content="a"), last, done=False),
            whole({"choices": [{**choice, "message": message}]}).finish_reply(),
        ):
            assert reply.finish_reason == "length"

    @pytest.mark.parametrize("cut", ["length", "content_filter"])
    def test_is_that_it_was_cut_off_even_if_a_stop_follows(self, cut: str) -> None:
        assert reply_of(delta(cut, content="a"), delta("stop")).finish_reason == cut

    @pytest.mark.parametrize("nothing", ["", "null", "None"])
    def test_is_not_told_before_the_end(self, nothing: str) -> None:
        reply = reply_of(delta(nothing, content="a"), delta("length"))
        assert reply.finish_reason == "length"
        with pytest.raises(BadAnswer, match="ended before the answer did"):
            reply_of(delta(nothing, content="a"), done=False)


class TestCalls:
    def reply(self, *calls: dict[str, Any], reason: str = "tool_calls") -> tuple[Reply, list[str]]:
        meter = streamed(delta(tool_calls=list(calls)), delta(reason)) if calls else streamed(delta(reason))
        return meter.finish_reply(), kinds(meter)

    def test_whose_arguments_are_no_object_are_flagged(self) -> None:
        broken = {"index": 0, "id": "1", "function": {"name": "look", "arguments": '{"a": "b"c"}'}}
        assert self.reply(broken)[1] == ["call_unread"]
        assert self.reply(broken, reason="length")[1] == []

    def test_that_are_told_and_do_not_come_are_flagged(self) -> None:
        assert self.reply()[1] == ["call_missing", "no_answer"]

    @pytest.mark.parametrize(
        "reason", ["MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL"]
    )
    def test_that_the_server_could_not_read_are_flagged(self, reason: str) -> None:
        assert self.reply(reason=reason)[1] == ["call_unread"]

    def test_with_another_reason_to_stop_are_calls(self) -> None:
        reply, odd = self.reply({"index": 0, **CALL}, reason="stop")
        assert (reply.tool_calls, odd) == ([CALL], [])

    def test_in_another_choice_of_a_whole_answer_belong_to_it(self) -> None:
        answer = completion("Let me look.", "tool_calls")
        answer["choices"].append(
            {"index": 1, "message": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}
        )
        reply = whole(answer).finish_reply()
        assert (reply.text, reply.tool_calls) == ("Let me look.", [CALL])

    def test_in_another_choice_that_was_asked_for_do_not(self) -> None:
        answer = completion("Hello", "stop")
        answer["choices"].append(
            {"index": 1, "message": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}
        )
        assert whole(answer).finish_reply().tool_calls == []


class TestCounts:
    def test_may_stand_in_the_choice_or_beside_it(self) -> None:
        told = {"prompt_tokens": 5, "completion_tokens": 3}
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": told}]}
        for chunk in (last, {**STOP, "x_groq": {"usage": told}}):
            assert reply_of(delta(content="a"), chunk).usage.completion_tokens == 3

    @pytest.mark.parametrize("nothing", [0, None])
    def test_of_nothing_replace_no_others(self, nothing: int | None) -> None:
        zeros = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), nothing)
        counts = usage(prompt_tokens=5, completion_tokens=3, total_tokens=8)
        told = reply_of(delta(content="a"), STOP, counts, usage(**zeros)).usage
        assert (told.prompt_tokens, told.completion_tokens) == (5, 3)

    def test_may_come_apart(self) -> None:
        told = reply_of(delta(content="a"), usage(prompt_tokens=5), STOP, usage(completion_tokens=3)).usage
        assert (told.prompt_tokens, told.completion_tokens) == (5, 3)

    def test_that_only_the_total_tells_are_flagged(self) -> None:
        meter = streamed(
            delta(content="a"), STOP, usage(prompt_tokens=5, completion_tokens=3, total_tokens=108)
        )
        assert (meter.finish_reply().usage.reasoning_tokens, meter.flags) == (
            100,
            ["thinking_by_total: 100 tokens"],
        )

    def test_of_an_empty_answer_are_flagged(self) -> None:
        meter = streamed(delta(content=""), STOP, usage(prompt_tokens=5, completion_tokens=30))
        meter.finish_reply()
        assert meter.flags == ["no_answer: 30 tokens came without text"]

    def test_of_an_answer_that_ends_at_once_are_not(self) -> None:
        meter = streamed(STOP, usage(prompt_tokens=5, completion_tokens=1))
        meter.finish_reply()
        assert meter.flags == []


def test_a_reply_without_anything_odd_has_no_flags() -> None:
    chunks = [delta(role="assistant", content=""), delta(reasoning="hm"), delta(content="42"), STOP]
    meter = streamed(*chunks, usage(prompt_tokens=5, completion_tokens=3, total_tokens=8))
    meter.finish_reply()
    assert meter.flags == []
