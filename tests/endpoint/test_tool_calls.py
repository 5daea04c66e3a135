"""Tool calls from pieces, in all the ways in which servers cut and number them."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.endpoint.tool_calls import ToolCallAccumulator


def piece(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


def assembled(*pieces: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(id, name, arguments) of the calls that the pieces make."""
    calls = ToolCallAccumulator()
    for each in pieces:
        calls.add_entry(each)
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


class TestServersThatNumberAllCallsAlike:
    """Ollama, Dynamo and gateways before Gemini send index 0 for every call, with ids or names of their own."""

    def test_another_id_with_a_name_is_another_call(self) -> None:
        calls = [piece("look", '{"a": 1}', index=0, id="1"), piece("look", '{"a": 1}', index=0, id="2")]
        assert assembled(*calls) == [("1", "look", '{"a": 1}'), ("2", "look", '{"a": 1}')]

    def test_further_arguments_belong_to_the_call_that_came_last(self) -> None:
        assert assembled(
            piece("look", "", index=0, id="1"),
            piece(arguments='{"a": 1}', index=0),
            piece("find", "", index=0, id="2"),
            piece(arguments='{"b": ', index=0),
            piece(arguments="2}", index=0),
        ) == [("1", "look", '{"a": 1}'), ("2", "find", '{"b": 2}')]

    def test_further_arguments_with_an_id_belong_to_its_call(self) -> None:
        assert assembled(
            piece("look", "", index=0, id="1"),
            piece("find", "", index=0, id="2"),
            piece(arguments="{1}", index=0, id="1"),
            piece(arguments="{2}", index=0, id="2"),
        ) == [("1", "look", "{1}"), ("2", "find", "{2}")]

    def test_another_name_behind_arguments_is_another_call_under_the_same_id(self) -> None:
        calls = assembled(piece("look", "{}", index=0, id="1"), piece("find", "{}", index=0, id="1"))
        assert calls == [("1", "look", "{}"), ("call_1", "find", "{}")]

    def test_other_whole_arguments_under_the_same_name_are_another_call(self) -> None:
        calls = assembled(piece("look", '{"a": 1}', index=0), piece("look", '{"a": 2}', index=0))
        assert calls == [("call_0", "look", '{"a": 1}'), ("call_1", "look", '{"a": 2}')]


class TestCallsThatComeMoreThanOnce:
    @pytest.mark.parametrize(
        "again",
        [
            piece("look", '{"a": [1]}', index=0, id="1"),
            piece("look", '{"a":[1]}', index=0),
            piece(arguments='{"a": [1]}', index=0),
            piece(arguments={"a": [1]}, index=0, id="1"),
            piece("look", '{"a": [1]}', index=1, id="1"),
            piece("look", "", index=1, id="1"),
        ],
    )
    def test_are_one(self, again: dict[str, Any]) -> None:
        once = [piece("look", '{"a": ', index=0, id="1"), piece(arguments="[1]}", index=0)]
        assert assembled(*once, again) == [("1", "look", '{"a": [1]}')]

    def test_are_one_though_their_arguments_come_with_the_second_index(self) -> None:
        calls = assembled(piece("look", "", index=0, id="1"), piece("look", '{"a": 1}', index=1, id="1"))
        assert calls == [("1", "look", '{"a": 1}')]

    def test_are_one_where_each_piece_repeats_all_before_it(self) -> None:
        texts = ['{"a"', '{"a": 1', '{"a": 1}']
        assert assembled(
            piece("look", "", index=0, id="1"), *(piece(arguments=text, index=0) for text in texts)
        ) == [("1", "look", '{"a": 1}')]

    def test_are_two_where_one_id_has_other_arguments(self) -> None:
        calls = assembled(
            piece("look", '{"a": 1}', index=0, id="1"), piece("look", '{"a": 2}', index=1, id="1")
        )
        assert calls == [("1", "look", '{"a": 1}'), ("call_1", "look", '{"a": 2}')]

    def test_an_object_within_the_arguments_is_no_repetition(self) -> None:
        texts = ['{"code": "if (a) {}', "{}", '{"b": 1}', '"}']
        ((_, _, arguments),) = assembled(
            piece("look", "", index=0), *(piece(arguments=text, index=0) for text in texts)
        )
        assert arguments == "".join(texts)

    def test_looking_for_them_does_not_cost_the_more_the_longer_they_get(self) -> None:
        calls, started = ToolCallAccumulator(), process_time()
        calls.add_entry(piece("look", '{"code": "' + "x" * 200_000, index=0))
        for _ in range(20_000):
            calls.add_entry(piece(arguments="{}", index=0))
        assert len(calls.finish()[0]["function"]["arguments"]) == 240_010
        assert process_time() - started < 10, "reading all arguments for each piece takes minutes"


