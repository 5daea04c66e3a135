"""What a token took is counted by tokens that were sent, between the moments of the first and the last of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.endpoint.http_kit import delta, event, usage
from tests.endpoint.meter_kit import streamed, whole

from benchwright.endpoint.meter import AnswerMeter, BadAnswer


def counted(*chunks: Any, completion: int | None = None, reasoning: int | None = None) -> int | None:
    """The tokens after the first piece, where the server counts so many in all, and of these so many as reasoning."""
    told = usage(prompt_tokens=10, completion_tokens=completion) if completion is not None else None
    if told is not None and reasoning is not None:
        told["usage"]["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    meter = streamed(*chunks, delta("stop"), *([told] if told is not None else []))
    return meter.tokens_after_first(meter.finish_reply())


WORDS = [delta(content=word) for word in ("one ", "two ", "six ", "ten ")]


def test_of_one_token_a_piece_all_but_the_first_are_later() -> None:
    assert counted(*WORDS, completion=4) == 3


def test_without_a_count_the_pieces_are_the_tokens() -> None:
    assert counted(*WORDS) == 3


def test_reasoning_that_was_counted_and_not_sent_took_none_of_the_time() -> None:
    assert counted(*WORDS, completion=204, reasoning=200) == 3


def test_reasoning_that_was_sent_counts() -> None:
    thought = [delta(reasoning="hm "), delta(reasoning="so ")]
    assert counted(*thought, *WORDS, completion=6, reasoning=2) == 5


def test_of_pieces_with_several_tokens_the_first_has_its_share_of_the_text() -> None:
    pieces = [delta(content="a b c d "), delta(content="e f g h "), delta(content="i j k l ")]
    assert counted(*pieces, completion=12) == 8


def test_the_last_token_is_before_the_usage_that_follows() -> None:
    meter = streamed(*WORDS, delta("stop"), usage(prompt_tokens=10, completion_tokens=4))
    assert (meter.first_token_at, meter.last_token_at) == (100, 400)


@pytest.mark.parametrize(
    "shape",
    [
        {"object": "error", "message": "out of memory", "code": 500},
        {"message": "out of memory", "type": "InternalServerError"},
        {"error": {"message": "out of memory"}},
    ],
)
def test_an_error_in_the_stream_is_no_answer_whatever_its_shape(shape: dict[str, Any]) -> None:
    meter = streamed(WORDS[0], shape)
    meter.finish_reply()
    assert meter.error is not None
    assert meter.error["message"] == "out of memory"


def test_an_announced_end_without_an_answer_is_none() -> None:
    with pytest.raises(BadAnswer):
        streamed(delta(role="assistant")).finish_reply()


@pytest.mark.parametrize(
    "shape",
    [
        b'{"detail": "out of memory"}',
        b'{"status": 500, "message": "out of memory"}',
        b'{"errors": [{"message": "out of memory"}]}',
        b'{"type": "error", "text": "out of memory"}',
        b'{"choices": [{"index": 0, "delta": {}, "error": {"message": "out of memory"}}]}',
    ],
)
def test_an_error_of_another_shape_makes_an_answer_without_an_end_none(shape: bytes) -> None:
    meter = streamed(WORDS[0], shape)
    meter.finish_reply()
    assert "out of memory" in str(meter.error)


def test_a_message_beside_an_answer_that_has_an_end_is_no_error() -> None:
    meter = streamed({"status": "queued", "message": "soon"}, WORDS[0], delta("stop"))
    assert meter.finish_reply().text == "one "
    assert meter.error is None


def test_an_event_named_error_is_one_whatever_it_holds() -> None:
    meter = streamed(WORDS[0], done=False)
    meter.receive_data(b'event: error\ndata: {"detail": "out of memory"}\n\n', 200)
    meter.receive_data(event(delta("stop")), 300)
    meter.finish_reply()
    assert meter.error == {"detail": "out of memory"}


@pytest.mark.parametrize("reason", ["error", "abort", "insufficient_system_resource"])
def test_an_answer_that_the_server_broke_off_is_none(reason: str) -> None:
    with pytest.raises(BadAnswer, match=f"broke the answer off .finish reason {reason}"):
        streamed(WORDS[0], delta(reason)).finish_reply()
    with pytest.raises(BadAnswer, match="broke the answer off"):
        whole({"choices": [{"message": {"content": "one"}, "finish_reason": reason}]}).finish_reply()


def test_a_count_of_nothing_or_of_the_beginning_is_not_that_of_the_answer() -> None:
    nothing = usage(prompt_tokens=10, completion_tokens=0)
    assert streamed(*WORDS, delta("stop"), nothing).finish_reply().usage.completion_tokens is None
    early = [nothing, *WORDS[:3], usage(prompt_tokens=10, completion_tokens=3), *WORDS[3:], delta("stop")]
    told = streamed(*early).finish_reply().usage
    assert (told.prompt_tokens, told.completion_tokens) == (10, None)


def test_a_count_that_came_before_the_answer_may_be_whole() -> None:
    assert (
        streamed(usage(completion_tokens=4), *WORDS, delta("stop")).finish_reply().usage.completion_tokens
        == 4
    )


def test_of_reasoning_of_which_a_summary_was_sent_that_is_sent() -> None:
    summary = [delta(reasoning="I looked "), delta(reasoning="at it. ")]
    assert counted(*summary, *WORDS, completion=204, reasoning=200) == 6


def test_reasoning_that_is_counted_beside_the_answer_is_of_its_tokens() -> None:
    beside = usage(prompt_tokens=10, completion_tokens=4, total_tokens=214)
    beside["usage"]["completion_tokens_details"] = {"reasoning_tokens": 200}
    meter = streamed(*WORDS, delta("stop"), beside)
    reply = meter.finish_reply()
    assert (reply.usage.completion_tokens, meter.tokens_after_first(reply)) == (204, 3)


def test_more_tokens_from_the_cache_than_the_prompt_has_are_unknown() -> None:
    told = usage(prompt_tokens=10, completion_tokens=4)
    told["usage"]["prompt_tokens_details"] = {"cached_tokens": 50}
    assert streamed(*WORDS, delta("stop"), told).finish_reply().usage.cached_tokens is None


def test_reasoning_in_details_is_a_token() -> None:
    thought = delta(reasoning_details=[{"type": "reasoning.text", "text": "hm"}])
    meter = streamed(thought, *WORDS, delta("stop"))
    assert (meter.first_token_at, meter.finish_reply().reasoning) == (100, "hm")


def test_a_stream_is_known_by_its_first_event_where_its_headers_are_silent() -> None:
    meter = AnswerMeter()
    meter.receive_head(200, [(b"content-type", b"text/plain")], 50)
    for at, chunk in ((100, WORDS[0]), (200, WORDS[1]), (300, delta("stop"))):
        meter.receive_data(event(chunk), at)
    assert meter.finish_reply().text == "one two "
    assert (meter.first_token_at, meter.last_token_at) == (100, 200)
    assert "not_called_a_stream" in meter.flags
