"""Converts a trial to a sample of an Inspect log, and to its entry in the log's list of samples.

The shapes follow inspect_ai/log/_log.py, as Inspect 0.3.285 reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchwright.analysis.export.counted_trials import CountedTrial, iso_time
from benchwright.analysis.export.message_parts import texts_and_pictures
from benchwright.analysis.export.token_usages import sum_of_usages, token_counts
from benchwright.analysis.report.messages import parse_messages
from benchwright.analysis.trial_preview import TrialPreview, score_explanation, trial_preview
from benchwright.endpoint.call_arguments import ArgumentsError, read_arguments
from benchwright.interop.inspect_sample import EXPORT_KEY
from benchwright.records import FAILED_STATUSES, Message, RequestRecord, Status, TrialRecord, Usage
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.counting_rules import TOKEN_LIMIT_STATUSES
from benchwright.runs.journal import TrialBody
from benchwright.text import truncate

INSPECT_STOP_REASONS = {"length": "max_tokens"}
MAX_LISTED_TEXT_LENGTH = 1_024
"""Maximum number of characters of a text in the list of samples.

A longer text is cut. Inspect has the same limit.
"""

INSPECT_LIMIT_TYPES = {"turn": "turn", "token": "token", "second": "time"}


class InspectModel(NamedTuple):
    """The model of a log: its name in Inspect, which includes the provider, and its name on the server."""

    name: str
    served_name: str


def inspect_sample_of(
    counted: CountedTrial, earlier: Sequence[ScoredTrial], model: InspectModel
) -> dict[str, Any]:
    """Return the sample of a trial. The attempts in `earlier` are listed as retries."""
    trial, body = counted.trial, counted.body
    record = trial.record
    told = trial_preview(trial, body)
    messages, answers = _messages(body)
    requests = [*record.requests, *(one for score in trial.scores.values() for one in score.requests)]
    finish = next((one.finish_reason for one in reversed(record.requests) if one.finish_reason), None)
    choice = {
        "message": answers[-1] if answers else {"role": "assistant", "content": body.answer},
        "stop_reason": _stop_reason(record.status, finish),
    }
    made: dict[str, Any] = {
        "id": record.sample,
        "epoch": record.repeat + 1,
        "input": told.input or "",
        "target": told.target or "",
        "messages": messages or [{"role": "user", "content": told.input or ""}],
        "output": {"model": model.served_name, "choices": [choice] if answers or body.answer else []},
        "scores": dict(_scores(trial, told)),
        "metadata": {**record.labels, EXPORT_KEY: _ours(trial)},
        "model_usage": _usages(requests, model.name),
        "uuid": counted.unique_id,
        "total_time": record.duration / 1e9,
        "working_time": max(0, record.duration - sum(one.waited for one in record.requests)) / 1e9,
        "error_retries": [_error(one.record.reason or str(one.status)) for one in earlier],
        "events": [_event(one, model, record, answers, place) for place, one in enumerate(requests)],
        "attachments": {},
    }
    if record.started_at:
        made["started_at"] = iso_time(record.started_at)
        made["completed_at"] = iso_time(record.started_at + record.duration)
    if record.status in FAILED_STATUSES:
        made["error"] = _error(record.reason or str(record.status))
    elif record.status is Status.LIMIT:
        made["limit"] = {"type": _limit(record.reason or ""), "limit": 0}
    return made


def list_entry_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sample's entry in the list, which viewers and data frames read."""
    line = {
        "id": sample["id"],
        "epoch": sample["epoch"],
        "input": truncate(sample["input"], MAX_LISTED_TEXT_LENGTH),
        "target": truncate(sample["target"], MAX_LISTED_TEXT_LENGTH),
        "scores": {name: _short_score(score) for name, score in sample["scores"].items()},
        "metadata": {name: value for name, value in sample["metadata"].items() if name != EXPORT_KEY},
        "model_usage": sample["model_usage"],
        "total_time": sample["total_time"],
        "working_time": sample["working_time"],
        "uuid": sample["uuid"],
        "retries": len(sample["error_retries"]),
        "completed": "error" not in sample,
        "message_count": len(sample["messages"]),
    }
    for name in ("started_at", "completed_at"):
        if name in sample:
            line[name] = sample[name]
    if "error" in sample:
        line["error"] = sample["error"]["message"]
    if "limit" in sample:
        line["limit"] = sample["limit"]["type"]
    return line


def _short_score(score: Mapping[str, Any]) -> dict[str, Any]:
    texts = {
        name: truncate(score[name], MAX_LISTED_TEXT_LENGTH)
        for name in ("answer", "explanation")
        if name in score
    }
    return {**score, **texts}