class TestShapesOfCalls:
    def test_an_index_may_be_a_string(self) -> None:
        calls = assembled(piece("b", "{}", index="1", id="2"), piece("a", "{}", index="0", id="1"))
        assert [name for _, name, _ in calls] == ["a", "b"]

    def test_name_and_arguments_may_stand_beside_the_id(self) -> None:
        calls = assembled({"index": 0, "id": "1", "name": "look", "arguments": {"a": 1}})
        assert calls == [("1", "look", '{"a": 1}')]

    def test_there_may_be_one_call_in_place_of_a_list_and_nothing_in_place_of_a_call(self) -> None:
        calls = ToolCallAccumulator()
        assert not calls.add_all({"tool_calls": [None]})
        assert calls.add_all({"tool_calls": piece("look", "{}", index=0, id="1")})
        assert [call["function"]["name"] for call in calls.finish()] == ["look"]

    def test_the_older_field_holds_one_call(self) -> None:
        calls = ToolCallAccumulator()
        for function in ({"name": "look", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ": 1}"}):
            calls.add_all({"function_call": function})
        (call,) = calls.finish()
        assert call["function"] == {"name": "look", "arguments": '{"a": 1}'}

    def test_null_arguments_are_none(self) -> None:
        assert assembled(piece("look", None, index=0, id="1")) == [("1", "look", "{}")]

    @pytest.mark.parametrize("first", ["{}", {}, " {} "])
    def test_an_empty_object_before_the_arguments_is_none_of_them(self, first: Any) -> None:
        assert assembled(piece("look", first, index=0, id="1"), piece(arguments='{"a": 1}', index=0)) == [
            ("1", "look", '{"a": 1}')
        ]

    def test_an_entry_with_nothing_in_it_is_no_call(self) -> None:
        assert assembled({"index": 0, "id": None, "function": {"name": None, "arguments": ""}}) == []
        assert assembled({"index": 0, "id": "1", "function": {}}) == []

    def test_ids_may_change_with_each_piece(self) -> None:
        pieces = [
            piece("look", "", index=0, id="1"),
            *(piece(arguments=text, index=0, id=text) for text in ("{", "}")),
        ]
        assert [(name, arguments) for _, name, arguments in assembled(*pieces)] == [("look", "{}")]
        named = [piece("look", '{"a"', index=0, id="1"), piece("look", ": 1}", index=0, id="2")]
        assert assembled(*named) == [("1", "look", '{"a": 1}')]

    def test_tokens_of_a_chat_template_are_no_part_of_a_name(self) -> None:
        assert assembled(piece("look<|channel|>commentary", "{}", index=0, id="1")) == [("1", "look", "{}")]

    def test_no_two_calls_have_one_id(self) -> None:
        calls = assembled(*(piece("look", f'{{"a": {at}}}', index=at, id="1") for at in range(3)))
        assert len({identity for identity, _, _ in calls}) == 3


class TestCallsThatAreNone:
    def unread(self, *pieces: dict[str, Any]) -> list[str]:
        calls = ToolCallAccumulator()
        for each in pieces:
            calls.add_entry(each)
        calls.finish()
        return calls.unread

    def test_are_told(self) -> None:
        assert self.unread(piece("look", '{"a": "b"c"}', index=0)) == ['look: {"a": "b"c"}']
        assert self.unread(piece("look", [1], index=0)) == ["look: [1]"]
        assert self.unread(piece(None, '{"a": 1}', index=0)) == ['a call without a name: {"a": 1}']

    def test_others_are_not(self) -> None:
        assert self.unread(piece("look", "", index=0), piece("find", {"a": 1}, index=1)) == []


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
        calls = ToolCallAccumulator()
        assert not calls.add_entry({"index": 0, "id": "1", "type": "function", "function": None})
        assert not calls.add_entry(piece("", "", index=0))
        assert calls.add_entry(piece("look", index=0))
        assert calls.add_entry(piece(arguments="{", index=0))


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
    calls, started = ToolCallAccumulator(), process_time()
    for _ in range(500_000):
        calls.add_entry({"index": 0, "function": {"arguments": "0123456789"}})
    (call,) = calls.finish()
    assert len(call["function"]["arguments"]) == 5_000_000
    assert process_time() - started < 10, "copying what is there for each piece takes minutes"
