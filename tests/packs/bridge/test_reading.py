"""What packs give back, read leniently: whatever it is, it is a result, or an error of one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import ExecutionError
from benchwright.packs.bridge.cell import ProviderFailure
from benchwright.packs.bridge.result_parsing import (
    add_provider_failure,
    parse_result,
    parse_scenarios,
    parse_score,
)
from benchwright.packs.types import ToolCall, VerifierEndpoint, to_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
RESULT_KEYS = (
    *("errorType", "retryable", "score", "points", "summary", "note", "rawLog", "output", "verifier"),
    *("artifacts", "timings", "unit"),
)

FULL = {
    "scenarioId": "A-01",
    "status": "partial",
    "errorType": "execution_error",
    "retryable": False,
    "score": 50,
    "points": 1.5,
    "summary": "half",
    "note": "n",
    "rawLog": "one\ntwo",
    "output": {
        "finalAnswer": "4",
        "assistantMessages": ["a"],
        "toolCalls": [{"id": "c", "name": "add", "rawArguments": "{", "turn": 2}],
        "toolResults": [{"callId": "c", "name": "add", "result": {"sum": 4}}],
    },
    "verifier": {"status": "ok", "summary": "fine", "details": {"n": 1}},
    "artifacts": [{"kind": "file", "label": "out", "path": "out.txt", "contentType": "text/plain"}],
    "timings": {
        "startedAt": "2026-01-01T00:00:00Z",
        "completedAt": "2026-01-01T00:00:01Z",
        "durationMs": 1000,
    },
}


def test_every_field_of_the_protocol_is_read() -> None:
    result = parse_result(FULL, "A-01")
    assert (result.status, result.error_type, result.retryable) == ("partial", "execution_error", False)
    assert (result.score, result.points, result.summary, result.note) == (50.0, 1.5, "half", "n")
    assert result.raw_log == "one\ntwo"
    assert result.output is not None
    assert result.output.tool_calls == [ToolCall("c", "add", "{", 2)]
    assert result.output.tool_results[0].result == {"sum": 4}
    assert result.verifier is not None
    assert result.verifier.details == {"n": 1}
    assert result.artifacts[0].content_type == "text/plain"
    assert result.timings is not None
    assert result.timings.duration_ms == 1000
    assert result.raw is FULL


@given(st.dictionaries(st.sampled_from(RESULT_KEYS), JSON))
def test_a_result_with_anything_in_it_is_read_unless_its_score_is_no_number(parts: dict[str, Any]) -> None:
    value = {"scenarioId": "A-01", "status": "pass", **parts}
    odd = [key for key in ("score", "points") if not is_number(parts.get(key))]
    if odd:
        with pytest.raises(ExecutionError, match=f"^{odd[0]} is .* where a number is expected$"):
            parse_result(value, "A-01")
    else:
        assert parse_result(value, "A-01").raw == value


def is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


@given(JSON)
def test_what_a_pack_returns_instead_of_a_result_is_refused_in_one_line(value: Any) -> None:
    for read in (lambda: parse_result(value, "A-01"), lambda: parse_score(value)):
        with pytest.raises(ExecutionError, match=r"\A[^\n]+\Z"):
            read()


LISTED = st.fixed_dictionaries(
    {"id": st.sampled_from(["a", "b", "c"])}, optional={"title": JSON, "tags": JSON, "detailCards": JSON}
)


@given(st.lists(LISTED, max_size=3))
def test_scenarios_are_read_in_order_and_each_once(listed: list[dict[str, Any]]) -> None:
    ids = [item["id"] for item in listed]
    if len(set(ids)) < len(ids):
        with pytest.raises(ExecutionError, match="two scenarios with the id"):
            parse_scenarios(listed)
    else:
        assert [scenario.id for scenario in parse_scenarios(listed)] == ids


@pytest.mark.parametrize(
    ("value", "trouble", "marked"),
    [
        ({"status": "fail"}, ProviderFailure("HTTP 503", 503, retryable=True), ("provider_error", True)),
        ({"status": "fail", "errorType": "execution_error"}, ProviderFailure("x"), ("execution_error", None)),
        ({"status": "partial"}, ProviderFailure("x"), (None, None)),
        ({"status": "fail"}, None, (None, None)),
    ],
)
def test_only_an_unexplained_fail_is_blamed_on_the_provider(
    value: dict[str, Any], trouble: ProviderFailure | None, marked: tuple[str | None, bool | None]
) -> None:
    found = add_provider_failure(value, trouble)
    assert (found.get("errorType"), found.get("retryable")) == marked


def test_what_a_pack_is_given_has_the_protocols_names_and_nothing_that_is_unset() -> None:
    endpoint = VerifierEndpoint(
        "v", "docker", True, "running", url="http://127.0.0.1:1", docker_image_present=True
    )
    assert to_json(endpoint) == {
        "transport": "http",
        "id": "v",
        "mode": "docker",
        "required": True,
        "status": "running",
        "url": "http://127.0.0.1:1",
        "dockerImagePresent": True,
    }
