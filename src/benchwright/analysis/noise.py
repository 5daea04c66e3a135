"""The noise floor of runs with repeats: how far two runs of one model differ by chance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from benchwright.analysis.comparison.repeat_noise import noise_of
from benchwright.analysis.comparison.sides import Side
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.errors import BenchwrightError, UserError
from benchwright.interop.result_formats import find_or_import_run
from benchwright.records import Record
from benchwright.runs.manifest import read_manifest
from benchwright.runs.run_selection import condition_of_filters, runs_newest_first, select_runs
from benchwright.runs.tags_and_notes import models_of
from benchwright.stats.noise_floor import Noise, SampleSizePlan, sample_size_plans
from benchwright.text import Say, make_safe


class NoiseFloor(Record, frozen=True):
    """Noise of one score of one target of a run, estimated from its repeats.

    Failed trials are left out. Trials without an answer count as 0. `samples`: number of samples with repeats.
    `values`: number of values of these samples. `flips`, `within`, `apart`: see `stats.noise_floor.Noise`.
    `plans`: from `stats.noise_floor.sample_size_plans`, at 80 % power and a significance level of 5 %.
    """

    run: str
    model: str
    task: str
    score: str
    samples: int
    values: int
    flips: float
    within: float
    apart: float
    confidence: float
    plans: list[SampleSizePlan]


def noise_floors(references: Sequence[str], say: Say) -> list[NoiseFloor]:
    """Return the noise of every score that has repeats.

    Each reference is the id of a run, or the name of a model, which stands for all runs of this model.

    Raises:
        UserError: If a reference matches nothing, or no run has repeats.
        JournalError: If a journal cannot be read.
    """
    directories = dict.fromkeys(one for reference in references for one in _runs(reference, say))
    found = [floor for directory in directories for floor in _floors(directory)]
    if not found:
        raise UserError("None of these runs has repeats: ask each sample more than once, with --n 4 or so.")
    return found


def earlier_noise(kind: str, data: Sequence[str], models: Collection[str]) -> list[NoiseFloor]:
    """Return the noise of the newest run with repeats that has this kind, this data and one of the models.

    `data` are the digests of the data files. There is one entry for each score. Return an empty list if there
    is no such run.
    """
    for directory, manifest in runs_newest_first():
        same = manifest.kind == kind and [one.xxh3 for one in manifest.data] == list(data)
        if same and manifest.repeats > 1 and not set(models).isdisjoint(models_of(manifest)):
            try:
                return [floor for floor in _floors(directory) if floor.model in models]
            except BenchwrightError:
                continue  # skip runs that cannot be read
    return []


def _runs(reference: str, say: Say) -> list[Path]:
    of_model = select_runs(condition_of_filters(model=reference), say)
    if of_model:
        return [one for one in of_model if read_manifest(one).repeats > 1] or of_model[:1]
    try:
        return [find_or_import_run(reference)]
    except UserError as error:
        raise UserError(f"No run and no model is called {make_safe(reference)!r}. {error}") from None


def _floors(directory: Path) -> Iterator[NoiseFloor]:
    for side in RunSides(directory, directory.name).sides():
        yield from _floors_of(side, directory.name)


def _floors_of(side: Side, run: str) -> Iterator[NoiseFloor]:
    for name in side.trials.scores:
        found = noise_of(side, name)
        if found is not None:
            yield _floor(found, side, name, run)


def _floor(found: Noise, side: Side, score: str, run: str) -> NoiseFloor:
    return NoiseFloor(
        run=run,
        model=side.facts.model,
        task=side.facts.task,
        score=score,
        samples=found.n_samples,
        values=found.n_values,
        flips=found.flips,
        within=found.within,
        apart=found.apart,
        confidence=found.confidence,
        plans=sample_size_plans(found),
    )
