"""Columns of a dataset: finds the columns that hold the prompt and the target, and reports rows in which one
is missing.

`documented_row` applies the fixed rule of evaluations with an agent: three columns, which must exist.
`PromptColumns` is for evaluations without code. It recognises the columns of most public datasets by their
names, or uses the names that the user assigned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from string import ascii_uppercase
from typing import Any

import msgspec

from benchwright.data.errors import BadRow, DatasetValidationError
from benchwright.data.rows import Row
from benchwright.records import DECODE_ERRORS
from benchwright.suggestions import did_you_mean

DOCUMENTED_COLUMNS = ("ground_truth", "user_prompt", "system_prompt")

CONVENTIONAL_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "prompt": ("user_prompt", "prompt", "question", "input", "problem"),
    "target": ("ground_truth", "answer", "target", "expected", "label"),
    "options": ("options", "choices"),
    "system": ("system_prompt", "system"),
}
"""Mapping from each part of a prompt to the column names by which the part is recognised, ignoring case.

The first name of a part takes precedence. If a dataset lacks that name and has several others, the user must
choose a column.
"""

_decode_options = msgspec.json.Decoder(list[str]).decode


def documented_row(row: Row, index: int) -> Row:
    """Return the row with its three documented columns under lower-case names. Other columns are unchanged.

    `index` is the row's absolute index in the file, from 0.

    Raises:
        BadRow: If a documented column is missing, null, not text, or blank.
    """
    names = {name.lower(): name for name in row}
    missing = [column for column in DOCUMENTED_COLUMNS if column not in names]
    if missing:
        raise BadRow(index, f"Missing required columns: {missing}")
    documented = {column: _text(row[names[column]], column, index) for column in DOCUMENTED_COLUMNS}
    return documented | {name: value for name, value in row.items() if name.lower() not in documented}


class PromptColumns(msgspec.Struct, frozen=True):
    """The names of the columns that hold the parts of a prompt. None for a part that the dataset lacks.

    `options` is one column with a list, or several columns with one option each, as in the files of MMLU and
    C-Eval.
    """

    prompt: str
    target: str | None = None
    options: str | tuple[str, ...] | None = None
    system: str | None = None

    @classmethod
    def find(
        cls, columns: Iterable[str], given: Mapping[str, str] | None = None, *, needs_target: bool = True
    ) -> PromptColumns:
        """Find the column of each part of the prompt among a dataset's columns (the columns of its first row).

        `given` assigns columns to parts explicitly: `{"prompt": "body"}`. `needs_target` is False if nothing is
        compared with a target, as with a judge that only has a rubric.

        Raises:
            DatasetValidationError: If a part is missing or could be in several columns, or `given` names a part
                or a column that does not exist.
        """
        columns = list(columns)
        given = given or {}
        for part in given:
            if part not in CONVENTIONAL_COLUMNS:
                raise DatasetValidationError(
                    f"Unknown part '{part}' in --column {part}={given[part]}."
                    f"{did_you_mean(part, CONVENTIONAL_COLUMNS)} Parts: {', '.join(CONVENTIONAL_COLUMNS)}"
                )
        found = {
            part: _named(part, given[part], columns) if part in given else _conventional(part, columns)
            for part in CONVENTIONAL_COLUMNS
        }
        for part in ("prompt", "target") if needs_target else ("prompt",):
            if found[part] is None:
                raise DatasetValidationError(
                    f"No column for the {part} ({', '.join(CONVENTIONAL_COLUMNS[part])}); name it with "
                    f"--column {part}=NAME. Columns: {', '.join(columns)}"
                )
        if found["options"] is None:
            return msgspec.convert({**found, "options": _lettered_columns(columns) or None}, cls)
        return msgspec.convert(found, cls)

    def convert_row(self, row: Row, index: int) -> Row:
        """Return a row with the documented names: user_prompt, ground_truth, options, system_prompt.

        Options become lettered lines below the prompt, and the target becomes the letter of its option. If the
        target is a list, it stays a list, and an answer that equals any of its elements is right. Any other
        target that is not text is converted to JSON text. Columns that hold no part of the prompt keep their
        names and values. `index` is the row's absolute index in the file, from 0.

        Raises:
            BadRow: If a part is null, blank, or of the wrong type.
        """
        parts: Row = {"user_prompt": _text(row.get(self.prompt), self.prompt, index)}
        options = self._options(row, index)
        if options is not None:
            parts["options"] = options
            parts["user_prompt"] += "\n\n" + lettered_options(options)
        if self.target is not None:
            parts["ground_truth"] = _target(row.get(self.target), options, self.target, index)
        if self.system is not None and row.get(self.system) is not None:
            parts["system_prompt"] = _text(row[self.system], self.system, index)
        listed = self.options if isinstance(self.options, tuple) else (self.options,)
        used = (self.prompt, self.target, *listed, self.system)
        return {name: value for name, value in row.items() if name not in used} | parts

    def _options(self, row: Row, index: int) -> list[str] | None:
        """Return the options of a row. None if the row has no options.

        In a CSV file, the options are a JSON array in one column, or separate columns.
        """
        if isinstance(self.options, tuple):
            return _filled([row.get(column) for column in self.options], self.options, index)
        value = row.get(self.options) if self.options is not None else None
        if value is None:
            return None
        try:
            options = _decode_options(value) if isinstance(value, str) else msgspec.convert(value, list[str])
        except DECODE_ERRORS as error:
            raise BadRow(index, f"'{self.options}' must be a list of strings ({error})") from error
        if not 1 <= len(options) <= len(ascii_uppercase):
            raise BadRow(index, f"'{self.options}' must hold 1 to 26 options, got {len(options)}")
        return options


def _lettered_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns named A, B, C, … up to the first missing letter. Empty if there are fewer than two.

    Columns with lower-case letters do not count, because such columns may hold anything.
    """
    names = {column.strip(): column for column in columns}
    found = tuple(names[letter] for letter in takewhile(names.__contains__, ascii_uppercase))
    return found if len(found) > 1 else ()


