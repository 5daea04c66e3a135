"""A conversation as it is shown: who said what, reasoning apart, tools, how it was graded, how long it took."""

from __future__ import annotations

from benchwright.analysis.report.messages import ParsedMessage, as_json, parse_messages
from benchwright.analysis.report.pieces import cut
from benchwright.analysis.report.records import Call, Conversation, Grade, Piece, ShownMessage
from benchwright.formats import duration, milliseconds
from benchwright.records import RequestRecord, ScoreRecord
from benchwright.runs.journal import Body
from benchwright.runs.table import ScoredTrial

MOST_MESSAGES = 24
"""Messages of one conversation that are shown, the last ones and the first few."""

FIRST = 4
SHORT = 600
"""Characters of details, reasons and arguments that are shown."""


def conversation_of(trial: ScoredTrial, body: Body | str, shown_as: str = "") -> Conversation:
    """The conversation cut to a length that a page can bear; in the place of a body it may say why there is none."""
    record, scores = trial.record, trial.scores.values()
    if isinstance(body, str):
        messages, left_out, result = [ShownMessage("note", [Piece("cut", body)])], 0, []
    else:
        parsed, left_out = parse_messages(
            body, [score.span for score in scores if score.span], FIRST, MOST_MESSAGES
        )
        messages = [_shown_message(message) for message in parsed]
        result = cut(as_json(body.native), SHORT) if body.native is not None else []
    return Conversation(
        sample=record.sample,
        repeat=record.repeat,
        attempt=record.attempt,
        status=str(trial.status),
        seconds=record.duration / 1e9,
        reason=cut(record.reason or "", SHORT),
        shown_as=shown_as,
        messages=messages,
        left_out=left_out,
        grades=[*(_own_grade(*one) for one in record.scores.items()), *(_grade(score) for score in scores)],
        requests=[_request(request) for request in record.requests[:MOST_MESSAGES]],
        result=result,
    )


def _shown_message(message: ParsedMessage) -> ShownMessage:
    return ShownMessage(
        role=message.role,
        pieces=cut(message.text, span=message.span),
        reasoning=cut(message.reasoning),
        calls=[Call(call.name, cut(call.arguments, SHORT)) for call in message.calls[:MOST_MESSAGES]],
    )


def _own_grade(name: str, value: float) -> Grade:
    return Grade(name, value, "scored")


def _grade(score: ScoreRecord) -> Grade:
    return Grade(
        scorer=score.scorer,
        value=score.value,
        status=str(score.status),
        span=cut(score.span or "", SHORT),
        detail=cut(as_json(score.detail), SHORT) if score.detail else [],
    )


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
