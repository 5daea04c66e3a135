"""Tool calls from pieces, in all the ways in which servers cut and number them."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchwright.endpoint.tool_calls import ToolCalls


def piece(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


def assembled(*pieces: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(id, name, arguments) of the calls that the pieces make."""
    calls = ToolCalls()
    for each in pieces:
        calls.add(each)
    finished = calls.finish()
    assert all(call["type"] == "function" for call in finished)
    return [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in finished]


class TestWhatBelongsTogether:
    def test_pieces_with_the_same_index(self) -> None:
        assert assembled(
            piece("a", "", index=0, id="1"),
            piece("b", "", index=1, id="2"),
            piece(arguments="{1", index=0),
            piece(arguments="{2", index=1),
            piece(arguments="}", index=0),
            piece(arguments="}", index=1),
        ) == [("1", "a", "{1}"), ("2", "b", "{2}")]

    def test_pieces_with_the_same_index_whatever_their_id(self) -> None:
        assert assembled(piece("a", "{", index=0, id="1"), piece(arguments="}", index=0, id="2")) == [
            ("2", "a", "{}")
        ]

    def test_calls_are_in_the_order_of_their_index(self) -> None:
        calls = assembled(piece("b", "{}", index=1, id="2"), piece("a", "{}", index=0, id="1"))
        assert [name for _, name, _ in calls] == ["a", "b"]

    def test_without_an_index_pieces_with_the_same_id(self) -> None:
        assert assembled(piece("a", "{", id="1"), piece(arguments="}", id="1"), piece("b", "{}", id="2")) == [
            ("1", "a", "{}"),
            ("2", "b", "{}"),
        ]

    def test_without_an_index_a_piece_without_id_goes_on_with_the_last_call(self) -> None:
        assert assembled(piece("a", "", id="1"), piece(arguments="{"), piece(arguments="}")) == [
            ("1", "a", "{}")
        ]

    def test_without_both_a_name_after_arguments_begins_the_next_call(self) -> None:
        assert assembled(piece("a", "{}"), piece("a", '{"x": 1}'), piece("b", "{"), piece(arguments="}")) == [
            ("call_0", "a", "{}"),
            ("call_1", "a", '{"x": 1}'),
            ("call_2", "b", "{}"),
        ]


class TestNamesAndArguments:
    def test_a_name_that_is_sent_again_counts_once(self) -> None:
        assert assembled(piece("look", "{", index=0, id="1"), piece("look", "}", index=0)) == [
            ("1", "look", "{}")
        ]

    def test_a_name_may_come_in_pieces(self) -> None:
        assert assembled(piece("lo", index=0, id="1"), piece("ok", index=0)) == [("1", "look", "{}")]

    def test_arguments_may_come_as_an_object(self) -> None:
        ((_, _, arguments),) = assembled(piece("look", {"at": "ü", "n": 1}, id="1"))
        assert json.loads(arguments) == {"at": "ü", "n": 1}

    def test_missing_arguments_are_an_empty_object(self) -> None:
        assert assembled({"id": "1", "function": {"name": "look"}}) == [("1", "look", "{}")]

    def test_a_missing_id_is_made_up(self) -> None:
        assert assembled(piece("a", "{}", index=0), piece("b", "{}", index=1)) == [
            ("call_0", "a", "{}"),
            ("call_1", "b", "{}"),
        ]

    def test_a_piece_with_neither_is_no_token(self) -> None:
        calls = ToolCalls()
        assert not calls.add({"index": 0, "id": "1", "type": "function", "function": None})
        assert not calls.add(piece("", "", index=0))
        assert calls.add(piece("look", index=0))
        assert calls.add(piece(arguments="{", index=0))


@given(
    calls=st.lists(
        st.tuples(st.text("abc", min_size=1, max_size=4), st.text(min_size=1, max_size=9)), max_size=3
    ),
    size=st.integers(1, 4),
)
def test_fragments_of_any_size_make_the_same_calls(calls: list[tuple[str, str]], size: int) -> None:
    pieces = []
    for index, (name, arguments) in enumerate(calls):
        pieces.append(piece(name, "", index=index, id=f"c{index}"))
        cuts = range(0, len(arguments), size)
        pieces += [piece(arguments=arguments[at : at + size], index=index) for at in cuts]
    assert assembled(*pieces) == [(f"c{at}", name, arguments) for at, (name, arguments) in enumerate(calls)]


def test_many_pieces_cost_no_more_each_than_few() -> None:
    calls, started = ToolCalls(), process_time()
    for _ in range(500_000):
        calls.add({"index": 0, "function": {"arguments": "0123456789"}})
    (call,) = calls.finish()
    assert len(call["function"]["arguments"]) == 5_000_000
    assert process_time() - started < 10, "copying what is there for each piece takes minutes"
