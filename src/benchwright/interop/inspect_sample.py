"""Converts a sample of an Inspect log to a trial: its conversation, its requests and its scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchwright.interop.foreign_results import ForeignScore, ForeignTrial, UnreadableResults
from benchwright.interop.messages import openai_tool_call
from benchwright.interop.untrusted_files import (
    count_or_none,
    number_or_none,
    object_or_empty,
    objects_in_list,
    parse_time,
    text_or_empty,
    to_nanoseconds,
)
from benchwright.records import Message, RequestRecord, Status, Usage
from benchwright.text import one_line

SCORE_BY_LETTER = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Mapping from the letters that Inspect uses as scores to values: correct, partly correct, incorrect, no answer."""

SCORE_BY_WORD = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

MAX_LABEL_LENGTH = 60
MAX_REASON_LENGTH = 500
MAX_SCORE_PARTS = 64
"""Maximum length of a list that is the value of a score, if its items are to become scores of their own.

A longer list is not read as scores; a remark on the trial reports it.
"""
INVALID_SAMPLE_NOTE = (
    "It was marked as invalid in Inspect, whose own metrics may count it; it has no score here"
)
ATTACHMENT_PREFIX = "attachment://"
EXPORT_KEY = "benchwright"
"""Key in a sample's metadata under which Benchwright's export stores data for which Inspect's format has no field."""

STATUS_NAMES = frozenset(Status)
STATUS_BY_STOP_REASON = {
    "max_tokens": Status.TRUNCATED,
    "model_length": Status.TRUNCATED,
    "content_filter": Status.REFUSED,
}


def trial_of(sample: Mapping[str, Any], model: str, where: str, scorer: str = "scorer") -> ForeignTrial:
    """Return the trial of one sample at one epoch.

    `model`: the evaluated model of the log. `scorer`: the name of the only scorer of an early log, in which
    samples do not name their scorer.

    Raises:
        UnreadableResults: If the sample has no id.
    """
    sample_id = sample.get("id")
    if not isinstance(sample_id, str | int):
        raise UnreadableResults(f"{where}: a sample without an id.")
    events = (
        object_or_empty(sample.get("transcript")) or sample
    )  # early versions have both below `transcript`
    attachments = object_or_empty(events.get("attachments")) or object_or_empty(events.get("content"))
    messages = [to_openai_message(one, attachments) for one in objects_in_list(sample.get("messages"))]
    status, reason = _status(sample)
    scores, labels, remarks = _scores(_graded(sample, scorer))
    ours = object_or_empty(object_or_empty(sample.get("metadata")).get(EXPORT_KEY))
    if text_or_empty(ours.get("status")) in STATUS_NAMES:
        status, reason = Status(ours["status"]), text_or_empty(ours.get("reason")) or None
    for name, unscored in object_or_empty(ours.get("unscored")).items():
        if text_or_empty(unscored) in STATUS_NAMES:
            scores[name] = ForeignScore(None, Status(unscored))
    if scores and status is Status.EXECUTION_ERROR:
        status, labels = Status.ANSWERED, {**labels, "error": one_line(reason or "", MAX_LABEL_LENGTH)}
    if invalid := object_or_empty(sample.get("invalidation")):
        scores, remarks = {}, [*remarks, INVALID_SAMPLE_NOTE]
        status = Status.EXECUTION_ERROR
        reason = one_line(
            text_or_empty(invalid.get("reason")) or "it was marked as invalid", MAX_REASON_LENGTH
        )
    return ForeignTrial(
        sample=str(sample_id),
        repeat=max(0, (count_or_none(sample.get("epoch")) or 1) - 1),
        status=status,
        reason=reason,
        scores=scores,
        input=_input(sample, attachments),
        target=_target(sample.get("target")),
        messages=messages,
        answer=text_or_empty(object_or_empty(sample.get("output")).get("completion")),
        requests=list(_requests(sample, events.get("events"), model)),
        started_at=parse_time(sample.get("started_at")),
        duration=to_nanoseconds(sample.get("total_time")),
        group=text_or_empty(ours.get("group")) or None,
        labels={**_labels(object_or_empty(sample.get("metadata"))), **labels},
        remarks=tuple(remarks),
    )


def _graded(sample: Mapping[str, Any], scorer: str) -> dict[str, Any]:
    """Return the scores of a sample, as a mapping from the name of the scorer."""
    if "scores" in sample or not object_or_empty(sample.get("score")):
        return object_or_empty(sample.get("scores"))
    return {scorer: sample["score"]}


