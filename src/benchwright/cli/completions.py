"""Shell completion of names on this machine: runs, benchmarks, packs, models, tags, scorers.

Each function is called at a key press. So it imports almost nothing, and reads only the newest runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from benchwright.runs.manifest import Manifest

MAX_RUNS_SEARCHED = 200
"""Number of runs that are searched for models, tags and names."""


def complete_runs(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: run ids, newest first. The help of each id is the run's name and models."""
    return _items(((path.name, _told(manifest)) for path, manifest in _newest()), typed, part=True)


def complete_runs_and_files(
    context: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem[str]]:
    """Return completions: run ids, or files if no run id fits."""
    return complete_runs(context, parameter, typed) or [_files()]


def complete_benchmarks(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: names of the catalog's benchmarks, and `pack:` names of installed packs."""
    from benchwright.catalog.registry import list_abouts

    packs_here = [(f"pack:{name}", "") for name in _packs()] if typed.startswith("pa") else []
    return _items([*((one.full_name, one.description) for one in list_abouts()), *packs_here], typed)


def complete_packs(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: ids of installed packs, or directories if no id fits."""
    return _items(((name, "") for name in _packs()), typed) or [_files("dir")]


def complete_installed_packs(
    context: click.Context, _: click.Parameter, typed: str
) -> list[CompletionItem[str]]:
    """Return completions: ids of installed packs."""
    return _items(((name, "") for name in _packs()), typed)


def complete_models(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: models of the `--models` file, then models of earlier runs."""
    found = _models_of_file(context.params.get("models_file"))
    for _path, manifest in _newest():
        found += _models(manifest)
    return _items(((model, "") for model in found), typed, part=True)


def complete_tags(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: tags of runs."""
    from benchwright.runs.tags_and_notes import read_tags

    return _items(((tag, "") for path, _manifest in _newest() for tag in read_tags(path)), typed)


def complete_suites(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: suites that have runs, or files if no suite fits."""
    from benchwright.runs.manifest_facts import suite_of

    names = (suite_of(manifest) for _path, manifest in _newest())
    return _items(((name, "") for name in names if name), typed) or [_files()]


def complete_named_suites(
    context: click.Context, _: click.Parameter, typed: str
) -> list[CompletionItem[str]]:
    """Return completions: suites that can be run by name, or files if no suite fits."""
    from benchwright.app.named_suites import suite_names

    return _items(((name, "") for name in suite_names()), typed) or [_files()]


def complete_cached_evals(
    context: click.Context, _: click.Parameter, typed: str
) -> list[CompletionItem[str]]:
    """Return completions: ids of cached evaluations."""
    from benchwright.agents.cache.paths import cache_root

    ids = (path.stem.rpartition("_")[2] for path in cache_root().glob("*/*/*.json"))
    return _items(((each, "") for each in ids), typed)


def complete_agents(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: names of command-line agents."""
    from benchwright.recipes.recipe_lookup import recipe_names

    return _items(((name, "") for name in recipe_names()), typed)


def complete_scorers(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Return completions: names of built-in scorers."""
    from benchwright.scorers.registry import SCORERS

    return _items(((name, "") for name in SCORERS), typed)


def _items(found: Iterable[tuple[str, str]], typed: str, *, part: bool = False) -> list[CompletionItem[str]]:
    """Return completion items for the (value, help) pairs whose value begins with the typed text.

    Each value occurs once.

    If no value begins with the typed text and `part` is True, return the values that contain it, ignoring case.
    """
    from click.shell_completion import CompletionItem

    known = {value: told for value, told in found if value and value.isprintable()}
    fitting = [value for value in known if value.startswith(typed)]
    if part and not fitting:
        fitting = [value for value in known if typed.lower() in value.lower()]
    return [CompletionItem(value, help=known[value] or None) for value in fitting]


def _files(kind: str = "file") -> CompletionItem[str]:
    from click.shell_completion import CompletionItem

    return CompletionItem("", type=kind)


def _newest() -> Iterator[tuple[Path, Manifest]]:
    """Yield the directories and manifests of the newest runs. Unreadable runs are skipped.

    Run ids begin with the start time, so that sorting the ids sorts the runs.
    """
    from benchwright.errors import BenchwrightError
    from benchwright.home import runs_directory
    from benchwright.runs.manifest import read_manifest
    from benchwright.runs.store import run_names

    for name in run_names()[: -MAX_RUNS_SEARCHED - 1 : -1]:
        with suppress(OSError, BenchwrightError):
            yield runs_directory() / name, read_manifest(runs_directory() / name)


def _told(manifest: Manifest) -> str:
    return " · ".join(dict.fromkeys((manifest.name, *_models(manifest))))


def _models(manifest: Manifest) -> list[str]:
    from benchwright.runs.tags_and_notes import models_of

    return models_of(manifest)


def _models_of_file(path: Path | None) -> list[str]:
    """Return the models in a TOML file. Empty if the file cannot be read."""
    if path is None:
        return []
    import tomllib

    with suppress(OSError, ValueError, TypeError, KeyError):
        return [str(entry["model"]) for entry in tomllib.loads(path.read_text("utf-8"))["models"]]
    return []


def _packs() -> list[str]:
    """Return the names of the directories of installed packs.

    Names that begin with a dot are left out: such directories belong to the pack storage itself.
    """
    from benchwright.home import packs_directory

    directory = packs_directory()
    return sorted(
        path.name
        for path in (directory.iterdir() if directory.is_dir() else ())
        if path.is_dir() and not path.name.startswith(".")
    )
