"""What a run came to, from the engine's records: the pack's own result, or the documented fail and the reason."""

from __future__ import annotations

from pathlib import Path

from benchwright.packs.results import Attempt, PackResults, group_attempts, make_attempt, read_attempts
from benchwright.records import RequestRecord, Status, TrialRecord, Usage
from benchwright.runs.journal import BODIES_FILE, Journal, TrialBody, encode_json
from benchwright.runs.keys import fingerprint
from benchwright.runs.table import RunTable


def record(status: Status, *requests: RequestRecord, reason: str | None = None) -> TrialRecord:
    return TrialRecord(
        key="k", sample="A-01", target="primary", status=status, reason=reason, requests=list(requests),
        duration=1_500_000,
    )  # fmt: skip


def attempt(
    slot: str, scenario: str, status: str, outcome: Status = Status.SCORED, repeat: int = 0
) -> Attempt:
    result = {"scenarioId": scenario, "status": status, "summary": "", "rawLog": ""}
    return Attempt(slot, scenario, repeat, outcome, result, 1, 2, 3, 500_000_000)


def test_a_packs_own_result_is_kept_as_it_is() -> None:
    native = {"scenarioId": "A-01", "status": "pass", "extra": [1]}
    requests = [
        RequestRecord("1", usage=Usage(prompt_tokens=5, completion_tokens=2)),
        RequestRecord("2", role="judge", usage=Usage(prompt_tokens=50)),
    ]
    made = make_attempt(record(Status.SCORED, *requests), native)
    assert made.result is native
    assert (made.requests, made.prompt_tokens, made.completion_tokens) == (1, 5, 2)


def test_a_cell_without_a_result_is_the_documented_fail() -> None:
    made = make_attempt(record(Status.EXECUTION_ERROR, reason="the pack called process.exit(3)"), None)
    assert made.result == {
        "scenarioId": "A-01",
        "status": "fail",
        "errorType": "execution_error",
        "retryable": False,
        "score": 0,
        "summary": "the pack called process.exit(3)",
        "rawLog": "the pack called process.exit(3)",
        "verifier": {
            "status": "error",
            "summary": "the pack called process.exit(3)",
            "details": {"error": "the pack called process.exit(3)"},
        },
        "timings": {"durationMs": 1.5},
    }


def test_a_providers_failure_is_typed_and_says_its_http_status() -> None:
    failed = RequestRecord("1", http_status=429, error="HTTP 429")
    made = make_attempt(record(Status.PROVIDER_ERROR, failed, reason="HTTP 429: slow down"), None)
    assert (made.result["errorType"], made.result["retryable"]) == ("provider_error", True)
    assert made.result["verifier"]["details"] == {"error": "HTTP 429: slow down", "providerHttpStatus": 429}


def test_cells_show_each_attempt_and_what_was_no_models_fault() -> None:
    results = PackResults(
        {
            "primary": {
                "A": [attempt("primary", "A", "pass"), attempt("primary", "A", "fail", repeat=1)],
                "B": [attempt("primary", "B", "fail", Status.PROVIDER_ERROR)],
            }
        }
    )
    states = results.cell_states()
    assert states["primary", "A"].attempts == ["pass", "fail"]
    assert states["primary", "A"].seconds == 1.0
    assert states["primary", "B"].attempts == ["error"]
    assert [cell["status"] for cell in results.representative_results("primary")] == ["partial", "fail"]
    assert results.representative_results("model-2") == []


def test_an_attempt_whose_result_was_lost_is_an_error_and_no_wrong_answer(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for name in ("A", "B"):
        key = fingerprint(name)
        body = TrialBody(key, status=Status.SCORED, native={"scenarioId": name, "status": "pass"})
        journal.write_trial(TrialRecord(key, name, "primary", Status.SCORED), encode_json(body))
    journal.close()
    first, second = (tmp_path / BODIES_FILE).read_bytes().splitlines()
    (tmp_path / BODIES_FILE).write_bytes(b"x" * len(first) + b"\n" + second + b"\n")
    table = RunTable(tmp_path, effort=True)
    table.read_journal()
    results = group_attempts([attempt for _, attempt in read_attempts(table)], ["primary"], ["A", "B"])
    states = results.cell_states()
    assert (states["primary", "A"].attempts, states["primary", "B"].attempts) == (["error"], ["pass"])
    assert results.representative_results("primary")[0]["errorType"] == "execution_error"
