"""Chunks that differ in one text are read by what they have in common, with the same result as one by one."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.http_kit import DONE, delta, usage
from tests.endpoint.meter_kit import STREAM

from benchwright.endpoint import accumulator
from benchwright.endpoint.meter import AnswerMeter, BadAnswer
from benchwright.endpoint.sse import EventPattern, learn_pattern

HOSTILE = [
    *(
        '"',
        "\\",
        '\\"',
        "\n\ndata: ",
        '"content":"a"',
        '","content":"',
        "é",
        "\U0001f600",
        "\u2028",
        " ",
        "</think>",
    ),
    '"}}]}\n\ndata: {"choices":[{"delta":{"content":"',
]
TEXTS = st.sampled_from(HOSTILE) | st.text(max_size=6)


def chunk_of(field: str, text: str, created: int) -> dict[str, Any]:
    return {"id": '"content":"x"', "created": created, "model": "m", **delta(**{field: text})}


CHUNKS = st.lists(
    st.builds(chunk_of, st.sampled_from(["content", "reasoning_content"]), TEXTS, st.integers(1, 2))
    | st.sampled_from([delta(content="a", role="assistant"), delta("stop"), usage(completion_tokens=5)])
    | st.sampled_from([{"error": {"message": "no"}, **delta(content="a")}, {**delta(content="a"), "new": 1}]),
    max_size=12,
)
WRITERS = st.builds(
    lambda ascii_only, separators: json.JSONEncoder(ensure_ascii=ascii_only, separators=separators).encode,
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ": ")]),
)


def read(stream: bytes, cuts: list[int]) -> dict[str, Any]:
    """All that a meter tells of a stream that arrives in these pieces."""
    meter = AnswerMeter()
    meter.receive_head(200, STREAM, 1)
    places = sorted({0, *(cut % (len(stream) + 1) for cut in cuts), len(stream)})
    for number, (start, end) in enumerate(pairwise(places), 1):
        meter.receive_data(stream[start:end], 100 * number)
    try:
        reply: Any = meter.finish_reply()
    except BadAnswer as error:
        reply = str(error)
    told = (
        meter.first_token_at,
        meter.last_token_at,
        meter.chunks,
        meter.gaps,
        meter.flags,
        meter.answer_started_at(),
    )
    return {"reply": reply, "told": told}


@given(CHUNKS, WRITERS, st.sampled_from(["\n\n", "\r\n\r\n"]), st.lists(st.integers(0, 5_000), max_size=30))
def test_nothing_is_read_differently(chunks: list[Any], write: Any, end: str, cuts: list[int]) -> None:
    stream = "".join(f"data: {write(chunk)}{end}" for chunk in chunks).encode() + DONE
    told = read(stream, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accumulator, "MAX_PATTERN_FAILURES", 0)
        assert told == read(stream, cuts)


def pattern(data: bytes, field: str = "content") -> EventPattern | None:
    chunk = json.loads(data)
    return learn_pattern(data, chunk, chunk["choices"][0]["delta"], field)


def found(data: bytes) -> EventPattern:
    its = pattern(data)
    assert its is not None
    return its


PLAIN = b'{"id":1,"choices":[{"delta":{"content":"a"},"finish_reason":null}]}'


class TestAPattern:
    @pytest.mark.parametrize("text", HOSTILE)
    def test_finds_any_text_in_the_same_place(self, text: str) -> None:
        data = PLAIN.replace(b'"a"', json.dumps(text).encode())
        assert found(PLAIN).read_text(data) == text
        assert found(PLAIN).read_texts(b"data: " + data + b"\n\n") == [text]

    def test_finds_those_of_many_events_at_once(self) -> None:
        events = b"".join(
            b"data: " + PLAIN.replace(b'"a"', b'"%d"' % number) + b"\n\n" for number in range(5)
        )
        assert found(PLAIN).read_texts(events) == list("01234")

    @pytest.mark.parametrize(
        "between",
        [
            b'""',
            b"null",
            b"5",
            b'"a","role":"b"',
            b'"a" ,"content":"b"',
            b'"\xff"',
            b'"\n"',
            b'"\\ud800"',
            b'["a"]',
        ],
    )
    def test_does_not_fit_where_more_than_a_text_stands_there(self, between: bytes) -> None:
        data = PLAIN.replace(b'"a"', between)
        assert found(PLAIN).read_text(data) == ""
        assert found(PLAIN).read_texts(b"data: " + PLAIN + b"\n\ndata: " + data + b"\n\n") == []

    def test_does_not_fit_where_anything_else_differs(self) -> None:
        assert found(PLAIN).read_text(PLAIN.replace(b"1", b"2")) == ""
        assert found(PLAIN).read_text(PLAIN.replace(b"null", b'"stop"')) == ""

    @pytest.mark.parametrize(
        "data",
        [
            b'{"note":{"content":"a"},"choices":[{"delta":{"content":"a"}}]}',
            b'{"choices":[{"delta":{"content":"b","content":"a"}}]}',
            b'{"choices":[{"delta":{"c\\u006fntent":"a"}}]}',
        ],
    )
    def test_is_none_where_the_place_is_not_certain(self, data: bytes) -> None:
        assert pattern(data) is None
