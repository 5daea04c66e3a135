"""Registry of the documented interface: benchmarks of the catalog, and benchmarks that users register.

Only users' benchmarks are stored here. The catalog's classes are looked up in the modules of
`llm_benchmarker.benchmarks` each time, so that users' classes cannot replace the catalog's.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from benchwright.catalog.plugin_files import PLUGIN_PACKAGE
from benchwright.catalog.registry import DOCUMENTED_BENCHMARKS
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean

if TYPE_CHECKING:
    from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark
    from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

    B = TypeVar("B", bound=type[BaseBenchmark])

_OF_USERS: dict[str, type[BaseBenchmark]] = {}


def register(benchmark: B) -> B:
    """Register a benchmark's class under the class's `name`, and return the class. For use as a class decorator.

    A class that is defined again in the same module and under the same name replaces the earlier class.

    Raises:
        UserError: If the class has no name, or another class has the same name.
    """
    name = getattr(benchmark, "name", None)
    if not isinstance(name, str) or not name:
        raise UserError(f"The benchmark {benchmark.__qualname__} needs a name: name = '...'.")
    known = _find(name)
    if known is not None and _place(known) != _place(benchmark):
        raise UserError(
            f"Two benchmarks are named {name!r}: {'.'.join(_place(known))} and {'.'.join(_place(benchmark))}. "
            "Give one of them another name."
        )
    _OF_USERS[name] = benchmark
    return benchmark


def get_benchmark(name: str) -> BaseBenchmark:
    """Return a new instance of the benchmark with this name.

    For benchmarks of the catalog, the name may include a variant (`mmlu:documented`).

    Raises:
        UserError: If there is no benchmark of that name.
    """
    found = _find(name)
    if found is not None:
        return found()
    plain, _, variant = name.partition(":")
    if variant and plain in DOCUMENTED_BENCHMARKS:
        return _of_catalog(plain)(variant)
    known = {*DOCUMENTED_BENCHMARKS, *_OF_USERS}
    raise UserError(
        f"There is no benchmark {name!r}.{did_you_mean(name, known)} Choose from: {', '.join(sorted(known))}."
    )


def list_benchmarks() -> list[dict[str, Any]]:
    """Return `name`, `tier` and `description` of each documented and each registered benchmark, sorted by name.

    No benchmark is instantiated. Benchmarks that were added to the catalog later are not listed, because they
    have no class here; `benchwright.run_benchmark` runs them.
    """
    return [
        {"name": name, "tier": benchmark.tier, "description": benchmark.description}
        for name, benchmark in sorted(
            {**{room: _of_catalog(room) for room in DOCUMENTED_BENCHMARKS}, **_OF_USERS}.items()
        )
    ]


def registered_benchmarks() -> dict[str, type[BaseBenchmark]]:
    """Return the classes that users registered, keyed by name."""
    return dict(_OF_USERS)


def _find(name: str) -> type[BaseBenchmark] | None:
    return _of_catalog(name) if name in DOCUMENTED_BENCHMARKS else _OF_USERS.get(name)


def _of_catalog(room: str) -> type[CatalogBenchmark]:
    """Return the documented class of a catalog benchmark. It is in the module of the same name as the benchmark."""
    module = import_module(f"{PLUGIN_PACKAGE}.{room}")
    found: type[CatalogBenchmark] = next(
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__dict__.get("name") == room
    )
    return found


def _place(benchmark: type) -> tuple[str, str]:
    return benchmark.__module__, benchmark.__qualname__
