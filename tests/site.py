"""`make docs`: builds the pages of docs/ as a site in build/site, with a reference of the public Python names.

Strict: a dead link, a page without a place in mkdocs.yml, or a public name without a docstring fails it.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator

from tests.environments import ROOT, installed

import benchwright

REFERENCE = ROOT / "docs" / "reference.md"
SITE = ROOT / "build" / "site"


def public_names() -> Iterator[tuple[str, object]]:
    """Yield each public name by its address, with what it names."""
    modules: dict[str, tuple[str, ...]] = vars(benchwright)["LAZY_EXPORTS"]
    for module, names in modules.items():
        for name in names:
            yield f"{module}.{name}", getattr(benchwright, name)


def faults() -> Iterator[str]:
    """Yield what the reference lacks: public names, and docstrings of these and of their public methods."""
    listed = re.findall(r"^::: (\S+)$", REFERENCE.read_text(encoding="utf-8"), re.M)
    for address, value in public_names():
        if address not in listed:
            yield f"docs/reference.md does not list {address}"
        if not inspect.isclass(value) and not callable(value):
            continue  # types by another name have no docstrings
        for path, one in ((address, value), *_methods(address, value)):
            if not inspect.getdoc(one):
                yield f"{path} has no docstring"


def _methods(address: str, value: object) -> Iterator[tuple[str, object]]:
    if inspect.isclass(value):
        for name, one in vars(value).items():
            if not name.startswith("_") and (inspect.isfunction(one) or isinstance(one, property)):
                yield f"{address}.{name}", one


def main() -> int:
    """Build the site; return 1 if anything is missing or a link is dead."""
    found = list(faults())
    for fault in found:
        print(f"Error: {fault}.")
    programs = installed("docs")
    command = [str(programs / "mkdocs"), "build", "--strict", "--quiet", "--site-dir", str(SITE)]
    built = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if not built.returncode and not found:
        print(f"The site is in {SITE.relative_to(ROOT)}: open {SITE.relative_to(ROOT)}/start.html")
    return built.returncode or int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
