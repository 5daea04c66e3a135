"""`python -m tests.import_circles`: lists modules that import each other in a circle.

Imports within functions and for types count, too. A circle of modules can only be read as a whole; import-linter's
floors see circles between rooms, not within one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Set
from graphlib import CycleError, TopologicalSorter

import grimp

PACKAGES = ("benchwright", "osmosis_ai", "llm_benchmarker")


def circles(imports: Mapping[str, Set[str]]) -> Iterator[list[str]]:
    """Yield circles of modules, each as the modules in the order of their imports, until none is left.

    `imports` has the modules that each module imports. Of a circle the last import is left out to find the next one.
    """
    left = {module: set(imported) for module, imported in imports.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
            return
        except CycleError as error:
            *_, before, last = found = error.args[1][::-1]
            yield found
            left[before].discard(last)


def imports_of(*packages: str) -> dict[str, set[str]]:
    """Return the modules that each module of these packages imports."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def main() -> int:
    """Print the circles; return 1 if there are any."""
    found = list(circles(imports_of(*PACKAGES)))
    for circle in found:
        print(f"Modules import each other in a circle: {' -> '.join(circle)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
