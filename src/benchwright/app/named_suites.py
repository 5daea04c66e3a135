"""Suites by name: the user's own in BENCHWRIGHT_HOME, and shipped ones of benchmarks that this version has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchwright.app.suites import SUFFIX, Suite, SuiteEntry, read_suite
from benchwright.catalog.registry import ROOMS
from benchwright.errors import UserError
from benchwright.home import suites_directory
from benchwright.suggest import did_you_mean
from benchwright.text import plain

SHIPPED = Path(__file__).with_name("shipped_suites")


def find_suite(typed: str) -> Suite:
    """The suite that a file or a name means; of a name, the user's own goes before the shipped one.

    A shipped suite leaves out what this version has no benchmark for (`missing`).

    Raises:
        UserError: there is none of that name, nothing is left of it, or its file is not as it should be.
    """
    if Path(typed).suffix == SUFFIX or Path(typed).exists():
        return read_suite(Path(typed))
    own, shipped = _in(suites_directory(), typed), _in(SHIPPED, typed)
    if own is not None:
        return read_suite(own)._replace(typed=typed)
    if shipped is None:
        hint = did_you_mean(typed, suite_names()) or f" Choose from: {', '.join(suite_names())}."
        raise UserError(f"There is no suite {plain(typed)!r}.{hint} Or give the TOML file of your own.")
    suite = read_suite(shipped)
    there = [entry for entry in suite.entries if _is_there(entry)]
    missing = tuple(entry.name for entry in suite.entries if not _is_there(entry))
    if not there:
        raise UserError(
            f"The suite {typed} is not there yet: this version has none of its benchmarks ({', '.join(missing)})."
        )
    return suite._replace(typed=typed, entries=there, missing=missing)


def suite_names() -> list[str]:
    """The names of the suites that can be run: the user's own, and those shipped ones of which there is something."""
    own = {path.stem for path in suites_directory().glob(f"*{SUFFIX}")}
    return sorted(own | set(_shipped_names()))


def _shipped_names() -> Iterator[str]:
    for path in SHIPPED.glob(f"*{SUFFIX}"):
        if any(_is_there(entry) for entry in read_suite(path).entries):
            yield path.stem


def _is_there(entry: SuiteEntry) -> bool:
    return entry.name.partition(":")[0] in ROOMS


def _in(directory: Path, name: str) -> Path | None:
    """The file of a suite in a directory; names with a way out of it find nothing."""
    path = directory / f"{name}{SUFFIX}"
    return path if path.parent == directory and path.is_file() else None
