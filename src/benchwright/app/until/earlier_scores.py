"""Existing answers to the samples of a run with `--until`: of the old model (`--against`), and of other models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from benchwright.analysis.comparison.comparability import refusal_reasons
from benchwright.analysis.comparison.references import resolve_reference
from benchwright.analysis.comparison.sides import ERROR, Side
from benchwright.analysis.comparison.sides_from_table import RunSides, side_facts_of
from benchwright.analysis.deciding.score_bounds import scale_score, score_range
from benchwright.app.manifests import manifest_of
from benchwright.app.prepared_run import RunRequest
from benchwright.errors import BenchwrightError, UserError
from benchwright.home import runs_directory
from benchwright.runs.keys import TrialKeys
from benchwright.runs.manifest import MANIFEST_FILE, Manifest, read_manifest
from benchwright.runs.question import EarlierScores
from benchwright.text import Say, make_safe

MAX_OTHER_MODELS = 8
"""Maximum number of other models whose answers are used. Further models would add little."""
MAX_RUNS_SEARCHED = 50
"""Number of runs, newest first, that are searched for answers of other models."""

ScoreBounds = dict[str, tuple[float, float]]
"""For each sample id, the lower and upper bound of the sample's score, from 0 to 1."""


def find_earlier_scores(
    request: RunRequest, reference: str, scores: list[str], *, finite: bool, say: Say
) -> EarlierScores:
    """Return the old model's scores on the samples of this run.

    `reference`: an earlier run, whose samples are matched by trial key (content, agent or prompt, and its
    limits), or a result file, whose samples are matched by id.

    Raises:
        UserError: If there is no such run or file, it lacks a score, or it is not comparable with this run.
    """
    manifest = manifest_of(request, "", request.fingerprint, 0)
    found = resolve_reference(reference)
    side = found.sides(all_slots=False)[0]
    own = replace(side_facts_of(manifest, "this run", request.plan.targets[0].slot), name="this run")
    old = replace(side.facts, name=make_safe(reference))
    if found.run is not None:
        own = replace(own, data_digests=None, subject=old.subject if own.kind == "eval" else own.subject)
        old = replace(old, data_digests=None)
    if reasons := refusal_reasons(old, own):
        raise UserError(f"--against: {'; '.join(reasons)}.")
    names = None if found.run is None else _same_samples(request, found.run, side.facts.slot or "")
    kept = {score: _values(side, score, manifest, names) for score in scores}
    others: dict[str, list[dict[str, float]]] = {}
    if finite and (runs := list(_other_runs(request, manifest, side))):
        others = _others(runs, kept, manifest)
        if any(others.values()):
            count = max(map(len, others.values()))
            say(
                f"Earlier results of {count} other {'model' if count == 1 else 'models'} tell what to expect."
            )
    return EarlierScores(reference, side.facts.model, side.facts.run, kept, others)


def _same_samples(request: RunRequest, run: RunSides, slot: str) -> dict[str, str]:
    """Return {sample id in the old run: sample id in this run} for the samples that occur in both runs."""
    manifest, table = run.manifest, run.table
    target = next(one for one in manifest.targets if one.slot == slot)
    maker = TrialKeys(target, manifest.task.fingerprint, manifest.limits)
    found = {}
    for sample, digest in request.plan.samples_with_digests():
        row = table.find_row(maker.trial_key(digest, 0))
        if row is not None:
            found[table.sample[row]] = sample.id
    return found


def _values(side: Side, score: str, manifest: Manifest, names: Mapping[str, str] | None) -> ScoreBounds:
    """Return the bounds of each sample's score, averaged over its repeats.

    A failed repeat has the bounds 0 and 1.
    """
    if score not in side.trials.scores:
        known = ", ".join(side.trials.scores) or "none"
        raise UserError(
            f"--against: {make_safe(side.facts.reference)} has no score {score!r}; it has {known}."
        )
    column, ends = side.trials.scores[score], score_range(manifest, score)
    values = defaultdict(list)
    for sample, value, state in zip(side.trials.samples, column.values, column.states, strict=True):
        name = sample if names is None else names.get(sample)
        if name:
            values[name].append(
                (0.0, 1.0) if state == ERROR else tuple(scale_score(float(value), ends, score))
            )
    return {
        sample: (sum(low for low, _ in found) / len(found), sum(high for _, high in found) / len(found))
        for sample, found in values.items()
    }


def _other_runs(request: RunRequest, manifest: Manifest, old: Side) -> Iterator[Side]:
    """Yield finished runs of other models on the same data with the same scorers. Each model is yielded once."""
    seen = {old.facts.model, *manifest.typed_models.values()}
    for path in sorted(runs_directory().glob(f"*/{MANIFEST_FILE}"), reverse=True)[:MAX_RUNS_SEARCHED]:
        for side in _sides_like(path.parent, manifest):
            if side.facts.model not in seen and len(seen) < MAX_OTHER_MODELS + 2:
                seen.add(side.facts.model)
                yield side


def _sides_like(directory: Path, manifest: Manifest) -> Iterator[Side]:
    try:
        other = read_manifest(directory)
        same_data = [data.xxh3 for data in other.data] == [data.xxh3 for data in manifest.data]
        if other.kind != manifest.kind or not same_data or other.scorers != manifest.scorers:
            return
        yield from RunSides(directory, directory.name).sides()
    except BenchwrightError:
        return  # skip runs that cannot be read


def _others(
    runs: list[Side], kept: Mapping[str, ScoreBounds], manifest: Manifest
) -> dict[str, list[dict[str, float]]]:
    """Return, for each score, a list with one mapping per other model: from sample id to the sample's mean score.

    A model is left out of a score's list if it lacks that score for one of the samples.
    """
    found: dict[str, list[dict[str, float]]] = {}
    for score, samples in kept.items():
        found[score] = []
        for side in runs:
            if score in side.trials.scores:
                values = _values(side, score, manifest, None)
                if samples.keys() <= values.keys():
                    found[score].append({name: float(np.mean(values[name])) for name in samples})
    return found
