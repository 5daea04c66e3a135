"""Users' benchmarks: classes or `Benchmark` objects from a file, an entry point, or a registration.

A file is loaded as a submodule of `llm_benchmarker.benchmarks`, so that the example in llm-benchmarker's
document (`from . import register`, `from .base import BaseBenchmark`) works in it unchanged.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.plugin_files import PLUGIN_PACKAGE, describe_failure, load_plugin_module
from benchwright.entry_points import find_entry_points
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from benchwright.data.datasets import Source

ENTRY_POINT_GROUP = "benchwright.benchmarks"
"""Name of the entry-point group in which packages offer benchmarks.

Each entry names a `BaseBenchmark` subclass or a ready `catalog.benchmark.Benchmark`.
"""

PLUGIN_PROVENANCE = "load_dataset"
"""The provenance that a run records for data that a user's class loads by itself."""


class Plugin(msgspec.Struct, frozen=True):
    """A user's benchmark. `make(limit)` builds the benchmark with at most `limit` samples."""

    about: About
    make_benchmark: Callable[[int | None], Benchmark]

    def build_benchmark(self, options: Options, limit: int | None = None) -> Benchmark:
        """Build the benchmark.

        `limit`: the largest number of samples that a user's class needs to load. Pass `limit` only if the
        first samples of the data are the selected ones.

        Raises:
            UserError: If an option is unknown here, or the class cannot be instantiated.
        """
        from benchwright.catalog.registry import known_options

        known = known_options(self.about)
        for name in options.values:
            if name not in known:
                raise UserError(
                    f"{self.about.full_name} has no option {name!r}.{did_you_mean(name, known)} "
                    f"It has: {', '.join(sorted(known))}."
                )
        return self.make_benchmark(limit)

    def source(self, data_dir: str | Path, path: str | Path | None = None) -> Source:
        """Return the plugin's data source.

        A dataset that the plugin declares is found in the same way as datasets of the catalog. For a class
        that loads its data by itself, the source is only the directory.

        Raises:
            DatasetError: If a declared dataset is missing or invalid.
        """
        from benchwright.data.datasets import Source, find_dataset

        dataset = self.about.dataset
        if dataset.splits:
            return find_dataset(dataset, data_dir, path=path)
        return Source(dataset, Path(data_dir if path is None else path), {}, PLUGIN_PROVENANCE)


def find_plugin(name: str, files: Sequence[Path] = ()) -> Plugin | None:
    """Return the user's benchmark of that name. Return None if no such benchmark exists.

    The files are searched first, then the entry points, then the registrations.

    Raises:
        UserError: If a file or the entry point cannot be loaded.
    """
    for file in files:
        for plugin in load_plugin_file(file):
            if plugin.about.full_name == name:
                return plugin
    for entry in find_entry_points(ENTRY_POINT_GROUP):
        if entry.name == name:
            return load_plugin_entry_point(entry)
    return next((plugin for plugin in registered_plugins() if plugin.about.full_name == name), None)


def find_all_plugins(files: Sequence[Path] = ()) -> list[Plugin]:
    """Return all users' benchmarks, sorted by name, each name once.

    Raises:
        UserError: If one of them cannot be loaded.
    """
    found = [plugin for file in files for plugin in load_plugin_file(file)]
    found += [load_plugin_entry_point(entry) for entry in find_entry_points(ENTRY_POINT_GROUP)]
    found += registered_plugins()
    by_name: dict[str, Plugin] = {}
    for plugin in found:
        by_name.setdefault(plugin.about.full_name, plugin)
    return [by_name[name] for name in sorted(by_name)]


def load_plugin_file(path: Path) -> list[Plugin]:
    """Return the benchmarks in a Python file: the classes defined in it, and the `Benchmark` objects.

    The file's directory is appended to `sys.path`, so that the file can import the modules in its directory.

    Raises:
        UserError: If the file is missing, its code fails, or it contains no benchmark.
    """
    module = load_plugin_module(path)
    plugins = [plugin for value in vars(module).values() for plugin in _plugins(value, module, str(path))]
    if not plugins:
        raise UserError(
            f"The plugin {path} holds no benchmark: define a subclass of BaseBenchmark with a name in it."
        )
    return plugins


def load_plugin_entry_point(entry: EntryPoint) -> Plugin:
    """Load the benchmark that an entry point names.

    Raises:
        UserError: If it cannot be loaded, or is not a benchmark of that name.
    """
    origin = f"entry point {entry.value}"
    try:
        value = entry.load()
    except (Exception, SystemExit) as failure:  # a user's module may raise anything
        raise UserError(
            f"The benchmark {entry.name!r} ({entry.value}) cannot be loaded: {describe_failure(failure)}"
        ) from failure
    plugin = next(_plugins(value, None, origin), None)
    if plugin is None or plugin.about.full_name != entry.name:
        what = "not a benchmark" if plugin is None else f"named {plugin.about.full_name!r} itself"
        raise UserError(f"The entry point {entry.name!r} of {ENTRY_POINT_GROUP} ({entry.value}) is {what}.")
    return plugin


def registered_plugins() -> list[Plugin]:
    """Return the benchmarks that users registered, in code or in the package `llm_benchmarker.benchmarks`."""
    importlib.import_module(PLUGIN_PACKAGE)
    from benchwright.catalog.llm_benchmarker_api.registry import registered_benchmarks as registered_classes

    return [
        plugin
        for benchmark in registered_classes().values()
        for plugin in _plugins(benchmark, None, benchmark.__module__)
    ]


def _plugins(value: Any, module: ModuleType | None, origin: str) -> Iterator[Plugin]:
    """Yield a plugin if `value` is a benchmark. A class is accepted only if it was defined in `module`."""
    from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark

    if isinstance(value, type):
        here = module is None or value.__module__ == module.__name__
        usable = issubclass(value, BaseBenchmark) and not isabstract(value)
        if here and usable and getattr(value, "name", None):
            yield _of_class(value, origin)
    elif isinstance(getattr(value, "about", None), About):
        yield Plugin(_checked(value.about, origin), lambda limit: value)


def _checked(about: About, origin: str) -> About:
    """Return the metadata after checking that the benchmark's name is free.

    Raises:
        UserError: If the name belongs to a benchmark of the catalog.
    """
    from benchwright.catalog.registry import BENCHMARKS

    if about.full_name in BENCHMARKS:
        raise UserError(
            f"{origin}: the name {about.name!r} belongs to a benchmark of the catalog; choose another one."
        )
    return about


def _of_class(benchmark: Any, origin: str) -> Plugin:
    from benchwright.catalog.llm_benchmarker_api.adapter import AdaptedBenchmark, about_of

    about = _checked(about_of(benchmark, origin), origin)

    def make(limit: int | None) -> Benchmark:
        try:
            made = benchmark()
        except Exception as failure:  # a user's class may raise anything
            raise UserError(f"The benchmark {about.name!r} cannot be made: {failure}.") from failure
        return AdaptedBenchmark(made, about, max_samples=limit)

    return Plugin(about, make)
