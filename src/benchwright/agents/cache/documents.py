"""The documented results of an eval: the summary, and what `-o` holds.

A run without a score counts as 0.0, the standard deviation is that of the population, and pass@k is given for
k of 1, 3, 5 and 10 up to the runs per row. The honest figures are in the run's own summary.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from benchwright.agents.cache.runs import DocumentedRun
from benchwright.records import Target
from benchwright.runs.manifest import Manifest


class Totals:
    """Adds up runs, of one model or of all; a few numbers per run."""

    def __init__(self, scorers: Iterable[str], repeats: int, pass_threshold: float) -> None:
        self._repeats = repeats
        self._threshold = pass_threshold
        self._values = {name: array("d") for name in scorers}
        self._passes: dict[str, dict[int, int]] = {name: {} for name in self._values}
        self.runs = 0
        self.tokens = 0
        self.duration_ms = 0.0

    def add(self, run: DocumentedRun) -> None:
        """Takes one run in."""
        self.runs += 1
        self.tokens += run.tokens
        self.duration_ms += run.duration_ms
        for name, values in self._values.items():
            score = run.scores.get(name, 0.0)
            values.append(score)
            if self._repeats > 1:
                passes = self._passes[name]
                passed = run.success and score >= self._threshold
                passes[run.row_index] = passes.get(run.row_index, 0) + passed

    def totals(self) -> dict[str, Any]:
        """The documented totals."""
        return {
            "total_runs": self.runs,
            "total_tokens": self.tokens,
            "total_duration_ms": round(self.duration_ms, 3),
        }

    def eval_fns(self) -> dict[str, dict[str, float]]:
        """{eval function: {mean, std, min, max, pass_at_1, ...}}."""
        return {name: self._summary(name) for name in self._values}

    def _summary(self, name: str) -> dict[str, float]:
        values = self._values[name]
        if not values:
            return {"mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0}
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
        summary = {"mean": mean, "std": math.sqrt(variance), "min": min(values), "max": max(values)}
        if self._repeats > 1:
            summary |= self._pass_at_k(self._passes[name])
        return summary

    def _pass_at_k(self, passes: dict[int, int]) -> dict[str, float]:
        from benchwright.stats.passk import KS, pass_at_k

        n = self._repeats
        return {
            f"pass_at_{k}": math.fsum(pass_at_k(n, min(n, count), k) for count in passes.values())
            / len(passes)
            for k in KS
            if k <= n
        }


class Results:
    """The totals of a run: of all models together, and of each."""

    def __init__(self, manifest: Manifest, runs: Iterable[DocumentedRun] = ()) -> None:
        self._manifest = manifest
        self._all = Totals((), manifest.repeats, manifest.pass_threshold)
        self._of = {target.slot: self._totals() for target in manifest.targets}
        self._rows = 0
        self._row: int | None = None
        for _ in self.counting(runs):
            pass

    def counting(self, runs: Iterable[DocumentedRun]) -> Iterator[DocumentedRun]:
        """The same runs, which are in the order of their rows, each counted as it passes."""
        primary = self._manifest.targets[0].slot
        for run in runs:
            self._all.add(run)
            self._of[run.model_tag or primary].add(run)
            if run.row_index != self._row:
                self._row = run.row_index
                self._rows += 1
            yield run

    def _totals(self) -> Totals:
        manifest = self._manifest
        return Totals((scorer.name for scorer in manifest.scorers), manifest.repeats, manifest.pass_threshold)

    @property
    def summary(self) -> dict[str, Any]:
        """The documented `summary` of cache files: the primary's scores, totals over all runs."""
        primary = self._of[self._manifest.targets[0].slot]
        return {"eval_fns": primary.eval_fns(), **self._all.totals()}

    @property
    def nested_summary(self) -> dict[str, Any]:
        """The `summary` of `-o`: also the number of rows."""
        return {"total_rows": self._rows, "total_runs": self._all.runs, **self.summary}

    @property
    def model_summaries(self) -> list[dict[str, Any]]:
        """One per model, in the order primary, baseline."""
        return [
            {
                "model": typed_model(self._manifest, target),
                "model_tag": target.slot,
                **self._of[target.slot].totals(),
                "eval_fns": self._of[target.slot].eval_fns(),
            }
            for target in self._manifest.targets
        ]


def score_summaries(
    runs: Iterable[DocumentedRun], scorers: Sequence[str], n_runs: int, pass_threshold: float
) -> dict[str, dict[str, float]]:
    """{eval function: {mean, std, min, max, pass_at_1, ...}} over all these runs."""
    totals = Totals(scorers, n_runs, pass_threshold)
    for run in runs:
        totals.add(run)
    return totals.eval_fns()


def output_document(
    manifest: Manifest, runs: Iterable[DocumentedRun], stop_reason: str | None
) -> dict[str, Any]:
    """What `-o FILE` holds: config, summary, rows with their runs, and model_summaries with a baseline."""
    results = Results(manifest)
    rows = [
        {"row_index": row, "runs": [_nested(run) for run in listed]}
        for row, listed in groupby(results.counting(runs), key=lambda run: run.row_index)
    ]
    config: dict[str, Any] = {
        "model": typed_model(manifest, manifest.targets[0]),
        "n_runs": manifest.repeats,
        "pass_threshold": manifest.pass_threshold,
        "eval_fns": [scorer.name for scorer in manifest.scorers],
    }
    summary = results.nested_summary
    if stop_reason is not None:
        summary |= {"stopped_early": True, "stop_reason": stop_reason}
    document: dict[str, Any] = {"config": config, "summary": summary, "rows": rows}
    if len(manifest.targets) > 1:
        config["baseline_model"] = typed_model(manifest, manifest.targets[1])
        document["model_summaries"] = results.model_summaries
    return document


def typed_model(manifest: Manifest, target: Target) -> str:
    """A model's name as the user typed it."""
    return manifest.typed_models.get(target.slot, target.model)


def _nested(run: DocumentedRun) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(run)
    del fields["row_index"]
    return {name: value for name, value in fields.items() if value is not None}
