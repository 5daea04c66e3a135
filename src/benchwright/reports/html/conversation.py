"""A conversation as it is shown: who said what, reasoning apart, tools, how it was graded, how long it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from benchwright.endpoint.reply import split_reasoning
from benchwright.engine.answers import content_text
from benchwright.engine.journal import Body, ExchangeBody, encode_json
from benchwright.engine.transcripts import Transcript
from benchwright.records import Message, RequestRecord, ScoreRecord, trial_status
from benchwright.reports.html.records import Call, Conversation, Grade, Piece, Pieces, Said
from benchwright.reports.html.text import cut, find_span
from benchwright.reports.text import duration, milliseconds

MOST_MESSAGES = 24
"""Messages of one conversation that are shown, the last ones and the first few."""

FIRST = 4
SHORT = 600
"""Characters of details, reasons and arguments that are shown."""

REASONING = ("reasoning_content", "reasoning")


def conversation_of(transcript: Transcript, shown_as: str = "") -> Conversation:
    """The transcript cut to a length that a page can bear."""
    trial, body = transcript.trial, transcript.body
    spans = [score.span for score in transcript.scores if score.span]
    said, left_out = _said(body, spans)
    return Conversation(
        sample=trial.sample,
        repeat=trial.repeat,
        attempt=trial.attempt,
        status=str(trial_status(trial.status, [score.status for score in transcript.scores])),
        seconds=trial.duration / 1e9,
        reason=cut(trial.reason or "", SHORT),
        shown_as=shown_as,
        said=said,
        left_out=left_out,
        grades=[_own_grade(name, value) for name, value in trial.scores.items()]
        + [_grade(score) for score in transcript.scores],
        requests=[_request(request) for request in trial.requests[:MOST_MESSAGES]],
        result=_as_json(body.native) if body.native is not None else [],
    )


def without_body(transcript: Transcript, why: str) -> Conversation:
    """The conversation whose body is not read."""
    whole = conversation_of(transcript)
    return msgspec.structs.replace(whole, said=[Said("note", [Piece("cut", why)])])


def _said(body: Body, spans: Sequence[str]) -> tuple[list[Said], int]:
    messages = body.messages or _asked_and_answered(body.exchanges)
    reasoning = dict(_reasoning(body.exchanges)) if body.messages else {}
    numbered = list(enumerate(messages))
    kept = numbered
    if len(messages) > MOST_MESSAGES:
        kept = numbered[:FIRST] + numbered[FIRST - MOST_MESSAGES :]
    last = max((place for place, message in kept if message.get("role") == "assistant"), default=-1)
    said = [
        _message(message, reasoning.get(place), spans if place == last else ()) for place, message in kept
    ]
    return said, len(messages) - len(kept)


def _asked_and_answered(exchanges: Sequence[ExchangeBody]) -> list[Message]:
    """What was sent last, and the answer to it, of a trial that tells no messages of its own."""
    if not exchanges or not isinstance(exchanges[-1].sent, list):
        return []
    answer = _answer(exchanges[-1])
    return [*exchanges[-1].sent, *([] if answer is None else [answer])]


def _answer(exchange: ExchangeBody) -> Message | None:
    try:
        answer = msgspec.json.decode(exchange.response)["choices"][0]["message"]
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
        return None
    return answer if isinstance(answer, dict) else None


def _reasoning(exchanges: Sequence[ExchangeBody]) -> Iterator[tuple[int, str]]:
    """(place of the answer among the messages, what was thought before it)."""
    for exchange in exchanges:
        if not isinstance(exchange.sent, int):
            continue
        answer = _answer(exchange) or {}
        thought = next((answer[name] for name in REASONING if isinstance(answer.get(name), str)), "")
        if not thought and isinstance(answer.get("content"), str):
            thought, _ = split_reasoning(answer["content"])
        if thought.strip():
            yield exchange.sent, thought


def _message(message: Message, reasoning: str | None, spans: Sequence[str]) -> Said:
    text = content_text(message.get("content"))
    thought = reasoning or ""
    if message.get("role") == "assistant" and not thought:
        thought, text = split_reasoning(text)
    span = next((found for span in spans if (found := find_span(text, span)) is not None), None)
    calls = message.get("tool_calls")
    return Said(
        role=str(message.get("role"))[:40],
        pieces=cut(text, span=span),
        reasoning=cut(thought),
        calls=[_call(call) for call in calls[:MOST_MESSAGES]] if isinstance(calls, list) else [],
    )


def _call(call: Any) -> Call:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return Call("?", _as_json(call))
    arguments = function.get("arguments")
    return Call(
        str(function.get("name"))[:100],
        cut(arguments, SHORT) if isinstance(arguments, str) else _as_json(arguments),
    )


def _own_grade(name: str, value: float) -> Grade:
    return Grade(name, value, "scored")


def _grade(score: ScoreRecord) -> Grade:
    return Grade(
        scorer=score.scorer,
        value=score.value,
        status=str(score.status),
        span=cut(score.span or "", SHORT),
        detail=_as_json(score.detail) if score.detail else [],
    )


def _as_json(value: Any) -> Pieces:
    return cut(encode_json(value).decode(errors="replace"), SHORT)


def _request(request: RequestRecord) -> str:
    usage = request.usage
    parts = [f"{request.role} {milliseconds(request.total_latency_seconds)} ms"]
    if request.ttft_seconds is not None:
        parts.append(f"first token {milliseconds(request.ttft_seconds)} ms")
    parts.append(f"{usage.prompt_tokens or 0:,} + {usage.completion_tokens or 0:,} tokens")
    if request.attempts > 1:
        parts.append(f"{request.attempts} attempts, {duration(request.waited / 1e9)} of waiting")
    if request.error:
        parts.append(request.error[:SHORT])
    return ", ".join(parts)
