"""Suite files: lists of benchmarks, packs and evals, with their models and settings; see docs/suites.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchwright.app.models_file import models_in_toml, read_models, read_toml
from benchwright.config import ModelEntry, check_run_name
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean
from benchwright.text import make_safe

PACK_PREFIX = "pack:"
"""Prefix that marks the names of bench packs in lists of packs and benchmarks."""

SUITE_FILE_SUFFIX = ".toml"

SUITE_KEYS = ("name", "models", "defaults", "benchmarks")
KEYS_OUTSIDE_OPTIONS = {"model", "models", "suite", "config"}
"""Command options that have keys of their own in a suite file, instead of being among the options."""

COMMAND_LINE_ONLY_OPTIONS = {"dry_run", "json", "quiet", "price", "speed", "csv", "markdown"}
"""Command options that apply to a single call and cannot be in a suite file."""

LABELS_HINT = (
    "labels are of one run: take them in when it is finished, with `benchwright judge labels RUN FILE`"
)

EntryKind = Literal["benchmark", "pack", "eval"]


class SuiteEntry(NamedTuple):
    """One entry of a suite: a benchmark, a pack or an eval.

    `options`: options of the entry's command, as in settings files.
    """

    kind: EntryKind
    name: str
    options: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Name of the entry as typed in `run`."""
        return f"{PACK_PREFIX}{self.name}" if self.kind == "pack" else self.name


class Suite(NamedTuple):
    """A suite as its file describes it. If `models` is empty, they are given on the command line.

    `defaults`: options for all entries. `given_name`: name or file of the suite as the user typed it. A suite made
    of benchmarks typed on the command line has neither `given_name` nor a `path`. `missing_benchmarks`: benchmarks
    that this version does not have.
    """

    path: Path | None
    name: str
    models: tuple[ModelEntry, ...]
    defaults: Mapping[str, Any]
    entries: Sequence[SuiteEntry]
    given_name: str = ""
    missing_benchmarks: tuple[str, ...] = ()


def read_suite(path: Path) -> Suite:
    """Return the suite that a file describes.

    Raises:
        UserError: If the file cannot be read or is invalid. The message names the place in the file.
    """
    content = read_toml(path)
    for key in content:
        if key not in SUITE_KEYS:
            hint = did_you_mean(key, SUITE_KEYS) or f" A suite has {', '.join(SUITE_KEYS)}."
            raise UserError(f"{path}: unknown key {make_safe(key)!r}.{hint}")
    defaults, entries = content.get("defaults", {}), content.get("benchmarks")
    if not isinstance(defaults, dict):
        raise UserError(f"{path}: defaults is a table [defaults].")
    if not isinstance(entries, list) or not entries or not all(isinstance(one, dict) for one in entries):
        raise UserError(
            f"{path} names no benchmarks: write a table [[benchmarks]] with `name = ...` for each."
        )
    for options in (defaults, *entries):
        _check_place(path, options)
    if own := defaults.keys() & {"name", "dataset"}:
        raise UserError(f"{path}: {min(own)!r} is of one benchmark: it has no place in [defaults].")
    name, models = _name(content, path), _models(content, path)
    return Suite(path, name, models, defaults, list(_entries(entries, path)), str(path))


def suite_name(text: str) -> str:
    """Return the name of a suite. `text`: the name itself, or the path of the suite's file.

    Raises:
        UserError: If the file cannot be read, or the name in it is invalid.
    """
    path = Path(text)
    return _name(read_toml(path), path) if path.suffix == SUITE_FILE_SUFFIX else text


def _name(content: Mapping[str, Any], path: Path) -> str:
    try:
        return check_run_name(str(content.get("name", path.stem)))
    except ValueError as error:
        raise UserError(f"{path}: name: {error}.") from None


def _models(content: Mapping[str, Any], path: Path) -> tuple[ModelEntry, ...]:
    given = content.get("models", ())
    if isinstance(given, str):
        return read_models(Path(given))
    return models_in_toml(content, path) if given != () else ()


def _check_place(path: Path, options: Mapping[str, Any]) -> None:
    for key in options:
        if key.replace("-", "_") in KEYS_OUTSIDE_OPTIONS:
            raise UserError(
                f"{path}: {make_safe(key)!r} has no place there: all models of a suite stand in [[models]]."
            )
        if key.replace("-", "_") in COMMAND_LINE_ONLY_OPTIONS:
            raise UserError(f"{path}: {make_safe(key)!r} has no place there: it is for the command line.")
        if key.replace("-", "_") == "judge_labels":
            raise UserError(f"{path}: {LABELS_HINT}.")


def _entries(written: Sequence[Mapping[str, Any]], path: Path) -> Iterator[SuiteEntry]:
    found = set[str]()
    for number, options in enumerate(written, 1):
        entry = _entry(options, f"{path}, benchmark {number}")
        if entry.title in found:
            raise UserError(
                f"{path}: {make_safe(entry.title)} appears twice: give each eval its own `name`, "
                "and put a benchmark with other settings into another suite."
            )
        found.add(entry.title)
        yield entry


def _entry(written: Mapping[str, Any], place: str) -> SuiteEntry:
    name, dataset = written.get("name"), written.get("dataset")
    if not all(isinstance(one, str) for one in (name, dataset) if one is not None):
        raise UserError(f"{place}: name and dataset are texts.")
    if dataset is not None:
        return SuiteEntry("eval", name or Path(dataset).stem, written)
    if not name:
        near = next((hint for key in written if (hint := did_you_mean(key, ["name", "dataset"]))), "")
        raise UserError(f"{place}: give the name of a benchmark, pack:NAME, or the dataset of an eval.{near}")
    options = {key: value for key, value in written.items() if key != "name"}
    if name.startswith(PACK_PREFIX):
        return SuiteEntry("pack", name.removeprefix(PACK_PREFIX), options)
    return SuiteEntry("benchmark", name, options)
