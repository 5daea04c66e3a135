"""Selects conversations for display, with reasoning, tool calls, grades, and the times of each request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from benchwright.analysis.comparison.records import ScoreChange, ScoreComparison
from benchwright.analysis.report.columns import TrialColumns
from benchwright.analysis.report.messages import ParsedMessage, json_text, parse_messages
from benchwright.analysis.report.records import (
    Conversation,
    Grade,
    ShownCall,
    ShownFlag,
    ShownMessage,
    ShownPicture,
    TextPiece,
)
from benchwright.analysis.report.text_pieces import shorten_to_pieces
from benchwright.analysis.suspicious_passes import kind_in_words
from benchwright.analysis.thinking import thinking_tokens_text
from benchwright.analysis.trial_preview import trial_notes
from benchwright.errors import JournalError
from benchwright.formats import count_with_noun, format_duration, format_milliseconds
from benchwright.pictures import decode_data_url, find_pictures, make_data_url
from benchwright.records import RequestRecord, ScoreRecord
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.flags import Flag
from benchwright.runs.journal import TrialBody, read_body
from benchwright.runs.table import RunTable

MAX_BODY_BYTES = 32_000_000
"""Maximum size in bytes of a trial's body in the journal. The conversation in a larger body is not shown."""

MAX_MESSAGES = 24
"""Maximum number of messages of one conversation that are shown.

In a longer conversation, the first few messages and the last messages are shown.
"""

MAX_PICTURE_BYTES = 200_000
MAX_PICTURES_PER_MESSAGE = 4
"""`MAX_PICTURE_BYTES`: maximum size in bytes of an image that a page shows.

`MAX_PICTURES_PER_MESSAGE`: maximum number of images that are shown per message.
"""

FIRST_MESSAGES_SHOWN = 4
MAX_DETAIL_LENGTH = 600
"""Maximum number of characters of a detail, a reason or an argument that are shown."""


def choose_trials(columns: TrialColumns, threshold: float, most: int) -> dict[int, str]:
    """Choose up to `most` trials to show.

    Return a mapping from the trial's place in `columns` to the reason for it. The reasons are: flagged, failed,
    no answer, below the threshold, slow, passed. Each reason gets an equal share of the trials, as long as
    there are trials with this reason.
    """
    queues = {name: list(places) for name, places in _kinds(columns, threshold, most).items()}
    chosen: dict[int, str] = {}
    while len(chosen) < most and any(queues.values()):
        for name, queue in queues.items():
            while queue and queue[0] in chosen:
                queue.pop(0)
            if queue and len(chosen) < most:
                chosen[queue.pop(0)] = name
    ranks = list(queues)
    return dict(sorted(chosen.items(), key=lambda item: ranks.index(item[1])))


def _kinds(columns: TrialColumns, threshold: float, most: int) -> dict[str, list[int]]:
    first = next(iter(columns.scores.values()), np.full(columns.rows.size, np.nan))
    below = np.flatnonzero((first < threshold) & ~columns.no_answer_mask)
    timed = np.flatnonzero(~np.isnan(columns.latency))
    passed = np.flatnonzero(first >= threshold)
    kinds = {
        "flagged": np.flatnonzero(columns.flagged_mask),
        "failed": np.flatnonzero(columns.failed_mask),
        "no answer": np.flatnonzero(columns.no_answer_mask),
        f"below {threshold:g}": below[np.argsort(first[below], kind="stable")],
        "slowest": timed[np.argsort(-columns.latency[timed], kind="stable")],
        "passed": passed,
    }
    return {name: places[:most].tolist() for name, places in kinds.items()}


def conversation_at(table: RunTable, row: int, shown_as: str = "") -> Conversation:
    """Return the conversation of the trial at row `row` of the table.

    If the conversation cannot be shown, the reason is in its place. `shown_as`: the reason why this
    conversation was chosen.

    Raises:
        JournalError: If the trial's journal line cannot be read.
    """
    trial = table.read_trial(row)
    length = trial.record.body[1]
    if not length:
        return conversation_of(trial, "it was not kept", shown_as)
    if length > MAX_BODY_BYTES:
        return conversation_of(trial, f"{length / 1e6:,.0f} MB, too large to show", shown_as)
    try:
        body = read_body(table.directory, trial.record)
    except JournalError:
        return conversation_of(trial, "the conversation was lost", shown_as)
    return conversation_of(trial, body, shown_as)


