"""A trial in short: what it was asked, what was expected, the answer that it gave, and why it scored so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from benchwright.endpoint.flags import notes_in_words
from benchwright.engine.answers import content_text
from benchwright.errors import JournalError
from benchwright.records import Message, Record, ScoreRecord, Status, TrialRecord
from benchwright.runs.asked import read_input
from benchwright.runs.journal import Body, body_file, body_in, encode_json, read_body
from benchwright.runs.scored import ScoredTrial
from benchwright.text import one_line

QUOTED = 200
"""Characters of an answer that a sentence of ours quotes."""


class Gist(Record, frozen=True):
    """What is said first of a trial; None where the journal does not tell it."""

    input: str | None = None
    target: str | None = None
    answer: str | None = None
    explanation: str | None = None


def gist(trial: ScoredTrial, body: Body | None) -> Gist:
    """The gist of an attempt with this body, None where it was lost.

    Journals of earlier versions hold no input and no target: there the first message of the user stands for the
    one, what a score says was expected for the other.
    """
    target = _target(trial, body)
    why = _explanation(trial, body, target)
    if body is None:
        return Gist(target=target, explanation=why)
    return Gist(_input(body), target, _answer(body), why)


def trial_notes(record: TrialRecord) -> list[str]:
    """Return an attempt's notes, and what was odd in the answers to its requests, numbered if there are several."""
    several = len(record.requests) > 1
    return record.notes + [
        f"request {number}: {note}" if several else note
        for number, request in enumerate(record.requests, 1)
        for note in notes_in_words(request.flags)
    ]


def gist_on_disk(directory: Path, trial: ScoredTrial) -> Gist:
    """The gist of an attempt whose body is still to be read."""
    try:
        return gist(trial, read_body(directory, trial.record))
    except JournalError:
        return gist(trial, None)


def gists_on_disk(directory: Path, trials: Iterable[ScoredTrial]) -> Iterator[tuple[ScoredTrial, Gist]]:
    """Attempts with their gists; the file of bodies is opened once, and where there is none no body is left."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(body_file(directory))
        except JournalError:
            file = None
        for trial in trials:
            yield trial, gist(trial, None if file is None else _body(file, trial))


def _body(file: IO[bytes], trial: ScoredTrial) -> Body | None:
    try:
        return body_in(file, trial.record)
    except JournalError:
        return None


def _input(body: Body) -> str | None:
    found = read_input(body.input, body.messages)
    if found is not None:
        return found
    sent = [one.sent for one in body.exchanges[:1] if isinstance(one.sent, list)]
    messages = body.messages or body.unanswered or (sent[0] if sent else [])
    asked = (content_text(one.get("content")) for one in messages if one.get("role") == "user")
    return next(filter(None, asked), None)


def _target(trial: ScoredTrial, body: Body | None) -> str | None:
    if body is not None and body.target is not None:
        return body.target
    expected = ((score.detail or {}).get("expected") for score in trial.scores.values())
    found = next((one for one in expected if one is not None), None)
    return found if found is None or isinstance(found, str) else encode_json(found).decode(errors="replace")


def _answer(body: Body) -> str:
    """The answer; the tools that were called last, where these are all there is of it."""
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


def _explanation(trial: ScoredTrial, body: Body | None, target: str | None) -> str | None:
    """What the scorers say, one paragraph each; a pack says it in the summary of its own result."""
    told = [(name, why(score, target)) for name, score in trial.scores.items()]
    said = [(name, text) for name, text in told if text]
    if len(trial.scores) > 1:
        return "\n\n".join(f"{name}: {text}" for name, text in said) or None
    if said:
        return said[0][1]
    native = body.native if body is not None else None
    summary = native.get("summary") if isinstance(native, dict) else None
    return summary if isinstance(summary, str) and summary else None


def why(score: ScoreRecord, target: str | None) -> str | None:
    """Why a score is what it is: in the scorer's words, or by what it took as the answer."""
    if score.explanation:
        return score.explanation
    if score.status is Status.GRADER_ERROR:
        return f"The grader failed: {(score.detail or {}).get('error')}"
    if score.status is Status.UNPARSED:
        return "No answer was found."
    if score.span is None:
        return None
    taken = f"Taken as the answer: {one_line(score.span, QUOTED)}"
    compared = (score.detail or {}).get("expected")
    expected = compared if isinstance(compared, str) else target
    return taken if expected is None else f"{taken}\nExpected: {one_line(expected, QUOTED)}"