def _status(sample: Mapping[str, Any]) -> tuple[Status, str | None]:
    """Return (status, reason) of a sample.

    If the sample was cancelled together with the whole log, the status is `cancelled`. An attempt with this
    status does not count.
    """
    error, limit = sample.get("error"), object_or_empty(sample.get("limit"))
    if error:
        told = one_line(text_or_empty(object_or_empty(error).get("message")) or str(error), MAX_REASON_LENGTH)
        return (Status.CANCELLED if told.startswith("CancelledError(") else Status.EXECUTION_ERROR), told
    if limit:
        return Status.LIMIT, one_line(
            text_or_empty(limit.get("reason")) or f"{limit.get('type')} limit", MAX_REASON_LENGTH
        )
    choices = objects_in_list(object_or_empty(sample.get("output")).get("choices"))
    stop_reason = text_or_empty(choices[0].get("stop_reason")) if choices else ""
    status = STATUS_BY_STOP_REASON.get(stop_reason, Status.ANSWERED)
    return status, None if status is Status.ANSWERED else f"stop reason {stop_reason}"


def _scores(
    scores: Mapping[str, Any],
) -> tuple[dict[str, ForeignScore], dict[str, str], list[str]]:
    """Return (scores, labels, remarks) of a sample.

    Values become numbers by Inspect's own rule. Texts that do not become numbers become labels.

    If the value of a score is a mapping, each entry becomes a score of its own, named by its key. If the
    value is a list, each item becomes a score of its own, named by its index from 0.
    """
    found: dict[str, ForeignScore] = {}
    labels: dict[str, str] = {}
    remarks: list[str] = []
    for scorer, score in scores.items():
        given = object_or_empty(score)
        value = given.get("value")
        if isinstance(value, list) and len(value) > MAX_SCORE_PARTS:
            remarks.append(
                f"{scorer}: a list of more than {MAX_SCORE_PARTS} values, which are not read as scores"
            )
            continue
        for part, one in _parts(value):
            name = scorer if part is None else f"{scorer}.{part}"
            worth = _worth(one)
            if worth is not None:
                found[name] = ForeignScore(
                    worth,
                    span=text_or_empty(given.get("answer")) or None,
                    explanation=text_or_empty(given.get("explanation")) or None,
                    detail=object_or_empty(given.get("metadata")) or None,
                )
            elif isinstance(one, str):
                labels[name] = one_line(one, MAX_LABEL_LENGTH)
    return found, labels, remarks


def _parts(value: Any) -> Iterable[tuple[str | None, Any]]:
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, list):
        return [(str(place), one) for place, one in enumerate(value)]
    return [(None, value)]


def _worth(value: Any) -> float | None:
    if not isinstance(value, str):
        return number_or_none(value)
    known = SCORE_BY_LETTER.get(value, SCORE_BY_WORD.get(value.lower()))
    if known is not None:
        return known
    try:
        worth = float(value)
    except ValueError:
        return None
    return worth if math.isfinite(worth) else None


def _requests(sample: Mapping[str, Any], written: Any, model: str) -> Iterator[RequestRecord]:
    """Yield a request record for each model event.

    If there are no events, yield one record per model, with the model's total usage and unknown times.
    """
    events = [one for one in objects_in_list(written) if one.get("event") == "model"]
    for turn, event in enumerate(events):
        output = object_or_empty(event.get("output"))
        role = text_or_empty(event.get("role")) or (
            "model" if event.get("model") == model else text_or_empty(event.get("model"))
        )
        error = event.get("error")
        choices = objects_in_list(output.get("choices"))
        yield RequestRecord(
            id=_request_id(event) or f"{sample.get('id')}-{sample.get('epoch')}-{turn}",
            role=role or "model",
            turn=turn,
            total=to_nanoseconds(event.get("working_time")) or to_nanoseconds(output.get("time")),
            usage=usage_of(object_or_empty(output.get("usage"))),
            finish_reason=text_or_empty(choices[0].get("stop_reason")) or None if choices else None,
            attempts=1 + (count_or_none(event.get("retries")) or 0),
            error=one_line(str(error), MAX_REASON_LENGTH) if error else None,
        )
    if not events:
        for name, usage in object_or_empty(sample.get("model_usage")).items():
            role = "model" if name == model else name
            yield RequestRecord(
                f"{sample.get('id')}-{sample.get('epoch')}-{name}",
                role,
                usage=usage_of(object_or_empty(usage)),
            )