def select_changes(score: ScoreComparison, most: int) -> list[ScoreChange]:
    """Return at most `most` of the trials whose score changed: first losses, then wins.

    Of each kind, the largest changes are chosen. Losses and wins get equal shares if there are enough of
    both.
    """
    won, lost = score.won_and_lost_changes()
    of_lost = max(most // 2, most - len(won))
    return lost[:of_lost] + won[: most - min(of_lost, len(lost))]


def conversation_of(trial: ScoredTrial, body: TrialBody | str, shown_as: str = "") -> Conversation:
    """Return the conversation of an attempt, shortened for a page.

    If `body` is a text, it is the reason why there is no conversation.
    """
    record, scores = trial.record, trial.scores.values()
    if isinstance(body, str):
        messages, left_out, result = [ShownMessage("note", [TextPiece("cut", body)])], 0, []
    else:
        parsed, left_out = parse_messages(
            body, [score.span for score in scores if score.span], FIRST_MESSAGES_SHOWN, MAX_MESSAGES
        )
        messages = [_shown_message(message) for message in parsed]
        result = (
            shorten_to_pieces(json_text(body.native), MAX_DETAIL_LENGTH) if body.native is not None else []
        )
    return Conversation(
        sample=record.sample,
        repeat=record.repeat,
        attempt=record.attempt,
        status=str(trial.status),
        seconds=record.duration / 1e9,
        reason=shorten_to_pieces(record.reason or "", MAX_DETAIL_LENGTH),
        selection_reason=shown_as,
        messages=messages,
        left_out=left_out,
        notes=[shorten_to_pieces(note, MAX_DETAIL_LENGTH) for note in trial_notes(record)],
        flags=[_flag(flag) for flag in trial.flags],
        grades=[*(_own_grade(*one) for one in record.scores.items()), *(_grade(score) for score in scores)],
        requests=[_request(request) for request in record.requests[:MAX_MESSAGES]],
        result=result,
    )


def _shown_message(message: ParsedMessage) -> ShownMessage:
    return ShownMessage(
        role=message.role,
        pieces=shorten_to_pieces(message.text, span=message.answer_span),
        reasoning=shorten_to_pieces(message.reasoning),
        calls=[
            ShownCall(call.name, shorten_to_pieces(call.arguments, MAX_DETAIL_LENGTH))
            for call in message.calls[:MAX_MESSAGES]
        ],
        pictures=list(islice(_small_pictures(message.message.get("content")), MAX_PICTURES_PER_MESSAGE)),
    )


def _small_pictures(content: Any) -> Iterator[ShownPicture]:
    """Yield a message's images of at most `MAX_PICTURE_BYTES` bytes, re-encoded as data URLs.

    Because they are re-encoded, nothing but image data can get into the page through them.
    """
    for url, seen in find_pictures(content):
        if seen.byte_count <= MAX_PICTURE_BYTES:
            yield ShownPicture(make_data_url(decode_data_url(url)), str(seen))


def _flag(flag: Flag) -> ShownFlag:
    return ShownFlag(kind_in_words(flag.kind), shorten_to_pieces(flag.evidence, MAX_DETAIL_LENGTH))


def _own_grade(name: str, value: float) -> Grade:
    return Grade(name, value, "scored")


def _grade(score: ScoreRecord) -> Grade:
    return Grade(
        scorer=score.scorer,
        value=score.value,
        status=str(score.status),
        span=shorten_to_pieces(score.span or "", MAX_DETAIL_LENGTH),
        detail=shorten_to_pieces(json_text(score.detail), MAX_DETAIL_LENGTH) if score.detail else [],
    )


def _request(request: RequestRecord) -> str:
    usage = request.usage
    parts = [
        f"{request.role} {format_milliseconds(request.total_latency_seconds)} ms"
        if request.total
        else request.role
    ]
    if request.ttft_seconds is not None:
        parts.append(f"first token {format_milliseconds(request.ttft_seconds)} ms")
    if usage.total_tokens:
        completion = count_with_noun(usage.completion_tokens or 0, "token")
        parts.append(f"{usage.prompt_tokens or 0:,} + {completion}{thinking_tokens_text(usage)}")
    if request.attempts > 1:
        parts.append(f"{request.attempts} attempts, {format_duration(request.waited / 1e9)} of waiting")
    if request.error:
        parts.append(request.error[:MAX_DETAIL_LENGTH])
    return ", ".join(parts)
