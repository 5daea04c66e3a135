"""One turn of a model is one message, in whichever order an agent sends the turn back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.endpoint.dialects.clients import events_in, read_gemini, read_messages, read_responses
from tests.endpoint.dialects.orders import check_anthropic, check_gemini, check_openai

from benchwright.endpoint.dialects import GEMINI, MESSAGES, RESPONSES, AnswerTranslator, Dialect
from benchwright.endpoint.dialects.losses import TranslationLosses

Json = dict[str, Any]

TEXTS = st.sampled_from(["Look:", "\n", " ", "Done.", "I go on."])
SAID = st.tuples(st.just("text"), TEXTS)
THOUGHT = st.tuples(st.just("thought"), st.just("Hm."))
CALLED = st.tuples(st.just("call"), st.sampled_from(["bash", "read"]))
NOTES = st.lists(st.sampled_from(["user", "developer", "commentary"]), max_size=2)

few = settings(max_examples=80, deadline=None)
dialects = pytest.mark.parametrize("dialect", [RESPONSES, MESSAGES, GEMINI], ids=lambda one: one.name)


class Turn(NamedTuple):
    """What a model said and called in one turn; `notes` stand around its results, which come in any order."""

    pieces: list[tuple[str, str]]
    notes: list[str]
    order: int
    between: bool

    def calls(self, number: int) -> list[tuple[str, str]]:
        """(id, name) of each call."""
        names = [name for kind, name in self.pieces if kind == "call"]
        return [(f"call_{number}_{place}", name) for place, name in enumerate(names)]

    def results(self, number: int) -> list[tuple[str, str]]:
        """The calls in the order of their results."""
        calls = self.calls(number)
        start = self.order % len(calls) if calls else 0
        return [*calls[start:], *calls[:start]]


TURNS = st.lists(
    st.builds(
        Turn,
        st.lists(st.one_of(SAID, THOUGHT, CALLED), min_size=1, max_size=6),
        NOTES,
        st.integers(0, 5),
        st.booleans(),
    ),
    max_size=4,
)


def in_responses(turns: list[Turn]) -> Json:
    items: list[Json] = [{"role": "user", "content": "Begin."}]
    for number, turn in enumerate(turns):
        calls = iter(turn.calls(number))
        for kind, text in turn.pieces:
            if kind == "call":
                identity, name = next(calls)
                call = {"type": "function_call", "call_id": identity, "name": name, "arguments": "{}"}
                items.append(call)
            elif kind == "thought":
                items.append({"type": "reasoning", "content": [{"type": "reasoning_text", "text": text}]})
            else:
                items.append(_note("commentary", text))
        results = [
            {"type": "function_call_output", "call_id": identity, "output": "ok"}
            for identity, _ in turn.results(number)
        ]
        place = 1 if turn.between else 0
        items += [*results[:place], *map(_note, turn.notes), *results[place:], _note("user", "Go on.")]
    return {"model": "m", "input": items}


def _note(role: str, text: str = "By the way.") -> Json:
    kind = "output_text" if role == "commentary" else "input_text"
    spoken = {"commentary": "assistant"}.get(role, role)
    return {"type": "message", "role": spoken, "content": [{"type": kind, "text": text}]}


def in_messages(turns: list[Turn]) -> Json:
    """As Claude Code keeps it: each block of an answer may be a message of its own."""
    messages: list[Json] = [{"role": "user", "content": "Begin."}]
    for number, turn in enumerate(turns):
        calls = iter(turn.calls(number))
        for kind, text in turn.pieces:
            block: Json = {"type": "text", "text": text}
            if kind == "call":
                identity, name = next(calls)
                block = {"type": "tool_use", "id": identity, "name": name, "input": {}}
            elif kind == "thought":
                block = {"type": "thinking", "thinking": text, "signature": ""}
            messages.append({"role": "assistant", "content": [block]})
        blocks: list[Json] = [
            {"type": "tool_result", "tool_use_id": identity, "content": "ok"}
            for identity, _ in turn.results(number)
        ]
        notes = [{"type": "text", "text": "By the way."} for _ in turn.notes]
        place = 1 if turn.between else 0
        said = [*blocks[:place], *notes, *blocks[place:]]
        messages += [{"role": "user", "content": [block]} for block in said]
        messages.append({"role": "user", "content": "Go on."})
    return {"model": "m", "max_tokens": 9, "messages": messages}


def in_gemini(turns: list[Turn]) -> Json:
    contents: list[Json] = [{"role": "user", "parts": [{"text": "Begin."}]}]
    for number, turn in enumerate(turns):
        calls = iter(turn.calls(number))
        for kind, text in turn.pieces:
            part: Json = {"text": text, "thought": True} if kind == "thought" else {"text": text}
            if kind == "call":
                identity, name = next(calls)
                part = {"functionCall": {"id": identity, "name": name, "args": {}}}
            contents.append({"role": "model", "parts": [part]})
        parts = [
            {"functionResponse": {"id": identity, "name": name, "response": {"output": "ok"}}}
            for identity, name in turn.results(number)
        ]
        notes = [{"text": "By the way."} for _ in turn.notes]
        place = 1 if turn.between else 0
        said = [*parts[:place], *notes, *parts[place:]]
        contents += [{"role": "user", "parts": [one]} for one in said]
        contents.append({"role": "user", "parts": [{"text": "Go on."}]})
    return {"model": "m", "contents": contents}


ASK: dict[str, Callable[[list[Turn]], Json]] = {
    "responses": in_responses,
    "messages": in_messages,
    "gemini": in_gemini,
}


@dialects
class TestRequest:
    @few
    @given(turns=TURNS)
    def test_is_in_the_order_that_strict_servers_take(self, dialect: Dialect, turns: list[Turn]) -> None:
        check_openai(dialect.chat_request(ASK[dialect.name](turns), TranslationLosses())["messages"])

    @few
    @given(turns=TURNS)
    def test_has_all_calls_of_a_turn_in_one_message(self, dialect: Dialect, turns: list[Turn]) -> None:
        messages = dialect.chat_request(ASK[dialect.name](turns), TranslationLosses())["messages"]
        told = [[call["id"] for call in message.get("tool_calls", ())] for message in messages]
        expected = [[identity for identity, _ in turn.calls(number)] for number, turn in enumerate(turns)]
        assert [ids for ids in told if ids] == [ids for ids in expected if ids]

    @few
    @given(turns=TURNS)
    def test_loses_no_text_and_no_note(self, dialect: Dialect, turns: list[Turn]) -> None:
        messages = dialect.chat_request(ASK[dialect.name](turns), TranslationLosses())["messages"]
        told = json.dumps(messages)
        for turn in turns:
            assert all(text in told for kind, text in turn.pieces if kind == "text" and text.strip())
        assert told.count("By the way.") == sum(len(turn.notes) for turn in turns)
        assert told.count('"content": "ok"') == sum(
            kind == "call" for turn in turns for kind, _ in turn.pieces
        )


class TestBrokenConversation:
    """A conversation that was cut: by a user who interrupts, or by an agent that drops its beginning."""

    CALL: Json = {"type": "function_call", "call_id": "a", "name": "bash", "arguments": "{}"}

    def test_has_a_result_for_a_call_that_was_interrupted(self) -> None:
        items = [self.CALL, _note("user", "Stop."), _note("commentary", "Yes.")]
        messages = RESPONSES.chat_request({"input": items}, TranslationLosses())["messages"]
        check_openai(messages)
        assert [message["role"] for message in messages] == ["assistant", "tool", "user", "assistant"]
        assert "interrupted" in messages[1]["content"]

    def test_tells_a_result_without_a_call_as_a_message_of_the_user(self) -> None:
        items = [{"type": "function_call_output", "call_id": "gone", "output": "a.txt"}, self.CALL]
        messages = RESPONSES.chat_request({"input": items}, TranslationLosses())["messages"]
        check_openai(messages)
        assert messages[0]["role"] == "user"
        assert "a.txt" in messages[0]["content"]

    def test_has_all_results_of_a_call_in_one(self) -> None:
        """Codex sends a further result for each `notify` of a script."""
        results = [
            {"type": "function_call_output", "call_id": "a", "output": text} for text in ("half way", "done")
        ]
        messages = RESPONSES.chat_request({"input": [self.CALL, *results]}, TranslationLosses())["messages"]
        check_openai(messages)
        assert messages[1]["content"] == "half way\n\ndone"

    def test_may_use_the_id_of_a_call_again(self) -> None:
        result = {"type": "function_call_output", "call_id": "a", "output": "ok"}
        items = [self.CALL, result, self.CALL, result, self.CALL]
        messages = RESPONSES.chat_request({"input": items}, TranslationLosses())["messages"]
        check_openai(messages)
        assert [message["role"] for message in messages] == ["assistant", "tool"] * 3


def test_blank_text_behind_a_call_is_dropped() -> None:
    blocks = [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}, {"type": "text", "text": "\n"}]
    answer, _ = MESSAGES.chat_request(
        {"messages": [{"role": "assistant", "content": blocks}]}, TranslationLosses()
    )["messages"]
    assert answer["content"] is None


def chunks_of(pieces: list[tuple[str, str]], number: int) -> list[Json]:
    """A stream of a server that says and calls in this order."""
    deltas: list[Json] = []
    calls = 0
    for kind, text in pieces:
        if kind == "call":
            function = {"name": text, "arguments": "{}"}
            deltas.append(
                {"tool_calls": [{"index": calls, "id": f"c{number}_{calls}", "function": function}]}
            )
            calls += 1
        else:
            deltas.append({"reasoning_content" if kind == "thought" else "content": text})
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [*({"choices": [{"index": 0, "delta": delta}]} for delta in deltas), ended]


def answered(dialect: Dialect, asked: Json, pieces: list[tuple[str, str]], number: int) -> bytes:
    translation = AnswerTranslator(dialect, asked, "1")
    said = [translation.begin(), *map(translation.translate_chunk, chunks_of(pieces, number))]
    return b"".join([*said, translation.end(announced=True)])


PIECES = st.lists(st.lists(st.one_of(SAID, THOUGHT, CALLED), min_size=1, max_size=5), max_size=3)


class TestAnswer:
    """What an agent keeps of the answers is in the order of its own dialect, and comes back in that of the server."""

    @few
    @given(turns=PIECES)
    def test_makes_conversations_that_anthropic_takes(self, turns: list[list[tuple[str, str]]]) -> None:
        messages: list[Json] = [{"role": "user", "content": [{"type": "text", "text": "Begin."}]}]
        for number, pieces in enumerate(turns):
            answer = read_messages(events_in(answered(MESSAGES, {}, pieces, number)))
            calls = [block for block in answer["content"] if block["type"] == "tool_use"]
            assert len(calls) == sum(kind == "call" for kind, _ in pieces)
            results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "ok"} for call in calls]
            messages.append({"role": "assistant", "content": answer["content"]})
            messages.append({"role": "user", "content": [*results, {"type": "text", "text": "Go on."}]})
        check_anthropic(messages)
        check_openai(MESSAGES.chat_request({"messages": messages}, TranslationLosses())["messages"])

    @few
    @given(turns=PIECES)
    def test_makes_conversations_that_google_takes(self, turns: list[list[tuple[str, str]]]) -> None:
        contents: list[Json] = [{"role": "user", "parts": [{"text": "Begin."}]}]
        for number, pieces in enumerate(turns):
            events = events_in(answered(GEMINI, {"alt": "sse"}, pieces, number))
            answer = read_gemini(events)["candidates"][0]["content"]
            calls = [part["functionCall"] for part in answer["parts"] if "functionCall" in part]
            assert len(calls) == sum(kind == "call" for kind, _ in pieces)
            results: list[Json] = [
                {"functionResponse": {"name": call["name"], "response": {"output": "ok"}}} for call in calls
            ]
            contents += [answer, {"role": "user", "parts": results or [{"text": "Go on."}]}]
        check_gemini(contents)
        check_openai(GEMINI.chat_request({"contents": contents}, TranslationLosses())["messages"])

    @few
    @given(turns=PIECES)
    def test_comes_back_from_clients_of_responses(self, turns: list[list[tuple[str, str]]]) -> None:
        items: list[Json] = [{"role": "user", "content": "Begin."}]
        for number, pieces in enumerate(turns):
            answer = read_responses(events_in(answered(RESPONSES, {}, pieces, number)))["output"]
            calls = [item["call_id"] for item in answer if item["type"] == "function_call"]
            assert len(calls) == sum(kind == "call" for kind, _ in pieces)
            items += answer
            items += [{"type": "function_call_output", "call_id": one, "output": "ok"} for one in calls]
            items.append({"role": "user", "content": "Go on."})
        check_openai(RESPONSES.chat_request({"input": items}, TranslationLosses())["messages"])

    @pytest.mark.parametrize("stream", [False, True])
    def test_brings_reasoning_back_from_agents_that_send_none(self, stream: bool) -> None:
        """Codex and Gemini CLI send opaque fields back, and no readable reasoning; Kimi and DeepSeek demand it."""
        pieces = [("thought", "Hm."), ("call", "bash")]
        call = {"index": 0, "id": "a", "function": {"name": "bash", "arguments": "{}"}}
        whole = {"choices": [{"message": {"reasoning_content": "Hm.", "tool_calls": [call]}}]}
        codex: Json = {"model": "m", "include": ["reasoning.encrypted_content"]}
        if stream:
            items = read_responses(events_in(answered(RESPONSES, codex, pieces, 0)))["output"]
            content = read_gemini(events_in(answered(GEMINI, {"alt": "sse"}, pieces, 0)))["candidates"][0]
        else:
            items = json.loads(AnswerTranslator(RESPONSES, codex, "1").translate_body(whole))["output"]
            content = json.loads(AnswerTranslator(GEMINI, {}, "1").translate_body(whole))["candidates"][0]
        kept = [{name: value for name, value in item.items() if name != "content"} for item in items]
        (of_codex, _) = RESPONSES.chat_request({"input": kept}, TranslationLosses())["messages"]
        (of_gemini, _) = GEMINI.chat_request({"contents": [content["content"]]}, TranslationLosses())[
            "messages"
        ]
        assert of_codex["reasoning_content"] == of_gemini["reasoning_content"] == "Hm."

    @dialects
    def test_drops_blank_text_behind_a_call(self, dialect: Dialect) -> None:
        pieces = [("call", "bash"), ("text", "\n")]
        asked = {"alt": "sse", "model": "m"}
        stream = answered(dialect, asked, pieces, 0)
        assert b'"\\n"' not in stream
