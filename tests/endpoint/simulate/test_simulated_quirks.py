"""Quirks of servers as faults of the simulated endpoint: each is read as if it were not there, or is flagged."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any

import pytest
from tests.endpoint.dialects.clients import events_in

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.dialects import MESSAGES, AnswerTranslator
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.flags import FLAG_NOTES, flag_kind
from benchwright.endpoint.json_reading import read_json
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import RequestPurpose
from benchwright.endpoint.simulate import Faults, ScriptedCall, Settings, SimulatedEndpoint, keyed_answers
from benchwright.endpoint.simulate.quirks import QUIRKS, quirky_stream
from benchwright.endpoint.simulate.quirks.event_encodings import DONE_MARKER
from benchwright.endpoint.sse import EventStream
from benchwright.errors import ProviderError, UserError
from benchwright.records import Target

TEXT = "The answer 😀 is forty two."
THOUGHT = "Six times seven, so."
CALLS = ([ScriptedCall("look", {"at": "ü 1"}), ScriptedCall("find", {"q": "two words"})],)
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("look", "find")]

FLAGGED = {
    "broken_arguments": "call_unread",
    "call_as_text": "call_as_text",
    "call_as_thinking": "call_as_text",
    "missing_call": "call_missing",
    "repeated_answer": "answer_repeated",
    "cumulative_answer": "answer_repeated",
    "lone_half": "broken_character",
    "end_token": "template_tokens",
    "late_thinking": "late_thinking",
    "channel_tokens": "template_tokens",
    "answer_as_thinking": "no_answer",
    "thinking_in_total": "thinking_by_total",
    "one_text_twice": "answer_as_thinking",
    "unknown_characters": "broken_character",
    "unknown_finish_reason": "unknown_end",
}
"""Quirks after which an answer is flagged, and by which kind."""

LOST = frozenset(
    {
        "broken_arguments",
        "call_as_text",
        "call_as_thinking",
        "missing_call",
        "lone_half",
        "unknown_characters",
        "unknown_finish_reason",
        "answer_as_thinking",
    }
)
"""Quirks that take a part of the answer away, so that nobody can read it as it was."""

OF_STREAMS = frozenset(
    name for name, quirk in QUIRKS.items() if quirk.change_body is QUIRKS["crlf"].change_body
)
DENYING = frozenset(name for name, quirk in QUIRKS.items() if quirk.ends_in_error)
WHOLE = QUIRKS.keys() - DENYING
"""Quirks of answers that are not errors."""
OF_CALLS = frozenset(
    {"broken_arguments", "call_as_text", "call_as_thinking", "missing_call", "function_call"}
)


def settings(quirk: str | None, *, calls: bool) -> Settings:
    return Settings(
        answers=keyed_answers({"seven": TEXT}),
        reasoning="" if quirk == "one_text_twice" else THOUGHT,
        tool_calls=CALLS if calls else (),
        faults=Faults(quirks={} if quirk is None else {quirk: 1.0}),
    )


async def ask(quirk: str | None, *, stream: bool, calls: bool = False) -> Reply:
    """The reply of an endpoint with a quirk, to a question with or without tools."""

    async def begin() -> RequestPurpose:
        return RequestPurpose(offered_tools=("look", "find") if calls else None)

    fields: dict[str, Any] = {"messages": [{"role": "user", "content": "seven"}]}
    async with SimulatedEndpoint(settings(quirk, calls=calls)) as endpoint:
        target = Target("primary", "m", endpoint.base_url)
        async with EndpointClient(target, stream=stream, retry=RetryPolicy(retries=0)) as client:
            reply = await client.ask(
                "/chat/completions", {**fields, "tools": TOOLS if calls else None}, begin
            )
        if quirk is not None:
            assert endpoint.stats.faults[quirk] == endpoint.stats.answered == 1
    return reply


def notes(reply: Reply) -> set[str]:
    return {flag_kind(flag) for flag in reply.record.flags} & FLAG_NOTES.keys()


def calls_of(reply: Reply) -> list[tuple[str, Any]]:
    return [(call["function"]["name"], read_json(call["function"]["arguments"])) for call in reply.tool_calls]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("quirk", WHOLE - OF_CALLS)
async def test_an_answer_is_read_as_without_it(quirk: str, stream: bool) -> None:
    plain, reply = await ask(None, stream=stream), await ask(quirk, stream=stream)
    if quirk not in LOST:
        assert (reply.text, reply.finish_reason) == (TEXT, plain.finish_reason)
        assert reply.reasoning.startswith("" if quirk == "one_text_twice" else THOUGHT)
    if stream or quirk not in OF_STREAMS:
        assert notes(reply) == ({FLAGGED[quirk]} if quirk in FLAGGED else set())


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("quirk", WHOLE)
async def test_calls_are_read_as_without_it(quirk: str, stream: bool) -> None:
    plain, reply = await ask(None, stream=stream, calls=True), await ask(quirk, stream=stream, calls=True)
    if quirk == "function_call":
        assert calls_of(reply) == calls_of(plain)[:1]
    elif quirk not in LOST or (not stream and quirk in OF_STREAMS):
        assert calls_of(reply) == calls_of(plain)
        assert len({call["id"] for call in reply.tool_calls}) == 2
        assert reply.finish_reason == "tool_calls"
    if quirk in OF_CALLS & FLAGGED.keys() and (stream or quirk not in OF_STREAMS):
        assert FLAGGED[quirk] in notes(reply)


@pytest.mark.parametrize(
    "quirk", [name for name in QUIRKS if name not in LOST | DENYING | {"function_call", "json_lines"}]
)
async def test_calls_are_translated_as_without_it(quirk: str) -> None:
    """What programs get that ask through the relay in another dialect."""
    plain, odd = [await translated(name) for name in (None, quirk)]
    assert odd == plain


async def translated(quirk: str | None) -> list[tuple[str, Any]]:
    """The calls that a program is told, which asked in Messages."""
    async with SimulatedEndpoint(settings(None, calls=True)) as endpoint:
        raw = await raw_stream(endpoint.base_url)
    pieces = [piece + b"\n\n" for piece in raw.split(b"\n\n") if piece]
    if quirk is not None:
        opening, said = quirky_stream(QUIRKS[quirk], pieces[0], pieces[1:])
        raw = b"".join([opening, *said])
    translation = AnswerTranslator(MESSAGES, {"model": "m"})
    told = translation.begin()
    for data in EventStream().feed(raw):
        for line in data.split(b"\n"):
            if line and not line.startswith(DONE_MARKER):
                told += translation.translate_chunk(read_json(line))
    blocks: dict[int, tuple[str, str]] = {}
    for event in events_in(told + translation.end(announced=True)):
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            blocks[event["index"]] = (event["content_block"]["name"], "")
        elif event["type"] == "content_block_delta" and event["index"] in blocks:
            name, so_far = blocks[event["index"]]
            blocks[event["index"]] = (name, so_far + event["delta"]["partial_json"])
    return [(name, read_json(arguments)) for name, arguments in blocks.values()]


async def raw_stream(base_url: str) -> bytes:
    """The bytes of a stream with calls."""
    fields = {"messages": [{"role": "user", "content": "seven"}], "tools": TOOLS, "stream": True}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{base_url}/chat/completions", json.dumps(fields).encode(), headers)

    def read() -> bytes:
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())

    return await asyncio.to_thread(read)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("quirk", DENYING)
async def test_an_error_behind_the_status_200_is_a_failure_of_the_provider(quirk: str, stream: bool) -> None:
    with pytest.raises(ProviderError, match="The engine is overloaded"):
        await ask(quirk, stream=stream)


async def test_tokens_are_counted_though_zeros_follow() -> None:
    plain, *odd = [await ask(name, stream=True) for name in (None, "zeros_last", "split_usage")]
    assert [reply.usage for reply in odd] == [plain.usage] * 2


async def test_an_answer_that_was_cut_off_stays_so_though_stop_follows() -> None:
    async with (
        SimulatedEndpoint(settings("stop_last", calls=False)) as endpoint,
        EndpointClient(Target("primary", "m", endpoint.base_url), stream=True) as client,
    ):
        fields = {"messages": [{"role": "user", "content": "seven"}], "max_tokens": 2}
        assert (await client.ask("/chat/completions", fields)).finish_reason == "length"


async def test_only_chat_completions_have_it() -> None:
    async with (
        SimulatedEndpoint(Settings(faults=Faults(quirks={"no_blank": 1.0}))) as endpoint,
        EndpointClient(Target("primary", "m", endpoint.base_url)) as client,
    ):
        reply = await client.ask("/completions", {"prompt": "seven"})
    assert reply.text == "seven"


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match=r"There is no fault 'same_indx'\. Did you mean 'same_index'\?"):
        Faults(quirks={"same_indx": 1.0})


def test_every_kind_of_note_has_words() -> None:
    assert all(note.description and not note.description.endswith(".") for note in FLAG_NOTES.values())
    assert set(FLAGGED.values()) <= FLAG_NOTES.keys()
