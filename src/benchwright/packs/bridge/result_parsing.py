"""Converts a pack's return values into the protocol's data types.

Required fields must be valid. Malformed optional fields are ignored. JSON cannot represent some numbers, and
has null in their place. `odd` is a mapping from the keys of these numbers to "NaN" or "Infinity". Keys of the
returned object itself begin with ".".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from benchwright.errors import ExecutionError
from benchwright.packs.bridge.cell import ProviderFailure
from benchwright.packs.types import (
    ArtifactRef,
    BenchmarkScore,
    CategoryScore,
    DetailCard,
    ModelOutput,
    ScenarioMeta,
    ScenarioResult,
    Timings,
    VerifierResult,
)

RESULT_STATUSES = ("pass", "partial", "fail")

ParsedType = TypeVar("ParsedType")


def parse_scenarios(value: Any) -> list[ScenarioMeta]:
    """Convert the return value of `listScenarios`, keeping the order of the scenarios.

    Raises:
        ExecutionError: If the value is not a list, or if a scenario has no id or the id of another scenario.
    """
    if not isinstance(value, list):
        raise ExecutionError(f"listScenarios() returned {json_type_name(value)} where a list is expected")
    scenarios = [_scenario(item, at) for at, item in enumerate(value, 1)]
    seen: set[str] = set()
    for scenario in scenarios:
        if scenario.id in seen:
            raise ExecutionError(f"listScenarios() returned two scenarios with the id {scenario.id!r}")
        seen.add(scenario.id)
    return scenarios


def _scenario(item: Any, at: int) -> ScenarioMeta:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str) or not item["id"]:
        raise ExecutionError(f"listScenarios() returned no id for its scenario number {at}")
    return ScenarioMeta(
        id=item["id"],
        title=_text(item, "title") or item["id"],
        category=_text(item, "category"),
        tags=_each(item.get("tags"), str),
        description=_text(item, "description"),
        prompt_text=_text(item, "promptText"),
        detail_cards=_each(item.get("detailCards"), DetailCard),
        raw=item,
    )


def parse_result(value: Any, scenario_id: str, odd: Mapping[str, str] = {}) -> ScenarioResult:
    """Convert a scenario's result. Malformed optional fields are kept in `raw` only.

    Raises:
        ExecutionError: If the value is not a result of this scenario (not an object, another scenario's id,
            or no valid status), or if its score is not a number.
    """
    if not isinstance(value, dict):
        raise ExecutionError(f"the scenario returned {json_type_name(value)} where a result is expected")
    if value.get("scenarioId") != scenario_id:
        other = value.get("scenarioId")
        what = f"of scenario {other!r}"[:100] if isinstance(other, str) else "without a scenarioId"
        raise ExecutionError(f"the scenario returned a result {what}")
    status = value.get("status")
    if status not in RESULT_STATUSES:
        has = "no status" if status is None else f"the status {status!r}"[:100]
        raise ExecutionError(f"the scenario's result has {has}; it must be pass, partial or fail")
    return ScenarioResult(
        scenario_id=scenario_id,
        status=status,
        error_type=_text(value, "errorType"),
        retryable=_part(value.get("retryable"), bool),
        score=_number(value, "score", odd),
        points=_number(value, "points", odd),
        summary=_text(value, "summary") or "",
        note=_text(value, "note"),
        raw_log=_text(value, "rawLog") or "",
        output=_part(value.get("output"), ModelOutput),
        verifier=_part(value.get("verifier"), VerifierResult),
        artifacts=_each(value.get("artifacts"), ArtifactRef),
        timings=_part(value.get("timings"), Timings),
        raw=value,
    )


def parse_score(value: Any, odd: Mapping[str, str] = {}) -> BenchmarkScore:
    """Convert a model's score. The score of a category is None if it is not a number.

    Raises:
        ExecutionError: If the value is not an object, or if its total score is missing or not a number.
    """
    if not isinstance(value, dict):
        raise ExecutionError(
            f"scoreModelResults() returned {json_type_name(value)} where a score is expected"
        )
    total = _number(value, "totalScore", odd)
    if total is None:
        raise ExecutionError("scoreModelResults() returned no totalScore")
    categories = value.get("categories")
    return BenchmarkScore(
        total_score=total,
        categories=[_category(item) for item in categories or [] if isinstance(item, dict)]
        if isinstance(categories, list)
        else [],
        summary=_text(value, "summary"),
        total_unit=_text(value, "totalUnit"),
        raw=value,
    )


def _category(item: dict[str, Any]) -> CategoryScore:
    name = item.get("id") or item.get("label") or ""
    return CategoryScore(
        id=str(name),
        label=_text(item, "label") or str(name),
        score=_part(item.get("score"), float),
        weight=_part(item.get("weight"), float),
        unit=_text(item, "unit"),
    )


def add_provider_failure(value: dict[str, Any], trouble: ProviderFailure | None) -> dict[str, Any]:
    """Add a provider failure to a result whose status is "fail". Return other results unchanged.

    The result is marked as a provider error, unless it has an `errorType` of its own. The HTTP status, if
    there is one, is added to the verifier's details.
    """
    if trouble is None or value.get("status") != "fail":
        return value
    if not value.get("errorType"):
        value = {**value, "errorType": "provider_error", "retryable": trouble.retryable}
    if trouble.http_status is None:
        return value
    verifier = _object(value.get("verifier"))
    told = {"providerHttpStatus": trouble.http_status, "providerResponseBlank": trouble.has_empty_body}
    defaults = {"status": "fail", "summary": f"The provider answered with {trouble.message}."}
    return {
        **value,
        "verifier": {**defaults, **verifier, "details": {**_object(verifier.get("details")), **told}},
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def json_type_name(value: Any) -> str:
    """Return the type of a JSON value in a word or two, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    kinds: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}
    return kinds.get(type(value), "a number")


def _number(value: dict[str, Any], key: str, odd: Mapping[str, str]) -> float | None:
    number = value.get(key)
    if f".{key}" in odd:
        raise ExecutionError(f"{key} is {odd[f'.{key}']}")
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ExecutionError(f"{key} is {json_type_name(number)} where a number is expected")
    return float(number)


def _text(value: dict[str, Any], key: str) -> str | None:
    text = value.get(key)
    return text if isinstance(text, str) else None


def _part(value: Any, kind: type[ParsedType]) -> ParsedType | None:
    try:
        return None if value is None else msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return None


def _each(values: Any, kind: type[ParsedType]) -> list[ParsedType]:
    if not isinstance(values, list):
        return []
    return [part for item in values if (part := _part(item, kind)) is not None]
