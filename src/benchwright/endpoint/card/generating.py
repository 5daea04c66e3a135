"""Probes of generated answers, whole and streamed: usage, the pieces of streams, and finish reasons."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.card import servers
from benchwright.endpoint.card.answer import Answer
from benchwright.endpoint.card.examination import CHAT, SENTENCE, SHORT, Examination

MOST_READS, LEAST_PIECES, LEAST_SECONDS = 2, 6, 0.05
"""Signs of a stream that a buffer held back.

It has `LEAST_PIECES` or more and took longer than `LEAST_SECONDS`, but arrived in at most `MOST_READS` reads.
"""

FIRST = 4.0
"""Factor for the time limit of the first response, because some servers load the model for it."""

TOKENS_A_PIECE = 1.5
"""Tokens per piece of a stream; from this average on, pieces are reported to hold several tokens."""


async def ask_chat(known: Examination) -> None:
    """Find out whether chat completions answer, without a stream.

    If the field for the token limit is refused, retry with the other one.
    """
    answer = await known.ask_at(CHAT, SENTENCE, patience=FIRST)
    if not answer.ok and "max_tokens" in answer.refusal and "max_completion_tokens" in answer.refusal:
        known.limit_field = "max_completion_tokens"
        answer = await known.ask_at(CHAT, SENTENCE)
    if known.server.name == servers.UNKNOWN_SERVER.name:
        known.server = servers.by_headers(answer.headers) or known.server
    if answer.ok and answer.is_stream:
        known.path, known.plain = CHAT, answer
        known.note("chat", "as_stream")
    elif answer.ok and answer.said.choices:
        known.path, known.plain = CHAT, answer
        known.note("chat", "answers")
    elif answer.ok:
        known.note("chat", "other")
    else:
        known.note("chat", "missing" if answer.status == 404 else "refused", refusal=answer.refusal)


async def look_at_usage(known: Examination) -> None:
    """Record whether the first whole response reports its usage."""
    said = known.whole.said
    prompt, completion = said.tokens("prompt_tokens"), said.tokens("completion_tokens")
    if prompt is None or completion is None:
        known.note("usage", "in_part" if said.usage else "none")
    else:
        known.note("usage", "reported", prompt=prompt, completion=completion)


async def ask_streamed(known: Examination) -> None:
    """Find out whether responses are streamed.

    `SENTENCE` is sent with `stream` and `include_usage` (without the latter if it is refused), and the
    outcome is recorded in `known`.
    """
    fields: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    answer = await known.ask(SENTENCE, **fields)
    refused = not answer.ok and "stream_options" in answer.refusal
    if refused:
        fields = {"stream": True}
        answer = await known.ask(SENTENCE, **fields)
    if not answer.ok:
        known.note("streaming", "refused", refusal=answer.refusal)
    elif not answer.events:
        known.note("streaming", "whole")
    else:
        known.streamed, known.stream_fields = answer, fields
        _note_pieces(known, answer)
        note_usage_in_stream(known, answer, refused=refused)


def _note_pieces(known: Examination, answer: Answer) -> None:
    """Record whether a stream sent single tokens, several at once, or one piece, and whether it was held back."""
    said = answer.said
    pieces, tokens = len(said.pieces), said.tokens("completion_tokens")
    if pieces <= 1:
        outcome = "one_piece"
    elif pieces >= LEAST_PIECES and len(set(said.pieces)) <= MOST_READS and answer.seconds > LEAST_SECONDS:
        outcome = "held_back"
    elif tokens is not None and tokens > TOKENS_A_PIECE * pieces:
        outcome = "several_tokens"
    else:
        outcome = "by_token"
    known.note("streaming", outcome, pieces=pieces, tokens=tokens)


def note_usage_in_stream(known: Examination, answer: Answer, *, refused: bool) -> None:
    """Record whether a stream reported its usage.

    `refused`: True if the server refused the request for usage.
    """
    said = answer.said
    completion = said.tokens("completion_tokens")
    way_out = "--no-stream counts them." if known.outcome("usage") == "reported" else ""
    if not answer.whole:
        known.note_unknown("usage_in_stream", "the stream did not end in time")
    elif completion is None:
        known.note("usage_in_stream", "refused" if refused else "none", way_out=way_out)
    elif completion == 0 and said.all_text:
        known.note("usage_in_stream", "nothing", way_out=way_out)
    else:
        known.note("usage_in_stream", "reported", completion=completion)


async def look_at_ends(known: Examination) -> None:
    """Record the finish reasons of two answers: one that the token limit cut off, and one that ended by itself."""
    said = known.whole.said
    cut, completion = said.finish_reason, said.tokens("completion_tokens")
    end = known.settled.said.finish_reason if known.settled is not None else None
    reasons = f"{cut or 'none'} at the limit" + (f", {end} at the end" if end and end != "length" else "")
    if completion is not None and completion > 2 * SHORT:
        known.note("finish_reasons", "not_bounded", completion=completion, limit=SHORT, reasons=reasons)
    elif cut == "length":
        known.note("finish_reasons", "length", reasons=reasons)
    elif completion is not None and completion < SHORT:
        known.note("finish_reasons", "too_short", reasons=f"finish reason {cut}")
    else:
        known.note("finish_reasons", "not_length", reasons=reasons)
