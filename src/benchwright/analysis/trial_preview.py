"""Preview of a trial: the input, the expected answer, the model's answer, and the explanation of the score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from benchwright.endpoint.flags import describe_flags
from benchwright.engine.answers import content_text
from benchwright.errors import JournalError
from benchwright.records import Message, Record, ScoreRecord, Status, TrialRecord
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import TrialBody, encode_json, open_bodies, read_body, read_body_from
from benchwright.runs.trial_prompt import read_input
from benchwright.text import one_line

MAX_QUOTED_ANSWER_LENGTH = 200
"""Maximum number of characters of an answer that an explanation quotes."""


class TrialPreview(Record, frozen=True):
    """Preview of a trial. A field is None if the journal does not contain it."""

    input: str | None = None
    target: str | None = None
    answer: str | None = None
    explanation: str | None = None


def trial_preview(trial: ScoredTrial, body: TrialBody | None) -> TrialPreview:
    """Return the preview of an attempt. `body`: its body, None if it was lost.

    Journals of earlier versions hold no input and no target. For these journals, the first user message is the
    input, and the expected answer in the details of a score is the target.
    """
    target = _target(trial, body)
    why = _explanation(trial, body, target)
    if body is None:
        return TrialPreview(target=target, explanation=why)
    return TrialPreview(_input(body), target, _answer(body), why)


def trial_notes(record: TrialRecord) -> list[str]:
    """Return remarks on an attempt: its own remarks, and remarks on odd responses to its requests.

    If the attempt made several requests, the remarks on responses are numbered.
    """
    several = len(record.requests) > 1
    return record.notes + [
        f"request {number}: {note}" if several else note
        for number, request in enumerate(record.requests, 1)
        for note in describe_flags(request.flags)
    ]


def read_preview(directory: Path, trial: ScoredTrial) -> TrialPreview:
    """Return the preview of an attempt, reading its body from the run's directory."""
    try:
        return trial_preview(trial, read_body(directory, trial.record))
    except JournalError:
        return trial_preview(trial, None)


def read_previews(
    directory: Path, trials: Iterable[ScoredTrial]
) -> Iterator[tuple[ScoredTrial, TrialPreview]]:
    """Yield attempts with their previews. The file of bodies is opened once.

    If the file is missing, all bodies count as lost.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open_bodies(directory))
        except JournalError:
            file = None
        for trial in trials:
            yield trial, trial_preview(trial, None if file is None else _body(file, trial))


def _body(file: IO[bytes], trial: ScoredTrial) -> TrialBody | None:
    try:
        return read_body_from(file, trial.record)
    except JournalError:
        return None


def _input(body: TrialBody) -> str | None:
    found = read_input(body.input, body.messages)
    if found is not None:
        return found
    sent = [one.sent for one in body.exchanges[:1] if isinstance(one.sent, list)]
    messages = body.messages or body.unanswered or (sent[0] if sent else [])
    asked = (content_text(one.get("content")) for one in messages if one.get("role") == "user")
    return next(filter(None, asked), None)


def _target(trial: ScoredTrial, body: TrialBody | None) -> str | None:
    if body is not None and body.target is not None:
        return body.target
    expected = ((score.detail or {}).get("expected") for score in trial.scores.values())
    found = next((one for one in expected if one is not None), None)
    return found if found is None or isinstance(found, str) else encode_json(found).decode(errors="replace")


def _answer(body: TrialBody) -> str:
    """Return the text of the answer. If the answer has no text, return the last tool calls as text.

    Return an empty text if there are no tool calls either.
    """
    if body.answer:
        return body.answer
    last: Message = body.messages[-1] if body.messages else {}
    calls = last.get("tool_calls") if last.get("role") == "assistant" else None
    return "\n".join(_calls(calls)) if isinstance(calls, list) else ""


def _calls(calls: list[Any]) -> Iterator[str]:
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield f"{function.get('name')}({function.get('arguments') or ''})"


def _explanation(trial: ScoredTrial, body: TrialBody | None, target: str | None) -> str | None:
    """Return the scorers' explanations, one paragraph each.

    If there are no explanations, return the summary in a pack's own result. Return None if there is no such
    summary either.
    """
    told = [(name, score_explanation(score, target)) for name, score in trial.scores.items()]
    said = [(name, text) for name, text in told if text]
    if len(trial.scores) > 1:
        return "\n\n".join(f"{name}: {text}" for name, text in said) or None
    if said:
        return said[0][1]
    native = body.native if body is not None else None
    summary = native.get("summary") if isinstance(native, dict) else None
    return summary if isinstance(summary, str) and summary else None


def score_explanation(score: ScoreRecord, target: str | None) -> str | None:
    """Return a text that explains a score: the scorer's explanation, if it gave one.

    Otherwise, the text states that the grader failed, that no answer was found, or which text the scorer took
    as the answer and which answer was expected. Return None if none of these is known.
    """
    if score.explanation:
        return score.explanation
    if score.status is Status.GRADER_ERROR:
        return f"The grader failed: {(score.detail or {}).get('error')}"
    if score.status is Status.UNPARSED:
        return "No answer was found."
    if score.span is None:
        return None
    taken = f"Taken as the answer: {one_line(score.span, MAX_QUOTED_ANSWER_LENGTH)}"
    compared = (score.detail or {}).get("expected")
    expected = compared if isinstance(compared, str) else target
    return taken if expected is None else f"{taken}\nExpected: {one_line(expected, MAX_QUOTED_ANSWER_LENGTH)}"
