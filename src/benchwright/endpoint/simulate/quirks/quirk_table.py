"""Table of all quirks by name. A quirk changes a stream's chunks, a whole answer, or the encoding as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchwright.endpoint.simulate.quirks import calls, counts, errors, event_encodings, texts
from benchwright.endpoint.simulate.quirks.event_encodings import EventEncoding
from benchwright.endpoint.simulate.quirks.stream import Chunk, ChunkStream, stream_and_body_functions


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
    encode_events: EventEncoding = event_encodings.encode_standard_events
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
    "same_index": Quirk(calls.set_equal_indexes),
    "no_index": Quirk(calls.remove_indexes),
    "string_index": Quirk(calls.convert_indexes_to_strings),
    "same_id": Quirk(calls.set_equal_ids, calls.set_equal_ids_in_body),
    "changing_id": Quirk(calls.change_id_in_each_delta),
    "repeated_call": Quirk(calls.repeat_last_call),
    "repeated_arguments": Quirk(calls.repeat_last_arguments),
    "empty_arguments_first": Quirk(calls.insert_empty_arguments),
    "object_arguments": Quirk(calls.send_arguments_as_object, calls.send_arguments_as_object_in_body),
    "broken_arguments": Quirk(calls.truncate_arguments),
    "function_call": Quirk(calls.use_function_call_field, calls.use_function_call_field_in_body),
    "flat_call": Quirk(calls.flatten_calls, calls.flatten_calls_in_body),
    "call_as_text": Quirk(calls.move_calls_to_text, calls.move_calls_to_text_in_body),
    "call_as_thinking": Quirk(calls.move_calls_to_reasoning, calls.move_calls_to_reasoning_in_body),
    "missing_call": Quirk(calls.remove_calls, calls.remove_calls_in_body),
    "call_in_second_choice": Quirk(change_body=calls.move_calls_to_second_choice),
    "message_for_delta": Quirk(texts.replace_deltas_by_messages),
    "cumulative_message": Quirk(texts.send_cumulative_messages),
    "whole_message_last": Quirk(texts.repeat_message_at_end),
    "message_beside_delta": Quirk(texts.add_cumulative_messages),
    "repeated_answer": Quirk(texts.repeat_answer_at_end),
    "cumulative_answer": Quirk(texts.accumulate_deltas),
    "content_parts": Quirk(*stream_and_body_functions(texts.send_content_parts)),
    "halves": Quirk(texts.split_surrogate_pairs),
    "raw_halves": Quirk(texts.split_surrogate_pairs, encode_events=event_encodings.encode_raw_surrogates),
    "lone_half": Quirk(texts.drop_low_surrogates),
    "unknown_characters": Quirk(*stream_and_body_functions(texts.replace_wide_characters)),
    "end_token": Quirk(texts.add_end_token, texts.add_end_token_in_body),
    "thinking_object": Quirk(*stream_and_body_functions(texts.send_reasoning_as_object)),
    "thinking_elsewhere": Quirk(*stream_and_body_functions(texts.rename_reasoning_field)),
    "thinking_twice": Quirk(texts.repeat_reasoning_in_text, texts.repeat_reasoning_in_text_of_body),
    "late_thinking": Quirk(texts.insert_late_reasoning, texts.insert_late_reasoning_in_body),
    "channel_tokens": Quirk(texts.add_channel_tokens, texts.add_channel_tokens_in_body),
    "marked_thinking": Quirk(
        texts.send_marked_reasoning, texts.make_tagged_reasoning_quirk("<think>", "</think>")[1]
    ),
    "tagged_thinking": Quirk(*texts.make_tagged_reasoning_quirk("<thought>", "</thought>")),
    "channel_thinking": Quirk(*texts.make_tagged_reasoning_quirk("<|channel>thought\n", "<channel|>")),
    "answer_as_thinking": Quirk(*stream_and_body_functions(texts.move_answer_to_reasoning)),
    "one_text_twice": Quirk(*stream_and_body_functions(texts.copy_answer_to_reasoning)),
    "thinking_in_total": _everywhere(counts.count_thinking_only_in_total),
    "usage_in_choice": Quirk(counts.move_usage_to_choice),
    "zeros_last": Quirk(counts.send_zero_usage_at_end),
    "split_usage": Quirk(counts.split_usage),
    "other_counts": _everywhere(counts.rename_token_counts),
    "other_finish_reason": _everywhere(counts.use_foreign_finish_reason),
    "unknown_finish_reason": _everywhere(counts.use_unknown_finish_reason),
    "camel_finish_reason": _everywhere(counts.rename_finish_reason_field),
    "stop_last": Quirk(counts.repeat_stop_at_end),
    "empty_finish_reason": Quirk(counts.send_empty_finish_reason),
    "no_number": Quirk(counts.send_nan_logprobs, counts.send_nan_logprobs_in_body),
    "no_blank": Quirk(encode_events=event_encodings.encode_without_blank),
    "crlf": Quirk(encode_events=event_encodings.encode_with_crlf),
    "blank_done": Quirk(encode_events=event_encodings.encode_blanks_after_done),
    "joined_events": Quirk(encode_events=event_encodings.encode_joined_events),
    "json_lines": Quirk(encode_events=event_encodings.encode_json_lines, is_json_lines=True),
    "error_in_choice": Quirk(
        errors.put_error_in_choice, errors.put_error_in_choice_of_body, ends_in_error=True
    ),
    "error_event": Quirk(
        errors.replace_rest_by_error,
        errors.replace_body_by_error,
        encode_events=event_encodings.encode_events_until_error,
        ends_in_error=True,
    ),
    "error_line": Quirk(
        errors.replace_rest_by_error,
        errors.replace_body_by_error,
        encode_events=event_encodings.encode_error_as_json_line,
        ends_in_error=True,
    ),
}
