"""Which benchmarks the documented interface knows: those of the catalog, and those that users register."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from benchwright.errors import UserError
from benchwright.suggest import did_you_mean

if TYPE_CHECKING:
    from benchwright.catalog.documented.base import BaseBenchmark

    B = TypeVar("B", bound=type[BaseBenchmark])

_CLASSES: dict[str, type[BaseBenchmark]] = {}
_LATER: list[Callable[[], None]] = []


def register(benchmark: B) -> B:
    """Makes a benchmark's class known by its `name`; a class decorator.

    A class that is defined again in the same place takes the place of the older one.

    Raises:
        UserError: the class has no name, or another class has the same one.
    """
    name = getattr(benchmark, "name", None)
    if not isinstance(name, str) or not name:
        raise UserError(f"The benchmark {benchmark.__qualname__} needs a name: name = '...'.")
    known = _all().get(name)
    if known is not None and _place(known) != _place(benchmark):
        raise UserError(
            f"Two benchmarks are named {name!r}: {'.'.join(_place(known))} and {'.'.join(_place(benchmark))}. "
            "Give one of them another name."
        )
    _CLASSES[name] = benchmark
    return benchmark


def register_later(load: Callable[[], None]) -> None:
    """Has this called, which registers more, when somebody wants to know or to add to what is registered."""
    _LATER.append(load)


def get_benchmark(name: str) -> BaseBenchmark:
    """A new instance of a benchmark; benchmarks of the catalog come in variants, too (`mmlu:documented`).

    Raises:
        UserError: there is none of that name.
    """
    classes = _all()
    if name in classes:
        return classes[name]()
    plain, _, variant = name.partition(":")
    found = classes.get(plain)
    if found is not None and variant:
        from benchwright.catalog.documented.from_catalog import CatalogBenchmark

        if issubclass(found, CatalogBenchmark):
            return found(variant)
    raise UserError(
        f"There is no benchmark {name!r}.{did_you_mean(name, classes)} Choose from: {', '.join(sorted(classes))}."
    )


def list_benchmarks() -> list[dict[str, Any]]:
    """`name`, `tier` and `description` of every benchmark, by name; nothing is instantiated."""
    return [
        {"name": name, "tier": benchmark.tier, "description": benchmark.description}
        for name, benchmark in sorted(_all().items())
    ]


def registered() -> dict[str, type[BaseBenchmark]]:
    """The classes by name; without those that are registered later, of whom nobody has asked yet."""
    return dict(_CLASSES)


def _all() -> dict[str, type[BaseBenchmark]]:
    while _LATER:
        _LATER.pop()()
    return _CLASSES


def _place(benchmark: type) -> tuple[str, str]:
    return benchmark.__module__, benchmark.__qualname__
