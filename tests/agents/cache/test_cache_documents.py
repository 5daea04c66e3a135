"""The documents of an eval: the summary of cache files, and what `-o` holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.agents.cache.cache_kit import HandWritten, manifest, request

from benchwright.agents.cache.documents import DocumentedResults, output_document
from benchwright.records import Status


def results_of(journal: HandWritten, *models: str) -> DocumentedResults:
    results = DocumentedResults(journal.runs(manifest(*models)))
    for _ in results.count_runs():
        pass
    return results


def write_both(journal: HandWritten) -> None:
    """Two rows that the primary gets right, and one that the baseline gets wrong."""
    for row, target, value, tokens in (
        (0, "primary", 1.0, 10),
        (0, "baseline", 0.0, 5),
        (1, "primary", 1.0, 10),
    ):
        journal.trial(row, target=target, requests=[request(tokens, 0)], duration=2_500_000)
        journal.score(row, value, target=target)


def test_the_official_figures_are_the_primarys_the_totals_of_both(journal: HandWritten) -> None:
    write_both(journal)
    results = results_of(journal, "m", "m")
    assert results.summary == {
        "eval_fns": {
            "right": {"mean": 1.0, "std": 0.0, "min": 1.0, "max": 1.0},
            "short": {"mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0},
        },
        "total_runs": 3,
        "total_tokens": 25,
        "total_duration_ms": 7.5,
    }
    primary, baseline = results.model_summaries
    assert (primary["model"], baseline["model"]) == ("m", "m")
    assert (primary["eval_fns"]["right"]["mean"], baseline["eval_fns"]["right"]["mean"]) == (1.0, 0.0)
    assert (primary["total_tokens"], baseline["total_tokens"]) == (20, 5)
    assert (primary["total_runs"], baseline["total_duration_ms"]) == (2, 2.5)


def test_pass_at_k_is_named_by_k(journal: HandWritten) -> None:
    for repeat in range(3):
        journal.trial(0, repeat)
        journal.score(0, float(repeat == 0), repeat)
    summary = DocumentedResults(journal.runs(manifest("m", repeats=3))).summary["eval_fns"]["right"]
    assert list(summary) == ["mean", "std", "min", "max", "pass_at_1", "pass_at_3"]
    assert (summary["pass_at_1"], summary["pass_at_3"]) == (pytest.approx(1 / 3), 1.0)


def test_pass_at_k_is_of_the_rows_that_have_k_runs_and_says_how_many(journal: HandWritten) -> None:
    for row, repeats in ((0, 3), (1, 1)):
        for repeat in range(repeats):
            journal.trial(row, repeat)
            journal.score(row, 1.0, repeat)
    summary = DocumentedResults(journal.runs(manifest("m", repeats=5))).summary["eval_fns"]["right"]
    assert summary == {
        "mean": 1.0, "std": 0.0, "min": 1.0, "max": 1.0,
        "pass_at_1": 1.0, "pass_at_3": 1.0, "pass_at_rows": {"1": 2, "3": 1},
    }  # fmt: skip


def test_models_are_called_as_the_user_typed_them(journal: HandWritten) -> None:
    write_both(journal)
    typed = msgspec.structs.replace(
        manifest("gpt-5", "m"), typed_models={"primary": "openai/gpt-5", "baseline": "org/m"}
    )
    document = output_document(journal.runs(typed), None)
    assert (document["config"]["model"], document["config"]["baseline_model"]) == ("openai/gpt-5", "org/m")
    assert [one["model"] for one in document["model_summaries"]] == ["openai/gpt-5", "org/m"]


def test_a_document_lists_runs_by_row_and_leaves_out_what_is_not_there(journal: HandWritten) -> None:
    asked: dict[str, Any] = {"requests": [request(10, 0)], "duration": 2_500_000}
    journal.trial(5, **asked)
    journal.score(5, 0.5)
    journal.trial(3, 1, status=Status.EXECUTION_ERROR, reason="it failed", **asked)
    journal.trial(3, 0, **asked)
    journal.score(3, 1.0)
    journal.score(3, None, scorer="short", status=Status.UNPARSED)
    document = output_document(journal.runs(manifest("m", repeats=2)), None)
    assert "model_summaries" not in document
    assert (document["summary"]["total_rows"], document["summary"]["total_runs"]) == (2, 3)
    assert document["rows"] == [
        {
            "row_index": 3,
            "runs": [
                {
                    "run_index": 0,
                    "success": True,
                    "scores": {"right": 1.0, "short": 0.0},
                    "duration_ms": 2.5,
                    "tokens": 10,
                    "unscored": {"short": "unparsed"},
                },
                {
                    "run_index": 1,
                    "success": False,
                    "scores": {},
                    "duration_ms": 2.5,
                    "tokens": 10,
                    "error": "it failed",
                },
            ],
        },
        {
            "row_index": 5,
            "runs": [
                {
                    "run_index": 0,
                    "success": True,
                    "scores": {"right": 0.5, "short": 0.0},
                    "duration_ms": 2.5,
                    "tokens": 10,
                    "unscored": {"short": "grader_error"},
                }
            ],
        },
    ]


def test_one_that_was_stopped_says_so(journal: HandWritten) -> None:
    journal.trial(0)
    runs = journal.runs(manifest("m"))
    assert "stopped_early" not in output_document(runs, None)["summary"]
    summary = output_document(runs, "the key is wrong")["summary"]
    assert (summary["stopped_early"], summary["stop_reason"]) == (True, "the key is wrong")


def test_an_eval_of_which_nothing_is_done_has_a_document(journal: HandWritten) -> None:
    document = output_document(journal.runs(manifest("m", repeats=5)), None)
    assert document["rows"] == []
    assert document["summary"]["total_runs"] == 0
    assert document["summary"]["eval_fns"]["right"] == {"mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0}
