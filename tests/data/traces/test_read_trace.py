"""Traces of every format that is known: which requests they hold, when these come, and what is wrong with a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.data.traces.blocks import suggest_block_size
from benchwright.data.traces.records import Trace
from benchwright.data.traces.trace_reader import read_trace
from benchwright.errors import UserError


def written(directory: Path, *rows: Any, name: str = "trace") -> Path:
    """A file with these lines; what is not text is JSON."""
    path = directory / name
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def times(trace: Trace) -> list[float | None]:
    return [one.start_seconds for one in trace.conversations]


def lengths(trace: Trace) -> list[tuple[int | None, int | None]]:
    return [(request.input_tokens, request.output_tokens) for request in trace.requests]


class TestMooncake:
    ROW = {"timestamp": 3000, "input_length": 1030, "output_length": 5, "hash_ids": [2**40, 1, 2]}

    def test_its_times_are_milliseconds_and_its_blocks_have_512_tokens(self, tmp_path: Path) -> None:
        trace = read_trace(written(tmp_path, {**self.ROW, "timestamp": 500}, self.ROW))
        assert (trace.format, times(trace), lengths(trace)) == ("Mooncake", [0, 2.5], [(1030, 5)] * 2)
        request = next(trace.requests)
        assert (list(request.blocks), request.block_size) == ([2**40, 1, 2], 512)

    def test_a_row_whose_ids_do_not_fit_names_the_block_size_that_would(self, tmp_path: Path) -> None:
        path = written(tmp_path, self.ROW, {**self.ROW, "input_length": 40})
        with pytest.raises(UserError, match=r"line 2: 3 blocks of 512 .* 40 tokens: --block-size 16 would"):
            read_trace(path)
        assert lengths(read_trace(written(tmp_path, {**self.ROW, "input_length": 40}), block_size=16))

    def test_rows_of_a_session_are_turns_with_their_delays(self, tmp_path: Path) -> None:
        turns = [
            {"session_id": "s", "timestamp": 0, "text_input": "a", "output_length": 2},
            {"session_id": "s", "delay": 1500, "text_input": "b", "output_length": 3},
        ]
        (conversation,) = read_trace(written(tmp_path, *turns)).conversations
        assert [(one.previous_request, one.think_seconds) for one in conversation.requests] == [
            (None, 0),
            (0, 1.5),
        ]
        assert conversation.requests[1].messages == [{"role": "user", "content": "b"}]


class TestWeka:
    @staticmethod
    def request(t: float, think: float, tokens: int = 130) -> dict[str, Any]:
        ids = list(range(tokens // 64))
        return {
            "t": t, "type": "s", "in": tokens, "out": 9, "hash_ids": ids, "api_time": 2.0, "think_time": think
        }  # fmt: skip

    def conversation(self, *entries: dict[str, Any], scope: str = "local") -> dict[str, Any]:
        return {"id": "c1", "block_size": 64, "hash_id_scope": scope, "requests": list(entries)}

    def test_a_turn_comes_its_think_time_after_the_answer_before(self, tmp_path: Path) -> None:
        trace = read_trace(
            written(tmp_path, self.conversation(self.request(0, 0), self.request(7, 5), self.request(9, 0)))
        )
        assert (trace.format, trace.has_start_times) == ("Weka", False)
        (conversation,) = trace.conversations
        assert [(one.previous_request, one.think_seconds) for one in conversation.requests] == [
            (None, 0),
            (0, 5),
            (1, 0),
        ]

    @pytest.mark.parametrize("start", [0.0, 6.0])
    def test_a_sub_agent_runs_beside_its_parent_on_either_clock(self, tmp_path: Path, start: float) -> None:
        nested = [self.request(start, 0), self.request(start + 4, 2)]
        agent = {"t": 6.0, "type": "subagent", "requests": nested}
        path = written(tmp_path, self.conversation(self.request(0, 0), agent, self.request(12, 10)))
        (conversation,) = read_trace(path).conversations
        assert [(one.previous_request, one.think_seconds) for one in conversation.requests] == [
            *[(None, 0), (0, 4), (1, 2), (0, 10)]
        ]
        assert conversation.max_requests_in_flight == 2

    def test_ids_of_a_local_scope_belong_to_their_conversation(self, tmp_path: Path) -> None:
        for scope, found in (("local", "c1"), ("global", "")):
            trace = read_trace(written(tmp_path, self.conversation(self.request(0, 0), scope=scope)))
            assert {one.scope for one in trace.requests} == {found}

    def test_a_document_of_many_lines_and_a_folder_of_them_are_read_too(self, tmp_path: Path) -> None:
        document = json.dumps(self.conversation(self.request(0, 0)), indent=1)
        for name in ("one.json", "two.json"):
            (tmp_path / name).write_text(document)
        assert len(read_trace(tmp_path / "one.json").conversations) == 1
        assert len(read_trace(tmp_path).conversations) == 2


def test_bailian_s_turns_follow_their_parents_if_these_are_there(tmp_path: Path) -> None:
    def row(chat: int, parent: int, at: float) -> dict[str, Any]:
        return {
            "chat_id": chat, "parent_chat_id": parent, "timestamp": at, "input_length": 20,
            "output_length": 3, "type": "text", "turn": 1, "hash_ids": [1, chat + 10],
        }  # fmt: skip

    trace = read_trace(written(tmp_path, row(1, -1, 10), row(2, -1, 11), row(3, 1, 14), row(4, 99, 15)))
    assert (trace.format, times(trace)) == ("Bailian", [0, 1, 5])
    first, _, orphan = trace.conversations
    assert [(one.previous_request, one.earliest_seconds, one.block_size) for one in first.requests] == [
        (None, 0, 16),
        (0, 4, 16),
    ]
    assert orphan.requests[0].previous_request is None


def test_azure_s_times_have_seven_decimals(tmp_path: Path) -> None:
    rows = ["TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 23:59:59.9000000,4808,10"]
    trace = read_trace(written(tmp_path, *rows, "2023-11-17 00:00:00.0250001,110,27"))
    assert (trace.format, lengths(trace)) == ("Azure", [(4808, 10), (110, 27)])
    assert times(trace) == pytest.approx([0, 0.1250001], abs=1e-6)


def test_burstgpt_s_failures_are_left_out_and_counted(tmp_path: Path) -> None:
    head = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
    rows = ["5,ChatGPT,472,18,490,Conversation log", "5,GPT-4,9,0,9,API log", "45,ChatGPT,10,2,12,API log"]
    trace = read_trace(written(tmp_path, head, *rows))
    assert (trace.format, times(trace), trace.failed_requests) == ("BurstGPT", [0, 40], 1)
    assert lengths(trace) == [(472, 18), (10, 2)]


class TestPlain:
    def test_times_alone_are_one_a_line(self, tmp_path: Path) -> None:
        trace = read_trace(written(tmp_path, "# seconds", "10.5", "", "10.5", "12"))
        assert (times(trace), trace.has_prompts) == ([0, 0, 1.5], False)

    def test_json_lines_tell_times_lengths_prompts_and_conversations(self, tmp_path: Path) -> None:
        rows = [
            {"at": 2, "input_tokens": 20, "output_tokens": 3, "blocks": [7]},
            {"at": 1, "conversation": "c", "prompt": "Hello"},
            {"conversation": "c", "think": 0.5, "messages": [{"role": "user", "content": "More"}]},
        ]
        trace = read_trace(written(tmp_path, *rows))
        spoken, alone = trace.conversations
        assert times(trace) == [0, 1]
        assert [(one.previous_request, one.think_seconds) for one in spoken.requests] == [(None, 0), (0, 0.5)]
        assert (list(alone.requests[0].blocks), alone.requests[0].block_size) == ([7], 16)


def test_a_limit_takes_the_first_requests_whatever_conversations_they_are_in(tmp_path: Path) -> None:
    rows = [{"at": place, "conversation": place // 3, "input_tokens": 8} for place in range(9)]
    trace = read_trace(written(tmp_path, *rows), limit=4)
    assert [len(one.requests) for one in trace.conversations] == [3, 1]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["1", "soon"], "line 2: 'soon' is not a time"),
        (["2", "1"], "line 2: 1 is not a time that comes after"),
        ([], "no arrivals"),
        (["# nothing"], "no arrivals"),
        ([{"spans": []}], "line 1: unknown trace format: .* Mooncake, Weka"),
        (["name,value", "a,1"], "unknown trace format"),
        ([{"at": 1, "input_tokens": -3}], "line 1: input_tokens is -3"),
        ([{"at": 1, "tokens": 3}], "line 1: .*`tokens`"),
        ([{"at": 1, "input_tokens": 16, "blocks": [-1]}], "line 1: ids of blocks are whole numbers"),
        ([{"timestamp": 1, "input_length": "x"}], "line 1: Expected `int"),
        (["TIMESTAMP,ContextTokens,GeneratedTokens", "yesterday,1,2"], "line 2: it does not hold TIMESTAMP"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, rows: list[Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        read_trace(written(tmp_path, *rows))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Cannot read the trace"):
        read_trace(tmp_path / "nothing")


@given(st.integers(1, 300_000), st.integers(1, 2000))
def test_a_block_size_that_is_said_to_fit_does(tokens: int, size: int) -> None:
    blocks = -(-tokens // size)
    found = suggest_block_size(tokens, blocks)
    assert found is not None
    assert -(-tokens // found) == blocks
