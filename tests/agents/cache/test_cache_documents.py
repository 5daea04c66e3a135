"""The documented figures, against what is counted by hand and by other means."""

from __future__ import annotations

import statistics
from itertools import combinations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.cache.cache_kit import manifest, run

from benchwright.agents.cache.documents import Results, Totals, output_document, score_summaries

SCORES = st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0, -2.0])


def test_figures_counted_by_hand() -> None:
    """Two rows, five runs each: 3 of 5 pass, and 0 of 5; one run failed."""
    runs = [run(0, repeat, score) for repeat, score in enumerate([1.0, 0.5, 1.0, 1.0, None])]
    runs += [run(1, repeat, 0.0) for repeat in range(5)]
    assert score_summaries(runs, ["right"], 5, 1.0) == {
        "right": {
            "mean": pytest.approx(0.35),
            "std": pytest.approx(0.45),
            "min": 0.0,
            "max": 1.0,
            "pass_at_1": pytest.approx(0.3),
            "pass_at_3": pytest.approx(0.5),
            "pass_at_5": pytest.approx(0.5),
        }
    }


def test_the_documents_own_example() -> None:
    """Seven of ten pass: 0.7 for k of 1; for 3 it is 1 - 1/120, where the document rounds to something else."""
    runs = [run(0, repeat, 0.5 if repeat < 7 else 0.4) for repeat in range(10)]
    figures = score_summaries(runs, ["right"], 10, 0.5)["right"]
    assert figures["pass_at_1"] == pytest.approx(0.7)
    assert figures["pass_at_3"] == pytest.approx(119 / 120)
    assert (figures["pass_at_5"], figures["pass_at_10"]) == (1.0, 1.0)


@given(st.lists(SCORES, min_size=1))
def test_means_and_deviations_are_those_of_all_runs(scores: list[float | None]) -> None:
    runs = [run(row, 0, score) for row, score in enumerate(scores)]
    values = [score or 0.0 for score in scores]
    figures = score_summaries(runs, ["right"], 1, 1.0)["right"]
    assert figures == {
        "mean": pytest.approx(statistics.fmean(values), abs=1e-12),
        "std": pytest.approx(statistics.pstdev(values), abs=1e-12),
        "min": min(values),
        "max": max(values),
    }


@given(st.integers(2, 11), st.sampled_from([-5.0, 0.0, 0.5, 1.0]), st.data())
def test_pass_at_k_is_the_share_of_choices_with_a_pass(n: int, threshold: float, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(SCORES, min_size=n, max_size=n), min_size=1, max_size=3))
    runs = [run(row, repeat, score) for row, scores in enumerate(rows) for repeat, score in enumerate(scores)]
    figures = score_summaries(runs, ["right"], n, threshold)["right"]
    ks = [k for k in (1, 3, 5, 10) if k <= n]
    assert [name for name in figures if name.startswith("pass")] == [f"pass_at_{k}" for k in ks]
    for k in ks:
        shares = []
        for scores in rows:
            passes = [score is not None and score >= threshold for score in scores]
            choices = [any(choice) for choice in combinations(passes, k)]
            shares.append(sum(choices) / len(choices))
        assert figures[f"pass_at_{k}"] == pytest.approx(statistics.fmean(shares))


def test_runs_that_are_still_missing_do_not_pass() -> None:
    figures = score_summaries([run(0, 0, 1.0)], ["right"], 3, 1.0)["right"]
    assert figures["mean"] == 1.0
    assert figures["pass_at_1"] == pytest.approx(1 / 3)


def test_nothing_at_all_is_0() -> None:
    assert score_summaries([], ["right"], 5, 1.0) == {
        "right": {"mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0}
    }


def test_totals_are_sums() -> None:
    totals = Totals(["right"], 1, 1.0)
    for row in range(3):
        totals.add(run(row, 0, 1.0, tokens=row))
    assert totals.totals() == {"total_runs": 3, "total_tokens": 3, "total_duration_ms": 7.5}


BOTH = [
    run(0, 0, 1.0, tag="primary"),
    run(0, 0, 0.0, tag="baseline", tokens=5),
    run(1, 0, 1.0, tag="primary"),
]


def test_the_official_figures_are_the_primarys_the_totals_of_both() -> None:
    results = Results(manifest("m", "m"), BOTH)
    assert results.summary["eval_fns"]["right"]["mean"] == 1.0
    assert (results.summary["total_runs"], results.summary["total_tokens"]) == (3, 25)
    primary, baseline = results.model_summaries
    assert (primary["model"], baseline["model"]) == ("m", "m")
    assert (primary["eval_fns"]["right"]["mean"], baseline["eval_fns"]["right"]["mean"]) == (1.0, 0.0)
    assert (primary["total_tokens"], baseline["total_tokens"]) == (20, 5)


def test_models_are_called_as_the_user_typed_them() -> None:
    typed = msgspec.structs.replace(
        manifest("gpt-5", "m"), typed_models={"primary": "openai/gpt-5", "baseline": "org/m"}
    )
    document = output_document(typed, BOTH, None)
    assert (document["config"]["model"], document["config"]["baseline_model"]) == ("openai/gpt-5", "org/m")
    assert [one["model"] for one in document["model_summaries"]] == ["openai/gpt-5", "org/m"]


def test_a_document_lists_runs_by_row_and_leaves_out_what_is_not_there() -> None:
    document = output_document(manifest("m"), [run(3, 0, 1.0), run(3, 1, None), run(5, 0, 0.5)], None)
    assert "model_summaries" not in document
    assert document["summary"]["total_rows"] == 2
    assert document["rows"] == [
        {
            "row_index": 3,
            "runs": [
                {"run_index": 0, "success": True, "scores": {"right": 1.0}, "duration_ms": 2.5, "tokens": 10},
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
                {"run_index": 0, "success": True, "scores": {"right": 0.5}, "duration_ms": 2.5, "tokens": 10}
            ],
        },
    ]


def test_one_that_was_stopped_says_so() -> None:
    assert "stopped_early" not in output_document(manifest("m"), [], None)["summary"]
    summary = output_document(manifest("m"), [run(0, 0, 1.0)], "the key is wrong")["summary"]
    assert (summary["stopped_early"], summary["stop_reason"]) == (True, "the key is wrong")
