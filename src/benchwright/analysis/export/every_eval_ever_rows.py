"""A trial as rows of Every Eval Ever, one for each score.

The shapes follow every_eval_ever/schemas/instance_level_eval.schema.json, version 0.3.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchwright.analysis.export.counted_trials import CountedTrial
from benchwright.analysis.export.token_usages import sum_of_usages, token_counts
from benchwright.analysis.report.messages import ParsedCall, ParsedMessage, parse_messages
from benchwright.analysis.scores import ScoreScale, score_scale_of
from benchwright.analysis.trial_preview import TrialPreview, trial_preview
from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.packs.types import PASSED, SCORE
from benchwright.records import RequestRecord
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.flags import FLAGS_KEY
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import Manifest

SCHEMA_VERSION = "0.3.0"


class GradedScore(NamedTuple):
    """A score of a run, with the name and id of its figure, and the rule by which a trial passes."""

    name: str
    evaluation_id: str
    result_id: str
    scale: ScoreScale
    passing_score: str

    @classmethod
    def from_score(cls, manifest: Manifest, name: str, result: str) -> GradedScore:
        """Create the record of one score of a run.

        If the score is a pack's, the pack's own status decides whether a trial passes.
        """
        decided_by = PASSED if manifest.kind == "pack" and name == SCORE else name
        scale = score_scale_of(manifest, decided_by)
        return cls(name, f"{manifest.task.name}/{name}", result, scale, decided_by)

    def passes(self, counted: CountedTrial) -> bool:
        """Return True if the trial passes by this score. If no pass threshold is known, only a score of 1 passes."""
        state, value = counted.score(self.passing_score)
        if state is not ScoreState.SCORED or self.scale.lower_is_better:
            return False
        return value >= (1.0 if self.scale.pass_threshold is None else self.scale.pass_threshold)


def score_rows_of(
    counted: CountedTrial, scores: Sequence[GradedScore], evaluation: str, model: str
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a trial. The fields that all rows share are built once."""
    trial, body = counted.trial, counted.body
    messages, _ = parse_messages(body, (), 0, 1 << 30)
    told = trial_preview(trial, body)
    shared = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation,
        "model_id": model,
        "sample_id": trial.record.sample,
        "input": {"raw": told.input or "", "reference": [] if told.target is None else [told.target]},
        **_conversation(messages, told),
        **_effort(counted.requests),
        "metadata": _metadata(counted),
    }
    for score in scores:
        yield {**shared, **_graded(counted, score, messages)}


def _graded(counted: CountedTrial, score: GradedScore, messages: Sequence[ParsedMessage]) -> dict[str, Any]:
    """Return the fields of a row that depend on one score.

    A failed trial has no score. Its row has 0, because the format requires a number, and the reason in `error`.
    """
    state, value = counted.score(score.name)
    calls = sum(len(one.calls) for one in messages)
    made: dict[str, Any] = {
        "evaluation_name": score.evaluation_id,
        "evaluation_result_id": score.result_id,
        "answer_attribution": _attribution(counted, score.name, messages),
        "evaluation": {
            "score": value,
            "is_correct": score.passes(counted),
            "num_turns": max(1, sum(one.role == "assistant" for one in messages)),
            "tool_calls_count": calls,
        },
    }
    if state is ScoreState.FAILED:
        trial = counted.trial
        found = trial.scores.get(score.name)
        failure = (found.detail or {}).get("error") if found is not None else None
        made["error"] = str(failure or trial.record.reason or trial.status)
    return made


def _attribution(
    counted: CountedTrial, score: str, messages: Sequence[ParsedMessage]
) -> list[dict[str, Any]]:
    found = counted.trial.scores.get(score)
    if found is None or found.span is None:
        return []
    kind = _kind(messages)
    last = max((place for place, one in enumerate(messages) if one.role == "assistant"), default=0)
    return [
        {
            "turn_idx": 0 if kind == "single_turn" else last,
            "source": "output.raw" if kind == "single_turn" else f"messages[{last}].content",
            "extracted_value": found.span,
            "extraction_method": score,
            "is_terminal": True,
        }
    ]


def _kind(messages: Sequence[ParsedMessage]) -> str:
    if any(one.calls or one.role == "tool" for one in messages):
        return "agentic"
    said = [one.role for one in messages if one.role in ("user", "assistant")]
    return "single_turn" if len(said) <= 2 else "multi_turn"


def _conversation(messages: Sequence[ParsedMessage], told: TrialPreview) -> dict[str, Any]:
    kind = _kind(messages)
    if kind != "single_turn":
        return {
            "interaction_type": kind,
            "messages": [_message(place, one) for place, one in enumerate(messages)],
        }
    reasoning = [one.reasoning for one in messages if one.reasoning]
    answers = [one.text for one in messages if one.role == "assistant"] or [told.answer or ""]
    return {
        "interaction_type": kind,
        "output": {"raw": answers, **({"reasoning_trace": reasoning} if reasoning else {})},
    }


def _message(place: int, message: ParsedMessage) -> dict[str, Any]:
    made: dict[str, Any] = {"turn_idx": place, "role": message.role, "content": message.text}
    if message.reasoning:
        made["reasoning_trace"] = message.reasoning
    if message.calls:
        made["tool_calls"] = [_call(number, call) for number, call in enumerate(message.calls)]
    answers = message.message.get("tool_call_id")
    if message.role == "tool" and isinstance(answers, str):
        made["tool_call_id"] = [answers]
    return made


def _call(number: int, call: ParsedCall) -> dict[str, Any]:
    """Return a tool call. All values of its arguments are converted to strings."""
    read = read_object_arguments(call.arguments, lenient=True)
    arguments = {"raw": call.arguments} if read is None else read
    texts = {
        str(name): value if isinstance(value, str) else encode_json(value).decode(errors="replace")
        for name, value in arguments.items()
    }
    return {"id": call.id or f"call-{number}", "name": call.name, "arguments": texts}


def _effort(requests: Sequence[RequestRecord]) -> dict[str, Any]:
    """Return the token usage, if a server reported both kinds of tokens, and the times, if there are any."""
    made: dict[str, Any] = {}
    usage = sum_of_usages([one.usage for one in requests])
    if usage.prompt_tokens is not None and usage.completion_tokens is not None:
        made["token_usage"] = token_counts(usage)
    times: dict[str, float] = {}
    if latency := sum(one.total for one in requests):
        times["latency_ms"] = latency / 1e6
    if requests and (first := requests[0].ttft) is not None:
        times["time_to_first_token_ms"] = first / 1e6
        times["generation_time_ms"] = (
            sum(one.total - one.ttft for one in requests if one.ttft is not None) / 1e6
        )
    if times:
        made["performance"] = times
    return made


def _metadata(counted: CountedTrial) -> dict[str, str]:
    trial = counted.trial
    record = trial.record
    known = {"status": str(trial.status), "repeat": str(record.repeat), "trial": counted.unique_id}
    grouped = {} if record.group is None else {"group": record.group}
    flagged = {FLAGS_KEY: ", ".join(dict.fromkeys(flag.kind for flag in trial.flags))} if trial.flags else {}
    return {**record.labels, **grouped, **flagged, **known}
