"""Traps in results of lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.interop.foreign_kit import WRITERS, run_of, runs_of
from tests.interop.trap_kit import (
    changed,
    cut,
    imported,
    lm_results,
    lm_samples,
    notes,
    objects,
    put_lines,
    trap,
    values,
)

from benchwright.interop.foreign_results import UnreadableResults
from benchwright.interop.result_formats import import_runs


@trap("lm-eval", "prefix")
def _(folder: Path) -> None:
    """The samples of `sums_hard` are not those of `sums`, although the one name begins with the other."""
    out = WRITERS["lm-eval"](folder, "m", [1.0, 1.0])
    lines = objects(lm_samples(out))
    put_lines(out / "samples_sums_hard_2026-11-22T10-00-00.000000.jsonl", [{**lines[0], "exact_match": 0.0}])

    def add(results: Any) -> None:
        for part in ("results", "configs", "higher_is_better"):
            results[part]["sums_hard"] = {**results[part]["sums"]}
        results["results"]["sums_hard"]["exact_match,none"] = 0.0

    changed(lm_results(out), add)
    assert {run.task: values(list(run.trials), "exact_match,none") for run in runs_of(out)} == {
        "sums": [1.0, 1.0],
        "sums_hard": [0.0],
    }


@trap("lm-eval", "version")
def _(folder: Path) -> None:
    """Before 0.4.7 a line names neither its filter nor its metrics: they are those of the results, in their order."""
    out = WRITERS["lm-eval"](folder, "m", [1.0, 0.0])
    lines = objects(lm_samples(out))
    for line in lines:
        del line["filter"], line["metrics"]
    put_lines(lm_samples(out), [{**line, "exact_match": 0.0} for line in lines] + lines)

    def two_filters(results: Any) -> None:
        results["results"]["sums"] = {"exact_match,flexible": 0.5, "exact_match,strict": 0.0}
        results["configs"]["sums"]["filter_list"] = [{"name": "strict"}, {"name": "flexible"}]

    changed(lm_results(out), two_filters)
    trials = run_of(out)[1]
    assert values(trials, "exact_match,strict") == [0.0, 0.0]
    assert values(trials, "exact_match,flexible") == [1.0, 0.0]
    assert "mean" not in notes(out)
    put_lines(lm_samples(out), lines)
    with pytest.raises(UnreadableResults, match="1 lines for the filters strict, flexible"):
        imported(out)


@trap("lm-eval", "missing")
def _(folder: Path) -> None:
    """A task of the results whose samples are not there, and samples that are only begun."""
    out = WRITERS["lm-eval"](folder, "m", [1.0, 0.0])
    put_lines(lm_samples(out), objects(lm_samples(out))[:1])
    changed(lm_results(out), lambda results: results["results"].update(other={"exact_match,none": 1.0}))
    found = import_runs(out)
    assert [str(error) for error in found.unreadable_results] == [
        f"{lm_results(out)}: the samples of other are missing (samples_other_2026-11-22T10-00-00.000000.jsonl)."
    ]
    assert "It tells of 2 trials; 1 are in its files." in notes(out)


@trap("lm-eval", "doubles")
def _(folder: Path) -> None:
    """The same line twice counts once; two that contradict each other are refused."""
    out = WRITERS["lm-eval"](folder, "m", [1.0, 0.0])
    lines = objects(lm_samples(out))
    put_lines(lm_samples(out), [*lines, lines[0]])
    assert values(run_of(out)[1], "exact_match,none") == [1.0, 0.0]
    assert "lines that stood twice, word for word, count once: 1 trial" in notes(out)
    put_lines(lm_samples(out), [*lines, {**lines[0], "exact_match": 0.0}])
    with pytest.raises(UnreadableResults, match=r"document 0 stands there twice for the filter none"):
        imported(out)


@trap("lm-eval", "beside")
def _(folder: Path) -> None:
    """A folder that is copied in two steps: the samples that came later are another import."""
    out = WRITERS["lm-eval"](folder, "m", [1.0, 0.0])
    lines = objects(lm_samples(out))
    put_lines(lm_samples(out), lines[:1])
    (first,) = imported(out)
    put_lines(lm_samples(out), lines)
    (second,) = imported(out)
    assert (second.is_new, first.directory) == (True, first.directory)
    assert second.directory != first.directory


@trap("lm-eval", "damaged")
def _(folder: Path) -> None:
    """Results that are cut short do not keep those of another model from being read."""
    WRITERS["lm-eval"](folder, "a", [1.0])
    cut(lm_results(WRITERS["lm-eval"](folder, "b", [1.0])))
    found = import_runs(folder)
    assert len(found.runs) == len(found.unreadable_results) == 1
