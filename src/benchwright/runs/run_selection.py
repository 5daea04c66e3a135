"""Selects runs on this machine by kind, model, name, tags, suite, or another property."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from benchwright.errors import UserError
from benchwright.home import runs_directory
from benchwright.runs.manifest import MANIFEST_FILE, Manifest, read_manifest
from benchwright.runs.manifest_facts import (
    VALIDATION_KIND,
    given_name,
    kind_of,
    recipe_of,
    subject_of,
    suite_of,
    title_of,
)
from benchwright.runs.tags_and_notes import models_of, read_tags
from benchwright.text import Say

SelectedRun = TypeVar("SelectedRun")

RunCondition = Callable[[Manifest, Sequence[str]], bool]
"""Function (manifest, tags) that returns True if the run is selected."""


def select_runs(fits: RunCondition, say: Say | None = None) -> list[Path]:
    """Return the directories of the runs that meet the condition `fits`, the newest first.

    Runs that cannot be read are left out, with a warning through `say`.
    """
    return [path for path, manifest in runs_newest_first(say) if fits(manifest, read_tags(path))]


def runs_of_suite(name: str, fits: RunCondition, say: Say | None = None) -> list[Path]:
    """Return the runs of a suite that meet the condition `fits`: for each part of the suite, only the newest
    run.
    """
    found = [(path, manifest) for path, manifest in runs_newest_first(say) if suite_of(manifest) == name]
    return [path for path, manifest in newest_run_of_each_part(found) if fits(manifest, read_tags(path))]


def newest_run_of_each_part(
    runs: Iterable[tuple[SelectedRun, Manifest]],
) -> list[tuple[SelectedRun, Manifest]]:
    """Return the newest run of each part of a suite. `runs` are all of one suite, the newest first."""
    found: dict[tuple[str, ...], tuple[SelectedRun, Manifest]] = {}
    for run, manifest in runs:
        found.setdefault(_part_of(manifest), (run, manifest))
    return list(found.values())


def _part_of(manifest: Manifest) -> tuple[str, ...]:
    """Return what identifies a run within its suite: (kind, subject, agent, models).

    For an eval that has its own name, the name is the subject.
    """
    subject = (manifest.kind == "eval" and given_name(manifest)) or subject_of(manifest)
    return (manifest.kind, subject, recipe_of(manifest), *models_of(manifest))


def known_suites() -> set[str]:
    """Return the names of all suites to which runs on this machine belong."""
    return {name for _, manifest in runs_newest_first() if (name := suite_of(manifest))}


def runs_newest_first(say: Say | None = None) -> list[tuple[Path, Manifest]]:
    """Return all runs in the store, the newest first.

    Runs that cannot be read are left out, with a warning through `say`.
    """
    found = list(_readable(say))
    return sorted(found, key=lambda one: (one[1].created_at, one[0].name), reverse=True)


def _readable(say: Say | None) -> Iterator[tuple[Path, Manifest]]:
    directory = runs_directory()
    for path in directory.iterdir() if directory.is_dir() else ():
        if not (path / MANIFEST_FILE).exists():
            continue
        try:
            yield path, read_manifest(path)
        except UserError as error:
            if say is not None:
                say(f"Warning: left out: {error}")


def condition_of_filters(
    *, kind: str = "", model: str = "", name: str = "", tags: Sequence[str] = ()
) -> RunCondition:
    """Return a condition that is met by runs that meet all given conditions.

    `model`: part of a model's name. `name`: part of the run's or its task's name. Both ignore case. `tags`: the
    run must have all of them. Validations, which do not measure a model, are selected only if `kind` names
    them.
    """

    def fits(manifest: Manifest, its_tags: Sequence[str]) -> bool:
        return (
            (kind_of(manifest) == kind if kind else kind_of(manifest) != VALIDATION_KIND)
            and set(tags) <= set(its_tags)
            and _within(model, models_of(manifest))
            and _within(name, (manifest.name, title_of(manifest)))
        )

    return fits


def _within(part: str, texts: Sequence[str]) -> bool:
    return not part or any(part.lower() in text.lower() for text in texts)
