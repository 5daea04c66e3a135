"""Reads traces of any known format. The format is recognised by the content."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from benchwright.data.traces import bailian, mooncake, simple_traces, table_traces, weka
from benchwright.data.traces.decoding import read_lines
from benchwright.data.traces.records import Conversation, Trace, TracedRequest, TraceLine
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS

TraceReader = Callable[[Iterable[TraceLine], int | None], Iterator[Conversation]]

TRACE_READERS: dict[str, TraceReader] = {
    "Mooncake": mooncake.read_conversations,
    "Weka": weka.read_conversations,
    "Bailian": bailian.read_conversations,
    "Azure": table_traces.read_azure_conversations,
    "BurstGPT": table_traces.read_burstgpt_conversations,
    "JSON Lines": simple_traces.read_json_lines_conversations,
    "times": simple_traces.read_time_list_conversations,
}


def read_trace(path: Path, limit: int | None = None, block_size: int | None = None) -> Trace:
    """Read the trace in a file or folder.

    Return its first `limit` requests, sorted by time; the first starts at 0. Requests that had failed when they
    were recorded (no output token) are left out. `block_size`: number of tokens per block of a prompt, in place
    of the block size of the trace's format.

    Raises:
        UserError: If the trace cannot be read, is empty, has an unknown format, or a line is invalid.
    """
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        raise UserError(f"{path}: there are no arrivals.")
    kind = recognise_format(first)
    kept, left_out, left = list[Conversation](), 0, math.inf if limit is None else limit
    for whole in TRACE_READERS[kind](chain([first], lines), block_size):
        answered = [request for request in whole.requests if request.output_tokens != 0]
        left_out += len(whole.requests) - len(answered)
        if answered:
            one = (whole if len(answered) == len(whole.requests) else _without_failed(whole)).first_requests(
                left
            )
            kept.append(one)
            left -= len(one.requests)
            if left <= 0:
                break
    if not kept:
        raise UserError(f"{path}: there are no arrivals.")
    return Trace(kind, sort_by_start(kept), left_out)


def recognise_format(line: TraceLine) -> str:
    """Return the name of a trace's format, recognised by the trace's first line or document.

    Raises:
        UserError: If the format is unknown. The message lists the known formats.
    """
    text = line.text.decode("utf-8-sig", errors="replace")
    if text[:1] in "{[":
        kind = _of_fields(_fields(text))
    else:
        kind = _of_columns(set(next(csv.reader([text.splitlines()[0]]))), text)
    if kind is None:
        raise UserError(
            f"{line.location}: unknown trace format: expected a time per line, JSON Lines with `at` and "
            "`input_tokens`, "
            "or a trace of Mooncake, Weka, Bailian, Azure or BurstGPT."
        )
    return kind


def sort_by_start(conversations: Iterable[Conversation]) -> list[Conversation]:
    """Return the conversations sorted by start time, shifted so that the first starts at 0.

    If some start times are unknown, the order is unchanged, and all start times become None.
    """
    found = list(conversations)
    times = [one.start_seconds for one in found if one.start_seconds is not None]
    if len(times) < len(found):
        return [msgspec.structs.replace(one, start_seconds=None) for one in found]
    start = min(times, default=0.0)
    moved = [msgspec.structs.replace(one, start_seconds=(one.start_seconds or 0.0) - start) for one in found]
    return sorted(moved, key=lambda one: one.start_seconds or 0.0)


def _fields(text: str) -> set[str]:
    try:
        value = msgspec.json.decode(text)
    except DECODE_ERRORS:
        return set()
    if isinstance(value, list):
        value = value[0] if value else {}
    return set(value) if isinstance(value, dict) else set()


def _of_fields(fields: set[str]) -> str | None:
    if "requests" in fields:
        return "Weka"
    if {"chat_id", "parent_chat_id"} <= fields:
        return "Bailian"
    if fields & {"input_length", "text_input", "hash_ids"} and fields & {"timestamp", "session_id"}:
        return "Mooncake"
    return "JSON Lines" if fields & {"at", "conversation"} else None


def _of_columns(columns: set[str], text: str) -> str | None:
    if columns >= set(table_traces.AZURE_COLUMNS):
        return "Azure"
    if columns >= set(table_traces.BURSTGPT_COLUMNS):
        return "BurstGPT"
    return "times" if text.startswith("#") or _is_number(text) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_failed(conversation: Conversation) -> Conversation:
    """Return a conversation without the requests that had failed when they were recorded.

    A request that followed a failed request then follows the request before the failed one.
    """
    kept: list[TracedRequest] = []
    places: dict[int | None, int | None] = {None: None}
    for number, request in enumerate(conversation.requests):
        before = places[request.previous_request]
        if request.output_tokens == 0:
            places[number] = before
        else:
            places[number] = len(kept)
            kept.append(msgspec.structs.replace(request, previous_request=before))
    return msgspec.structs.replace(conversation, requests=kept)
