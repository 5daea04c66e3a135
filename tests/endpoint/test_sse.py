"""Server-sent events against a second parser, written for the test word by word after the HTML standard."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright.endpoint import sse
from benchwright.endpoint.sse import BYTE_ORDER_MARK, EventStream, EventTooLarge, JsonLines


def events_of(*pieces: bytes) -> list[bytes]:
    stream = EventStream()
    return [event for piece in pieces for event in stream.feed(piece)]


def events_by_the_standard(stream: bytes) -> list[bytes]:
    """Section 9.2.6, "Interpreting an event stream", one sentence after the other."""
    events, data = [], b""
    for line in lines_by_the_standard(stream.removeprefix(BYTE_ORDER_MARK)):
        if line == b"":
            if data != b"":
                events.append(data[:-1])
            data = b""
        elif line.startswith(b":"):
            pass
        else:
            field, colon, value = line.partition(b":")
            if colon and value.startswith(b" "):
                value = value[1:]
            if field == b"data":
                data += value + b"\n"
    return events


def lines_by_the_standard(stream: bytes) -> Iterable[bytes]:
    """Lines end with CR LF, a lone LF or a lone CR; what follows the last end is not a line."""
    line, position = b"", 0
    while position < len(stream):
        if stream[position : position + 2] == b"\r\n":
            yield line
            line, position = b"", position + 2
        elif stream[position : position + 1] in (b"\r", b"\n"):
            yield line
            line, position = b"", position + 1
        else:
            line, position = line + stream[position : position + 1], position + 1


class TestByExample:
    @pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
    def test_lines_end_in_three_ways(self, end: bytes) -> None:
        assert events_of(b"data: a" + end + end + b"data: b" + end + end) == [b"a", b"b"]

    def test_several_events_in_one_piece(self) -> None:
        assert events_of(b"data: a\n\ndata: b\n\n") == [b"a", b"b"]

    def test_one_event_in_several_pieces(self) -> None:
        assert events_of(b"da", b"ta: he", b"llo\n", b"\n") == [b"hello"]

    def test_data_lines_of_one_event_are_joined_by_a_line_feed(self) -> None:
        assert events_of(b"data: a\ndata: b\ndata:\n\n") == [b"a\nb\n"]

    def test_only_one_space_after_the_colon_is_not_part_of_the_data(self) -> None:
        assert events_of(b"data:a\n\ndata:  b\n\ndata\n\n") == [b"a", b" b", b""]

    def test_a_byte_order_mark_at_the_start_is_passed_over(self) -> None:
        assert events_of(BYTE_ORDER_MARK + b"data: a\n\n") == [b"a"]
        assert events_of(b"data: " + BYTE_ORDER_MARK + b"\n\n") == [BYTE_ORDER_MARK]

    def test_comments_and_other_fields_are_passed_over(self) -> None:
        assert events_of(b": ping\n\nevent: x\nid: 1\nretry: 5\ndatum: 2\ndata: a\n\n") == [b"a"]

    def test_an_event_without_data_is_none(self) -> None:
        assert events_of(b"event: done\n\n\n\n") == []

    def test_an_event_that_the_end_cuts_off_is_not_delivered(self) -> None:
        assert events_of(b"data: a\n\ndata: b\n") == [b"a"]


FRAGMENTS = [
    *(
        b"data",
        b"data:",
        b"data: ",
        b"data: a\n\n",
        b"data: d\r\n\r\n",
        b"data: b\n\ndata: c\n\n",
        b"event: e\n",
        b"id",
    ),
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b":", b" ", b"x", BYTE_ORDER_MARK, BYTE_ORDER_MARK[:1], b"\0"),
]


class TestAgainstTheStandard:
    @given(st.lists(st.lists(st.sampled_from(FRAGMENTS), min_size=1).map(b"".join)))
    @example([b"data: a\r", b"\n\r\n", b"data: b\n\n"])
    @example([BYTE_ORDER_MARK[:2], BYTE_ORDER_MARK[2:] + b"data: a\n\n"])
    @example([b"data: a\n", b"data: b\n\n"])
    def test_any_pieces_of_any_stream_give_the_events_of_the_whole(self, pieces: list[bytes]) -> None:
        assert events_of(*pieces) == events_by_the_standard(b"".join(pieces))

    @given(st.lists(st.binary(min_size=1, max_size=8)))
    def test_so_do_bytes_that_are_no_stream(self, pieces: list[bytes]) -> None:
        assert events_of(*pieces) == events_by_the_standard(b"".join(pieces))


class TestJsonLines:
    @given(
        st.lists(
            st.lists(st.sampled_from([b'{"a":1}', b"\n", b"\r\n", b" ", b"}"]), min_size=1).map(b"".join)
        )
    )
    def test_any_pieces_give_the_lines_of_the_whole(self, pieces: list[bytes]) -> None:
        lines = JsonLines()
        said = [line for piece in (*pieces, lines.end_bytes) for line in lines.feed(piece)]
        assert said == [line for line in b"".join(pieces).split(b"\n") if line.strip()]

    @pytest.mark.parametrize("beginning", [b"{", b"\n {", BYTE_ORDER_MARK + b"{"])
    def test_begin_with_an_object(self, beginning: bytes) -> None:
        assert isinstance(sse.choose_parser(beginning), JsonLines)

    @pytest.mark.parametrize("beginning", [b"data: {}", b": {}", b"", b"[1]"])
    def test_begin_with_nothing_else(self, beginning: bytes) -> None:
        assert not isinstance(sse.choose_parser(beginning), JsonLines)

    def test_an_endless_line_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1_000_000)
        lines, piece = JsonLines(), b"x" * 16_384
        with pytest.raises(EventTooLarge, match="a line is larger than 1000000 bytes"):
            deque(map(lines.feed, [piece] * 100), maxlen=0)


class TestSize:
    def test_a_large_event_may_come_in_many_pieces(self) -> None:
        piece = b"x" * 16_384
        assert events_of(b"data: ", *[piece] * 1_000, b"\n\n") == [piece * 1_000]

    def test_an_event_without_end_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1_000_000)
        with pytest.raises(EventTooLarge, match="an event is larger than 1000000 bytes"):
            events_of(*[b"x" * 16_384] * 100)
