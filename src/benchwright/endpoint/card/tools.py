"""Probes of tool calls: one call, several calls at once, and the form of calls in streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchwright.endpoint.accumulator import MALFORMED_RESPONSE_ERRORS, ResponseAccumulator
from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.endpoint.card.examination import Examination
from benchwright.endpoint.card.probe_response import ProbeResponse, ResponseContent
from benchwright.endpoint.card.prober import ProbeUnanswered

WEATHER_TOOL_NAME = "get_weather"
WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": WEATHER_TOOL_NAME,
        "description": "Return the current weather of one city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city, such as Paris."}},
            "required": ["city"],
        },
    },
}
TOOL_QUESTION = "What is the weather in Paris and in Rome? Call the tool once for each city, both now."
TWO_CALLS_TOKEN_LIMIT = 160
"""Token limit that suffices for two calls with a few words before them."""

SHORT_QUESTION, SHORT_ROOM = "What is the weather in Paris? Call the tool.", 64
"""`SHORT_QUESTION`: a question that requires one call. `SHORT_ROOM`: a token limit that suffices for that call."""

CALL_TEXT_BEGINNINGS = (
    *("<tool_call", "[TOOL_CALLS]", "<|python_tag|>", "<function=", "<|tool_call", "```tool_call"),
    f'"name": "{WEATHER_TOOL_NAME}"',
)
"""Beginnings of a tool call that the server has left in the text."""


async def probe_tool_calls(known: Examination) -> None:
    """Find out whether tool calls work: ask a question that requires two calls.

    If the response has no calls, find out whether the server or the model is the reason.
    """
    answer = await ask_tool_question(known)
    record_tool_calls(known, answer)
    if answer.is_accepted and answer.content.calls:
        _note_several(known, answer.content)
    else:
        known.record_unknown("several_tools", "no calls came")
    if known.outcome("tools") != "no_call":
        return
    required = await ask_tool_question(known, tool_choice="required")
    if required.is_accepted and required.content.calls:
        known.record_outcome("tools", "only_required")
        _note_several(known, required.content)
        return
    without = await known.ask_without_thinking(TOOL_QUESTION, 1)
    prompts = [each.content.token_count("prompt_tokens") for each in (answer, without) if each.is_accepted]
    if len(prompts) == 2 and None not in prompts and prompts[0] == prompts[1]:
        known.record_outcome("tools", "not_passed_on")


async def probe_one_tool_call(known: Examination) -> None:
    """Find out whether tool calls work, with a single request: ask a question that requires one call."""
    record_tool_calls(
        known, await known.ask_without_thinking(SHORT_QUESTION, SHORT_ROOM, tools=[WEATHER_TOOL])
    )


async def ask_tool_question(known: Examination, **fields: Any) -> ProbeResponse:
    """Send to chat the question that requires two calls, with the tool, and return the response."""
    return await known.ask_without_thinking(
        TOOL_QUESTION, TWO_CALLS_TOKEN_LIMIT, tools=[WEATHER_TOOL], **fields
    )


def record_tool_calls(known: Examination, answer: ProbeResponse) -> None:
    """Record the form of the tool calls in a response. If there are none, record that they are missing."""
    if not answer.is_accepted:
        known.record_outcome("tools", "refused", refusal=answer.refusal)
        return
    said = answer.content
    if said.calls:
        faults = ", ".join(_faults(said))
        known.record_outcome("tools", "called_oddly" if faults else "called", faults=faults)
    elif said.function_call:
        known.record_outcome("tools", "function_call")
    elif any(mark in said.all_text for mark in CALL_TEXT_BEGINNINGS):
        known.record_outcome("tools", "as_text")
    else:
        known.record_outcome("tools", "no_call")


def _note_several(known: Examination, said: ResponseContent) -> None:
    """Record whether the response holds two calls at once."""
    known.record_outcome("several_tools", "several" if len(said.calls) >= 2 else "one", calls=len(said.calls))


def _faults(said: ResponseContent) -> Iterator[str]:
    """Yield a description of each deviation from the API's reference in the calls of a response without a stream."""
    ids = [str(call.get("id") or "") for call in said.calls]
    if "" in ids:
        yield "without ids"
    elif len(set(ids)) < len(ids):
        yield "with equal ids"
    arguments = [(call.get("function") or {}).get("arguments") for call in said.calls]
    if any(isinstance(each, dict) for each in arguments):
        yield "arguments as an object"
    elif not all(map(_is_object, arguments)):
        yield "arguments that are no JSON object"
    if said.finish_reason != "tool_calls":
        yield f"finish reason {said.finish_reason}"


def _is_object(text: Any) -> bool:
    return isinstance(text, str) and read_object_arguments(text) is not None


async def probe_streamed_calls(known: Examination) -> None:
    """Find out how tool calls are streamed: repeat the question of `probe_tool_calls` as a stream."""
    outcome = known.outcome("tools")
    if outcome not in ("called", "called_oddly", "only_required"):
        raise ProbeUnanswered("no calls came")
    if not known.stream_fields:
        raise ProbeUnanswered("answers are not streamed")
    choice = {"tool_choice": "required"} if outcome == "only_required" else {}
    answer = await ask_tool_question(known, **known.stream_fields, **choice)
    if not answer.is_accepted:
        known.record_outcome("streamed_tools", "refused", refusal=answer.refusal)
    elif not answer.is_complete:
        raise ProbeUnanswered("the stream did not end in time")
    elif not answer.content.calls:
        known.record_outcome("streamed_tools", "none")
    elif not answer.events:
        known.record_outcome("streamed_tools", "whole")
    else:
        _note_streamed(known, answer)


def _note_streamed(known: Examination, answer: ProbeResponse) -> None:
    """Record how a stream tells its calls apart, and whether Benchwright parses the calls correctly."""
    pieces = answer.content.calls
    indices = [piece.get("index") for piece in pieces]
    ids = {str(piece["id"]) for piece in pieces if piece.get("id")}
    calls = len(ids) or len(set(indices))
    read = count_parsed_calls(answer)
    same = None in indices or len(set(indices)) < calls
    outcome = "misread" if read != calls else "same_index" if same else "indexed"
    known.record_outcome(
        "streamed_tools", outcome, form=_form(pieces, indices, calls), calls=calls, read=read
    )


def _form(pieces: Sequence[dict[str, Any]], indices: Sequence[Any], calls: int) -> str:
    """Return a description of the form in which calls were streamed."""
    many = f"{calls} call{'' if calls == 1 else 's'} {'whole' if len(pieces) == calls else 'in pieces'}"
    if None in indices:
        return f"{many}, without index"
    if len(set(indices)) < calls:
        return f"{many}, all at index {indices[0]}"
    return f"{many}, an index each" if calls > 1 else f"{many}, at index {indices[0]}"


def count_parsed_calls(answer: ProbeResponse) -> int:
    """Return the number of tool calls that Benchwright parses from a stream."""
    assembly = ResponseAccumulator()
    try:
        for at, event in answer.events:
            assembly.take_decoded_chunk(event, at)
    except MALFORMED_RESPONSE_ERRORS:
        return 0
    return len(assembly.make_reply(None).tool_calls)
