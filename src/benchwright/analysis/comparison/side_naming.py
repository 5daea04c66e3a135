"""Names of the sides of a comparison in readable output: their models if possible, otherwise letters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from benchwright.analysis.comparison.records import Comparison

MAX_NAME_LENGTH = 20
"""Maximum number of characters of a model's name in tables and sentences."""

_PLAIN = re.compile(r"(?!www\.)[A-Za-z0-9][\w./+-]*(:[\w.+-]+)?", re.ASCII)
"""Regular expression for names that look the same in every output format: without markup, links or mentions."""


def side_letter(number: int) -> str:
    """Return the letter of the side with this number, from 0: A to Z, then A2, B2, ..."""
    round_, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(round_ + 1) if round_ else "")


def side_names(models: Sequence[str], letters: Sequence[str]) -> list[str]:
    """Return the models as names of the sides, if the models are all different, short and plain.

    Return the letters as names otherwise.
    """
    fit = all(len(model) <= MAX_NAME_LENGTH and _PLAIN.fullmatch(model) for model in models)
    return list(models if fit and len(set(models)) == len(models) else letters)


def with_side_names(comparison: Comparison) -> Comparison:
    """Return the comparison with names instead of letters, for display. `--json` keeps the letters."""
    names = {run.letter: run.name for run in comparison.runs}
    return replace(
        comparison,
        runs=[replace(run, letter=run.name) for run in comparison.runs],
        pairs=[replace(pair, a=names[pair.a], b=names[pair.b]) for pair in comparison.pairs],
        by_concurrency=[
            replace(table, rows=[replace(row, letter=names[row.letter]) for row in table.rows])
            for table in comparison.by_concurrency
        ],
    )