def _request_id(event: Mapping[str, Any]) -> str:
    """Return the id that was sent with the request, if the log has it (`--log-model-api`).

    Otherwise return the event's id.
    """
    headers = object_or_empty(
        object_or_empty(object_or_empty(event.get("call")).get("request")).get("extra_headers")
    )
    return text_or_empty(headers.get("x-irid")) or text_or_empty(event.get("uuid"))


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Convert Inspect's token counts to a server's usage.

    Inspect's input excludes the tokens that were read from or written to a cache. They are added here.
    """
    read, written = (count_or_none(usage.get(f"input_tokens_cache_{name}")) for name in ("read", "write"))
    fresh = count_or_none(usage.get("input_tokens"))
    return Usage(
        prompt_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        completion_tokens=count_or_none(usage.get("output_tokens")),
        cached_tokens=read,
        reasoning_tokens=count_or_none(usage.get("reasoning_tokens")),
    )


def to_openai_message(message: Mapping[str, Any], attachments: Mapping[str, Any]) -> Message:
    """Convert one of Inspect's messages to the OpenAI format."""
    content, reasoning = _content(message.get("content"), attachments)
    made: Message = {"role": text_or_empty(message.get("role")) or "user", "content": content}
    if reasoning:
        made["reasoning_content"] = reasoning
    if calls := [_tool_call(one) for one in objects_in_list(message.get("tool_calls"))]:
        made["tool_calls"] = calls
    if isinstance(message.get("tool_call_id"), str):
        made["tool_call_id"] = message["tool_call_id"]
    return made


def _content(content: Any, attachments: Mapping[str, Any]) -> tuple[Any, str]:
    """Return (content, reasoning) of a message.

    The content is text. If some parts of the message are not text, it is a list of parts.
    """
    if not isinstance(content, list):
        return _attached(content, attachments), ""
    reasoning = [
        text_or_empty(one.get("reasoning"))
        for one in objects_in_list(content)
        if one.get("type") == "reasoning"
    ]
    parts: list[dict[str, Any]] = []
    for one in objects_in_list(content):
        if one.get("type") == "text":
            parts.append({"type": "text", "text": _attached(one.get("text"), attachments)})
        elif one.get("type") == "image":
            parts.append(
                {"type": "image_url", "image_url": {"url": _attached(one.get("image"), attachments)}}
            )
        elif one.get("type") != "reasoning":
            parts.append({"type": "text", "text": f"[{one.get('type')}]"})
    only_text = all(part["type"] == "text" for part in parts)
    whole = "\n".join(part["text"] for part in parts) if only_text else parts
    return whole, "\n".join(reasoning)


def _attached(value: Any, attachments: Mapping[str, Any]) -> str:
    """Return a value as text. If it is a reference to an attachment, return the text of the attachment."""
    found = text_or_empty(value)
    if not found.startswith(ATTACHMENT_PREFIX):
        return found
    return text_or_empty(attachments.get(found.removeprefix(ATTACHMENT_PREFIX))) or found


def _tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return openai_tool_call(
        text_or_empty(call.get("id")), text_or_empty(call.get("function")), call.get("arguments")
    )


def _input(sample: Mapping[str, Any], attachments: Mapping[str, Any]) -> str | None:
    """Return the question in readable form.

    It is the text of the question or of the user's messages, followed by the lettered choices.
    """
    given = sample.get("input")
    if isinstance(given, list):
        said = [
            to_openai_message(one, attachments)["content"]
            for one in objects_in_list(given)
            if one.get("role") == "user"
        ]
        asked = "\n\n".join(_text_of(content) for content in said)
    else:
        asked = _attached(given, attachments)
    choices = sample.get("choices")
    if isinstance(choices, list) and choices and len(choices) <= 26:
        asked += "".join(f"\n{chr(65 + place)}) {choice}" for place, choice in enumerate(choices))
    return asked or None


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        text_or_empty(part.get("text")) for part in objects_in_list(content) if part.get("type") == "text"
    )


def _target(target: Any) -> str | None:
    if isinstance(target, list):
        return ", ".join(str(one) for one in target) or None
    return str(target) if isinstance(target, str | int | float) and target != "" else None


def _labels(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the short texts in a sample's metadata as labels, by which scores can be broken down."""
    return {
        name: value
        for name, value in metadata.items()
        if isinstance(value, str) and 0 < len(value) <= MAX_LABEL_LENGTH and value.isprintable()
    }
