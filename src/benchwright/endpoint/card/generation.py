"""Probes of generated answers, whole and streamed: usage, the pieces of streams, and finish reasons."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.card import servers
from benchwright.endpoint.card.examination import CHAT, SENTENCE_PROMPT, SHORT_TOKEN_LIMIT, Examination
from benchwright.endpoint.card.probe_response import ProbeResponse

MAX_READS, MIN_PIECES, MIN_SECONDS = 2, 6, 0.05
"""Limits by which the probe recognises that a buffer held a stream back.

`MAX_READS`: the maximum number of reads of the socket in which such a stream arrives. `MIN_PIECES`: the
minimum number of its pieces. `MIN_SECONDS`: the duration in seconds that it must exceed. All three
conditions must hold.
"""

FIRST_RESPONSE_PATIENCE = 4.0
"""Factor by which the time limit of the first response is multiplied: some servers load the model first."""

TOKENS_PER_PIECE = 1.5
"""Average number of tokens per piece of a stream. Above this number, the card reports that pieces hold several tokens.
"""


async def probe_chat(known: Examination) -> None:
    """Find out whether chat completions answer, without a stream.

    If the server refuses the field for the token limit, retry with the other field for it.
    """
    answer = await known.ask_at(CHAT, SENTENCE_PROMPT, patience=FIRST_RESPONSE_PATIENCE)
    if (
        not answer.is_accepted
        and "max_tokens" in answer.refusal
        and "max_completion_tokens" in answer.refusal
    ):
        known.limit_field = "max_completion_tokens"
        answer = await known.ask_at(CHAT, SENTENCE_PROMPT)
    if known.server.name == servers.UNKNOWN_SERVER.name:
        known.server = servers.server_by_headers(answer.headers) or known.server
    if answer.is_accepted and answer.is_stream:
        known.path, known.plain = CHAT, answer
        known.record_outcome("chat", "as_stream")
    elif answer.is_accepted and answer.content.choices:
        known.path, known.plain = CHAT, answer
        known.record_outcome("chat", "answers")
    elif answer.is_accepted:
        known.record_outcome("chat", "other")
    else:
        known.record_outcome("chat", "missing" if answer.status == 404 else "refused", refusal=answer.refusal)


async def probe_usage(known: Examination) -> None:
    """Record whether the first response that was not streamed reports its usage."""
    said = known.first_response.content
    prompt, completion = said.token_count("prompt_tokens"), said.token_count("completion_tokens")
    if prompt is None or completion is None:
        known.record_outcome("usage", "in_part" if said.usage else "none")
    else:
        known.record_outcome("usage", "reported", prompt=prompt, completion=completion)


async def probe_streaming(known: Examination) -> None:
    """Find out whether responses are streamed, and record the outcome.

    `SENTENCE_PROMPT` is sent with `stream` and `include_usage`. If the server refuses `include_usage`, it is
    left out.
    """
    fields: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    answer = await known.ask(SENTENCE_PROMPT, **fields)
    refused = not answer.is_accepted and "stream_options" in answer.refusal
    if refused:
        fields = {"stream": True}
        answer = await known.ask(SENTENCE_PROMPT, **fields)
    if not answer.is_accepted:
        known.record_outcome("streaming", "refused", refusal=answer.refusal)
    elif not answer.events:
        known.record_outcome("streaming", "whole")
    else:
        known.streamed, known.stream_fields = answer, fields
        _note_pieces(known, answer)
        record_usage_in_stream(known, answer, refused=refused)


def _note_pieces(known: Examination, answer: ProbeResponse) -> None:
    """Record whether a stream sent single tokens, several tokens at once, or one piece.

    Record whether it was held back.
    """
    said = answer.content
    pieces, tokens = len(said.pieces), said.token_count("completion_tokens")
    if pieces <= 1:
        outcome = "one_piece"
    elif pieces >= MIN_PIECES and len(set(said.pieces)) <= MAX_READS and answer.seconds > MIN_SECONDS:
        outcome = "held_back"
    elif tokens is not None and tokens > TOKENS_PER_PIECE * pieces:
        outcome = "several_tokens"
    else:
        outcome = "by_token"
    known.record_outcome("streaming", outcome, pieces=pieces, tokens=tokens)


def record_usage_in_stream(known: Examination, answer: ProbeResponse, *, refused: bool) -> None:
    """Record whether a stream reported its usage.

    `refused`: True if the server refused the request field that asks for usage.
    """
    said = answer.content
    completion = said.token_count("completion_tokens")
    way_out = "--no-stream counts them." if known.outcome("usage") == "reported" else ""
    if not answer.is_complete:
        known.record_unknown("usage_in_stream", "the stream did not end in time")
    elif completion is None:
        known.record_outcome("usage_in_stream", "refused" if refused else "none", way_out=way_out)
    elif completion == 0 and said.all_text:
        known.record_outcome("usage_in_stream", "nothing", way_out=way_out)
    else:
        known.record_outcome("usage_in_stream", "reported", completion=completion)


async def probe_finish_reasons(known: Examination) -> None:
    """Record the finish reasons of two answers: one cut off by the token limit, and one that ended by itself."""
    said = known.first_response.content
    cut, completion = said.finish_reason, said.token_count("completion_tokens")
    end = known.settled.content.finish_reason if known.settled is not None else None
    reasons = f"{cut or 'none'} at the limit" + (f", {end} at the end" if end and end != "length" else "")
    if completion is not None and completion > 2 * SHORT_TOKEN_LIMIT:
        known.record_outcome(
            "finish_reasons", "not_bounded", completion=completion, limit=SHORT_TOKEN_LIMIT, reasons=reasons
        )
    elif cut == "length":
        known.record_outcome("finish_reasons", "length", reasons=reasons)
    elif completion is not None and completion < SHORT_TOKEN_LIMIT:
        known.record_outcome("finish_reasons", "too_short", reasons=f"finish reason {cut}")
    else:
        known.record_outcome("finish_reasons", "not_length", reasons=reasons)
