"""What a token took is counted by tokens that were sent, between the moments of the first and the last of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.endpoint.http_kit import delta, usage
from tests.endpoint.meter_kit import streamed

from benchwright.endpoint.meter import BadAnswer


def counted(*chunks: Any, completion: int | None = None, reasoning: int | None = None) -> int | None:
    """The tokens after the first piece, where the server counts so many in all, and of these so many as reasoning."""
    told = usage(prompt_tokens=10, completion_tokens=completion) if completion is not None else None
    if told is not None and reasoning is not None:
        told["usage"]["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    meter = streamed(*chunks, delta("stop"), *([told] if told is not None else []))
    return meter.later_tokens(meter.finish())


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
    meter.finish()
    assert meter.error is not None
    assert meter.error["message"] == "out of memory"


def test_an_announced_end_without_an_answer_is_none() -> None:
    with pytest.raises(BadAnswer):
        streamed(delta(role="assistant")).finish()
