"""The events of a pack's run as readable lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.formats import count_with_noun, format_duration
from benchwright.packs.events import ProgressEvent
from benchwright.text import one_line

MAX_SUMMARY_LENGTH = 60
"""Maximum number of characters of a result's summary."""


def event_line(event: ProgressEvent, labels: Mapping[str, str]) -> str:
    """Describe an event in one line. `labels`: mapping from model id to label.

    An event of an unknown type, as later hosts may write, is described by the name of its type.
    """
    model = labels.get(str(event.get("modelId")), str(event.get("modelId")))
    scenario = event.get("scenarioId")
    match event.get("type"):
        case "run_started":
            models = count_with_noun(len(event.get("models", [])), "model")
            text = f"run started: {models}, {count_with_noun(event.get('totalScenarios', 0), 'scenario')}"
        case "verifier_preparing":
            text = f"verifier {event.get('verifierId')}: {event.get('message')}"
        case "scenario_started":
            text = f"{scenario} started ({event.get('index')} of {event.get('total')}): {event.get('title')}"
        case "model_progress":
            text = f"{scenario} {model}: {event.get('message')}"
        case "scenario_result":
            text = f"{scenario} {model}: {_result(event.get('result') or {})}"
        case "scenario_finished":
            text = f"{scenario} finished"
        case "run_finished":
            totals = (f"{labels.get(name, name)} {_total(score)}" for name, score in _scores(event).items())
            text = f"run finished: {', '.join(totals)}"
        case "run_error":
            text = f"run ended early: {event.get('message')}"
        case other:
            text = str(other)
    return one_line(text)


def _result(result: Mapping[str, Any]) -> str:
    score = result.get("score")
    spent = (result.get("timings") or {}).get("durationMs")
    parts = [
        str(result.get("status")),
        f"{score:g}" if isinstance(score, int | float) else "",
        format_duration(spent / 1000) if isinstance(spent, int | float) else "",
        one_line(str(result.get("summary") or ""), MAX_SUMMARY_LENGTH),
    ]
    return ", ".join(part for part in parts if part)


def _scores(event: ProgressEvent) -> Mapping[str, Any]:
    scores = event.get("scores")
    return scores if isinstance(scores, dict) else {}


def _total(score: Any) -> str:
    total = score.get("totalScore") if isinstance(score, dict) else None
    return f"{total:g}" if isinstance(total, int | float) else "without a total"