def _scores(trial: ScoredTrial, told: TrialPreview) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the scores that have a value.

    Scores without a value are left out, because Inspect excludes such scores from its means.
    """
    for name, value in trial.record.scores.items():
        yield name, {"value": value}
    for name, score in trial.scores.items():
        if score.value is None:
            continue
        found: dict[str, Any] = {"value": score.value}
        answer = told.answer if score.span is None else score.span
        if answer:
            found["answer"] = answer
        if explanation := score_explanation(score, told.target):
            found["explanation"] = explanation
        if score.detail:
            found["metadata"] = dict(score.detail)
        yield name, found


def _ours(trial: ScoredTrial) -> dict[str, Any]:
    """Return the facts about a trial for which Inspect has no field. `import` restores them from there."""
    record = trial.record
    without = {name: str(score.status) for name, score in trial.scores.items() if score.value is None}
    found = {
        "status": str(record.status),
        "reason": record.reason,
        "group": record.group,
        "unscored": without,
    }
    return {name: value for name, value in found.items() if value}


def _messages(body: TrialBody) -> tuple[list[Message], list[Message]]:
    """Return the conversation, and a list of the messages in it that the model wrote."""
    parsed, _ = parse_messages(body, (), 0, 1 << 30)
    messages = []
    names: dict[str, str] = {}
    for one in parsed:
        names.update({call.id: call.name for call in one.calls if call.id})
        messages.append(_message(one.message, one.role, one.text, one.reasoning, names))
    return messages, [one for one in messages if one["role"] == "assistant"]


def _message(message: Message, role: str, text: str, reasoning: str, names: Mapping[str, str]) -> Message:
    """Return a message in Inspect's form.

    The role developer becomes system, and the arguments of calls become objects.
    """
    known = {"developer": "system", "function": "tool"}.get(role, role)
    content = _content(message.get("content"), text)
    if reasoning:
        said = [{"type": "text", "text": content}] if content else []
        parts = content if isinstance(content, list) else said
        content = [{"type": "reasoning", "reasoning": reasoning}, *parts]
    made: Message = {
        "role": known if known in ("system", "user", "assistant", "tool") else "user",
        "content": content,
    }
    calls = message.get("tool_calls")
    if made["role"] == "assistant" and isinstance(calls, list):
        made["tool_calls"] = [_call(one) for one in calls if isinstance(one, dict)]
    if made["role"] == "tool":
        named = str(message.get("tool_call_id") or "")
        made |= {"tool_call_id": named, "function": names.get(named, str(message.get("name") or ""))}
    return made


def _content(content: Any, text: str) -> Any:
    """Return a message's text. If the message has images, return a list of text and image parts."""
    parts = texts_and_pictures(content)
    return [
        {"type": "text", "text": said} if url is None else {"type": "image", "image": url}
        for said, url in parts
    ] or text


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    named = function if isinstance(function, dict) else {}
    made = {"id": str(call.get("id") or ""), "function": str(named.get("name") or ""), "type": "function"}
    try:
        return {**made, "arguments": read_arguments(named.get("arguments"), lenient=True)}
    except ArgumentsError as error:
        return {**made, "arguments": {}, "parse_error": f"{error}: {named.get('arguments')}"}
    except TypeError:
        return {**made, "arguments": {}, "parse_error": f"no object: {named.get('arguments')}"}


def _event(
    request: RequestRecord, model: InspectModel, record: TrialRecord, answers: Sequence[Message], place: int
) -> dict[str, Any]:
    """Return a request as a model event. The messages are left out, because the sample contains them once."""
    own = request.role == "model"
    served = model.served_name if own else request.role
    answer = answers[place] if own and place < len(answers) else {"role": "assistant", "content": ""}
    choice = {"message": answer, "stop_reason": _stop_reason(record.status, request.finish_reason)}
    at = record.started_at + request.started
    made = {
        "event": "model",
        "model": model.name if own else request.role,
        "input": [],
        "tools": [],
        "tool_choice": "auto",
        "config": {} if request.seed is None else {"seed": request.seed},
        "output": {"model": served, "choices": [choice], "usage": token_counts(request.usage)},
        "timestamp": iso_time(at),
        "completed": iso_time(at + request.total),
        "working_start": request.started / 1e9,
        "working_time": request.total / 1e9,
        "retries": request.attempts - 1,
        "uuid": request.id,
        "metadata": {} if request.ttft is None else {"time_to_first_token": request.ttft / 1e9},
    }
    if not own:
        made["role"] = request.role
    if request.error is not None:
        made["error"] = request.error
    return made


def _usages(requests: Sequence[RequestRecord], model: str) -> dict[str, Any]:
    """Return the tokens by model. A judge's tokens are listed under the judge's role, never under the model."""
    sums: dict[str, list[Usage]] = {}
    for one in requests:
        if one.usage != Usage():
            sums.setdefault(model if one.role == "model" else one.role, []).append(one.usage)
    return {name: token_counts(sum_of_usages(usages)) for name, usages in sums.items()}


def _stop_reason(status: Status, finish: str | None) -> str:
    if status in TOKEN_LIMIT_STATUSES:
        return "max_tokens"
    if status is Status.REFUSED:
        return "content_filter"
    return INSPECT_STOP_REASONS.get(finish or "", finish or "stop")


def _limit(reason: str) -> str:
    return next((kind for word, kind in INSPECT_LIMIT_TYPES.items() if word in reason), "custom")


def _error(message: str) -> dict[str, str]:
    return {"message": message, "traceback": "", "traceback_ansi": ""}
