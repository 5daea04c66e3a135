"""Suites (lists of benchmarks to run) by name: the user's own in BENCHWRIGHT_HOME, and the shipped ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchwright.app.suites import SUITE_FILE_SUFFIX, Suite, SuiteEntry, read_suite
from benchwright.catalog.registry import BENCHMARKS
from benchwright.errors import UserError
from benchwright.home import suites_directory
from benchwright.suggestions import did_you_mean
from benchwright.text import make_safe

SHIPPED_SUITES = Path(__file__).with_name("shipped_suites")


def find_suite(typed: str) -> Suite:
    """Return the suite of this name. `typed` may also be the path of a suite file.

    The user's own suite has priority over a shipped suite of the same name. Benchmarks of a shipped suite that this
    version does not have are left out, and listed in `missing_benchmarks`.

    Raises:
        UserError: If there is no suite of that name, none of its benchmarks exist, or its file is invalid.
    """
    if Path(typed).suffix == SUITE_FILE_SUFFIX or Path(typed).exists():
        return read_suite(Path(typed))
    own, shipped = _in(suites_directory(), typed), _in(SHIPPED_SUITES, typed)
    if own is not None:
        return read_suite(own)._replace(given_name=typed)
    if shipped is None:
        hint = did_you_mean(typed, suite_names()) or f" Choose from: {', '.join(suite_names())}."
        raise UserError(f"There is no suite {make_safe(typed)!r}.{hint} Or give the TOML file of your own.")
    suite = read_suite(shipped)
    there = [entry for entry in suite.entries if _is_there(entry)]
    missing = tuple(entry.name for entry in suite.entries if not _is_there(entry))
    if not there:
        raise UserError(
            f"The suite {typed} is not there yet: this version has none of its benchmarks ({', '.join(missing)})."
        )
    return suite._replace(given_name=typed, entries=there, missing_benchmarks=missing)


def suite_names() -> list[str]:
    """Return the names of all suites that can be run.

    These are the user's own suites, and the shipped suites of which at least one benchmark is available.
    """
    own = {path.stem for path in suites_directory().glob(f"*{SUITE_FILE_SUFFIX}")}
    return sorted(own | set(_shipped_names()))


def _shipped_names() -> Iterator[str]:
    for path in SHIPPED_SUITES.glob(f"*{SUITE_FILE_SUFFIX}"):
        if any(_is_there(entry) for entry in read_suite(path).entries):
            yield path.stem


def _is_there(entry: SuiteEntry) -> bool:
    return entry.name.partition(":")[0] in BENCHMARKS


def _in(directory: Path, name: str) -> Path | None:
    """Return the path of a suite's file in a directory.

    None if the file does not exist, or the name points outside the directory.
    """
    path = directory / f"{name}{SUITE_FILE_SUFFIX}"
    return path if path.parent == directory and path.is_file() else None