def _filled(values: Sequence[Any], columns: Sequence[str], index: int) -> list[str] | None:
    """Return the options of a row from separate columns, up to the first empty column. None if all are empty.

    Raises:
        BadRow: If an option follows an empty column.
    """
    texts = [str(value) if value is not None and str(value).strip() else None for value in values]
    options = list(takewhile(lambda text: text is not None, texts))
    if any(text is not None for text in texts[len(options) :]):
        raise BadRow(index, f"'{columns[len(options)]}' is empty, but an option behind it is not")
    return [text for text in options if text is not None] or None


def lettered_options(options: Collection[str]) -> str:
    """Return the options as text, one per line, each as `A. text`."""
    return "\n".join(f"{letter}. {text}" for letter, text in zip(ascii_uppercase, options, strict=False))


def _named(part: str, name: str, columns: list[str]) -> str:
    if name not in columns:
        raise DatasetValidationError(
            f"No column '{name}' (--column {part}={name}).{did_you_mean(name, columns)} "
            f"Columns: {', '.join(columns)}"
        )
    return name


def _conventional(part: str, columns: list[str]) -> str | None:
    names = CONVENTIONAL_COLUMNS[part]
    found = [column for column in columns if column.lower() in names]
    first = [column for column in found if column.lower() == names[0]]
    if len(first or found) > 1:
        raise DatasetValidationError(
            f"Several columns could hold the {part}: {', '.join(found)}; choose with --column {part}=NAME. "
            f"Columns: {', '.join(columns)}"
        )
    return next(iter(first or found), None)


def _text(value: Any, column: str, index: int) -> str:
    if value is None:
        raise BadRow(index, f"'{column}' cannot be null")
    if not isinstance(value, str):
        raise BadRow(index, f"'{column}' must be a string, got {type(value).__name__}")
    if not value.strip():
        raise BadRow(index, f"'{column}' cannot be empty")
    return value


def _target(value: Any, options: list[str] | None, column: str, index: int) -> str | list[Any]:
    if options is not None and value is not None:
        return _letter(value, options, column, index)
    plain = msgspec.to_builtins(value)
    if isinstance(plain, list):
        return plain
    if plain is not None and not isinstance(plain, str):
        plain = msgspec.json.encode(plain).decode()
    return _text(plain, column, index)


def _letter(value: Any, options: list[str], column: str, index: int) -> str:
    """Return the letter of the option that a target denotes.

    `value` is the option's index, its letter, or its text.
    """
    letters = ascii_uppercase[: len(options)]
    if type(value) is int and 0 <= value < len(options):
        return letters[value]
    if isinstance(value, str):
        name = value.strip().upper()
        if len(name) == 1 and name in letters:
            return name
        if options.count(value) == 1:
            return letters[options.index(value)]
    raise BadRow(
        index,
        f"'{column}' must be a letter A to {letters[-1]}, an integer index 0 to {len(options) - 1} "
        f"or one of the options, got {value!r:.50}",
    )
