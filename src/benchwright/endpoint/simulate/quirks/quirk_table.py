"""Table of all quirks by name. A quirk changes a stream's chunks, a whole answer, or the encoding as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchwright.endpoint.simulate.quirks import calls, counts, errors, event_encodings, texts
from benchwright.endpoint.simulate.quirks.event_encodings import EventEncoding
from benchwright.endpoint.simulate.quirks.stream import Chunk, ChunkStream, for_stream_and_body


def _unchanged(answer: object) -> None:
    """Leave the answer unchanged."""


class Quirk(NamedTuple):
    """A form of answers that deviates from the API's reference.

    `change_stream`: a function that changes a stream in place. `change_body`: a function that changes a whole
    answer in place. `encode_events`: a function that encodes chunks as bytes. `is_json_lines`: True if
    streams are JSON lines. `ends_in_error`: True if an error is sent in place of the rest of the answer.
    """

    change_stream: Callable[[ChunkStream], None] = _unchanged
    change_body: Callable[[Chunk], None] = _unchanged
    encode_events: EventEncoding = event_encodings.standard_events
    is_json_lines: bool = False
    ends_in_error: bool = False


def _everywhere(change: Callable[[Chunk], None]) -> Quirk:
    """Return a quirk that applies `change` to each chunk of a stream, or to a whole answer."""

    def in_stream(stream: ChunkStream) -> None:
        for piece in stream:
            for chunk in piece:
                change(chunk)

    return Quirk(in_stream, change)


QUIRKS = {
    "same_index": Quirk(calls.same_index),
    "no_index": Quirk(calls.no_index),
    "string_index": Quirk(calls.string_index),
    "same_id": Quirk(calls.same_id, calls.same_id_in_body),
    "changing_id": Quirk(calls.changing_id),
    "repeated_call": Quirk(calls.repeated_call),
    "repeated_arguments": Quirk(calls.repeated_arguments),
    "empty_arguments_first": Quirk(calls.empty_arguments_first),
    "object_arguments": Quirk(calls.object_arguments, calls.object_arguments_in_body),
    "broken_arguments": Quirk(calls.broken_arguments),
    "function_call": Quirk(calls.function_call, calls.function_call_in_body),
    "flat_call": Quirk(calls.flat_call, calls.flat_call_in_body),
    "call_as_text": Quirk(calls.call_as_text, calls.call_as_text_in_body),
    "call_as_thinking": Quirk(calls.call_as_thinking, calls.call_as_thinking_in_body),
    "missing_call": Quirk(calls.missing_call, calls.missing_call_in_body),
    "call_in_second_choice": Quirk(change_body=calls.call_in_second_choice),
    "message_for_delta": Quirk(texts.message_for_delta),
    "cumulative_message": Quirk(texts.cumulative_message),
    "whole_message_last": Quirk(texts.whole_message_last),
    "message_beside_delta": Quirk(texts.message_beside_delta),
    "repeated_answer": Quirk(texts.repeated_answer),
    "cumulative_answer": Quirk(texts.cumulative_answer),
    "content_parts": Quirk(*for_stream_and_body(texts.content_parts)),
    "halves": Quirk(texts.halves),
    "raw_halves": Quirk(texts.halves, encode_events=event_encodings.raw_halves),
    "lone_half": Quirk(texts.lone_half),
    "unknown_characters": Quirk(*for_stream_and_body(texts.unknown_characters)),
    "end_token": Quirk(texts.end_token, texts.end_token_in_body),
    "thinking_object": Quirk(*for_stream_and_body(texts.thinking_object)),
    "thinking_elsewhere": Quirk(*for_stream_and_body(texts.thinking_elsewhere)),
    "thinking_twice": Quirk(texts.thinking_twice, texts.thinking_twice_in_body),
    "late_thinking": Quirk(texts.late_thinking, texts.late_thinking_in_body),
    "channel_tokens": Quirk(texts.channel_tokens, texts.channel_tokens_in_body),
    "marked_thinking": Quirk(texts.marked_thinking, texts.tagged_thinking("<think>", "</think>")[1]),
    "tagged_thinking": Quirk(*texts.tagged_thinking("<thought>", "</thought>")),
    "channel_thinking": Quirk(*texts.tagged_thinking("<|channel>thought\n", "<channel|>")),
    "answer_as_thinking": Quirk(*for_stream_and_body(texts.answer_as_thinking)),
    "one_text_twice": Quirk(*for_stream_and_body(texts.one_text_twice)),
    "thinking_in_total": _everywhere(counts.thinking_in_total),
    "usage_in_choice": Quirk(counts.usage_in_choice),
    "zeros_last": Quirk(counts.zeros_last),
    "split_usage": Quirk(counts.split_usage),
    "other_counts": _everywhere(counts.other_counts),
    "other_finish_reason": _everywhere(counts.other_finish_reason),
    "unknown_finish_reason": _everywhere(counts.unknown_finish_reason),
    "camel_finish_reason": _everywhere(counts.camel_finish_reason),
    "stop_last": Quirk(counts.stop_last),
    "empty_finish_reason": Quirk(counts.empty_finish_reason),
    "no_number": Quirk(counts.no_number, counts.no_number_in_body),
    "no_blank": Quirk(encode_events=event_encodings.no_blank),
    "crlf": Quirk(encode_events=event_encodings.crlf),
    "blank_done": Quirk(encode_events=event_encodings.blank_done),
    "joined_events": Quirk(encode_events=event_encodings.joined_events),
    "json_lines": Quirk(encode_events=event_encodings.json_lines, is_json_lines=True),
    "error_in_choice": Quirk(errors.error_in_choice, errors.error_in_choice_of_body, ends_in_error=True),
    "error_event": Quirk(
        errors.error_event,
        errors.error_body,
        encode_events=event_encodings.events_until_error,
        ends_in_error=True,
    ),
    "error_line": Quirk(
        errors.error_event, errors.error_body, encode_events=event_encodings.error_line, ends_in_error=True
    ),
}
