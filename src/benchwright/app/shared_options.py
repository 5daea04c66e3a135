"""Distributes options (`--option`) over several benchmarks: each benchmark takes the options that it has.

An option that no benchmark has is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchwright.catalog import plugins
from benchwright.catalog.benchmark import About
from benchwright.catalog.registry import BENCHMARKS, find_about, known_options
from benchwright.config import BenchmarkSettings
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean


class BenchmarkWithOptions(NamedTuple):
    """One of several benchmarks, with its settings.

    `own_options`: names of the options that are meant for this benchmark alone.
    """

    name: str
    settings: BenchmarkSettings
    own_options: Collection[str] = ()


def settings_of_each_benchmark(
    sharers: Sequence[BenchmarkWithOptions], of_others: Collection[str] = ()
) -> list[BenchmarkSettings]:
    """Return the settings of each benchmark, without the shared options that it does not have.

    `of_others`: options that need not exist in any benchmark.

    Raises:
        UserError: If an option exists in no benchmark. The message suggests the right name.
    """
    of_each = [_known_to(one) for one in sharers]
    if None not in of_each:
        known = {name for each in of_each for name in each or ()}
        for one in sharers:
            _check_somebody_has(
                one.settings.catalog.option.keys() - one.own_options - {*of_others}, known, sharers
            )
    return [
        one.settings.model_copy(update={"option": _taken(one, known)})
        for one, known in zip(sharers, of_each, strict=True)
    ]


def metadata_of_benchmark(name: str, files: Sequence[Path]) -> About | None:
    """Return the metadata of a benchmark.

    Return None if there is no benchmark of this name. That error is reported when the benchmark is run.
    """
    try:
        plugin = None if name.partition(":")[0] in BENCHMARKS else plugins.find_plugin(name, files)
        return find_about(name) if plugin is None else plugin.about
    except UserError:
        return None


def _known_to(sharer: BenchmarkWithOptions) -> Mapping[str, str] | None:
    found = metadata_of_benchmark(sharer.name, sharer.settings.catalog.plugin)
    return None if found is None else known_options(found)


def _check_somebody_has(
    options: Collection[str], known: Collection[str], sharers: Sequence[BenchmarkWithOptions]
) -> None:
    for name in sorted(options):
        if name not in known:
            titles = ", ".join(dict.fromkeys(one.name for one in sharers))
            hint = did_you_mean(name, known) or f" They have: {', '.join(sorted(known))}."
            raise UserError(f"None of {titles} has an option {name!r}.{hint}")


def _taken(sharer: BenchmarkWithOptions, known: Mapping[str, str] | None) -> dict[str, str]:
    given = sharer.settings.catalog.option
    return {
        name: value
        for name, value in given.items()
        if known is None or name in known or name in sharer.own_options
    }
