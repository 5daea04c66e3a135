"""The results of an eval that osmosis_ai documents: the summary, and the content of the file written by `-o`.

In scores, a run without a score counts as 0.0. The standard deviation is that of a population. pass@k is
given for each k among 1, 3, 5 and 10 that is not above the number of runs per row. It is computed over the
rows with at least k runs. If some rows have fewer runs, the number of rows used is in `pass_at_rows`. The
number of scored runs and the intervals are not here, but in the engine's own summary of the run.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec import UNSET

from benchwright.agents.cache.runs import DocumentedRun, DocumentedRuns
from benchwright.records import Target
from benchwright.runs.manifest import Manifest


class DocumentedResults:
    """An eval's figures in the format that osmosis_ai documents, for all models together and for each model.

    The totals of tokens and times are complete only after `count_runs` has been iterated to its end.
    """

    def __init__(self, runs: DocumentedRuns) -> None:
        self._runs = runs
        self._manifest = runs.manifest
        self._counts: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._milliseconds: defaultdict[str, float] = defaultdict(float)

    def count_runs(self) -> Iterator[DocumentedRun]:
        """Yield the runs. Add each run's tokens and time to the totals when the run is yielded."""
        primary = self._manifest.targets[0].slot
        for run in self._runs:
            slot = run.model_tag or primary
            self._counts[slot] += 1
            self._tokens[slot] += run.tokens
            self._milliseconds[slot] += run.duration_ms
            yield run

    def _totals(self, targets: Sequence[Target]) -> dict[str, Any]:
        slots = [target.slot for target in targets]
        return {
            "total_runs": sum(self._counts[slot] for slot in slots),
            "total_tokens": sum(self._tokens[slot] for slot in slots),
            "total_duration_ms": round(math.fsum(self._milliseconds[slot] for slot in slots), 3),
        }

    def _eval_fns(self, target: Target) -> dict[str, dict[str, Any]]:
        """Return {eval function: {mean, std, min, max, pass_at_1, ...}} for one model.

        If some rows have too few runs for a k, `pass_at_rows` is added: {k: number of rows from which pass@k
        is computed}.
        """
        rows = self._runs.row_count(target)
        summaries: dict[str, dict[str, Any]] = {}
        for name, figures in self._runs.statistics(target).items():
            summary = figures._asdict()
            pass_at, of_rows = summary.pop("pass_at"), summary.pop("pass_samples")
            summary |= {f"pass_at_{k}": value for k, value in pass_at.items()}
            if any(count < rows for count in of_rows.values()):
                summary["pass_at_rows"] = {str(k): count for k, count in of_rows.items()}
            summaries[name] = summary
        return summaries

    @property
    def summary(self) -> dict[str, Any]:
        """The `summary` in cache files: the primary model's scores, and totals over the runs of all models."""
        targets = self._manifest.targets
        return {"eval_fns": self._eval_fns(targets[0]), **self._totals(targets)}

    @property
    def nested_summary(self) -> dict[str, Any]:
        """The `summary` in the file of `-o`. It is the `summary` of cache files with the number of rows added."""
        return {"total_rows": self._runs.row_count(), "total_runs": len(self._runs), **self.summary}

    @property
    def model_summaries(self) -> list[dict[str, Any]]:
        """One summary per model: first the primary model's, then the baseline's."""
        return [
            {
                "model": model_name_as_given(self._manifest, target),
                "model_tag": target.slot,
                **self._totals([target]),
                "eval_fns": self._eval_fns(target),
            }
            for target in self._manifest.targets
        ]


def output_document(runs: DocumentedRuns, stop_reason: str | None) -> dict[str, Any]:
    """Return the content of the file written by `-o`: config, summary, rows with their runs, model_summaries.

    `model_summaries` is present only with a baseline. If runs or scorers failed, the summary also has the
    reasons, each with its count (`failures`).
    """
    manifest = runs.manifest
    results = DocumentedResults(runs)
    rows = [
        {"row_index": row, "runs": [_nested(run) for run in listed]}
        for row, listed in groupby(results.count_runs(), key=lambda run: run.row_index)
    ]
    config: dict[str, Any] = {
        "model": model_name_as_given(manifest, manifest.targets[0]),
        "n_runs": manifest.repeats,
        "pass_threshold": manifest.pass_threshold,
        "eval_fns": [scorer.name for scorer in manifest.scorers],
    }
    summary = results.nested_summary
    if failures := runs.failure_reasons():
        summary |= {"failures": failures}
    if stop_reason is not None:
        summary |= {"stopped_early": True, "stop_reason": stop_reason}
    document: dict[str, Any] = {"config": config, "summary": summary, "rows": rows}
    if len(manifest.targets) > 1:
        config["baseline_model"] = model_name_as_given(manifest, manifest.targets[1])
        document["model_summaries"] = results.model_summaries
    return document


def model_name_as_given(manifest: Manifest, target: Target) -> str:
    """Return a model's name as the user typed it."""
    return manifest.typed_models.get(target.slot, target.model)


def _nested(run: DocumentedRun) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(run)
    del fields["row_index"]
    return {name: value for name, value in fields.items() if value is not None and value is not UNSET}
