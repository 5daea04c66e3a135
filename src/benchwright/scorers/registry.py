"""The built-in scorers by name, with their command-line options.

A scorer's module is imported only when the scorer is made, so that listing all scorers is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from benchwright.engine.protocols import Scorer
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean


class ScorerSpec(NamedTuple):
    """A built-in scorer: the name of its class, its description, and the parsers of its options.

    The class is in the module `benchwright.scorers.NAME`.
    """

    class_name: str
    description: str
    option_parsers: Mapping[str, Callable[[str], Any]]


def make_scorer(name: str, options: Mapping[str, str] | None = None) -> Scorer:
    """Make the built-in scorer with this name. `options` are its options, whose values are parsed from text.

    Raises:
        UserError: If there is no such scorer or option, or the value of an option is invalid.
    """
    kind = SCORERS.get(name)
    if kind is None:
        raise UserError(
            f"Unknown scorer '{name}'.{did_you_mean(name, SCORERS)} Scorers: {', '.join(SCORERS)}"
        )
    arguments = {option: _read(name, option, text) for option, text in (options or {}).items()}
    scorer: Scorer = getattr(import_module(f"benchwright.scorers.{name}"), kind.class_name)(**arguments)
    return scorer


def _read(name: str, option: str, text: str) -> Any:
    known = SCORERS[name].option_parsers
    if option not in known:
        raise UserError(
            f"Scorer '{name}' has no option '{option}'.{did_you_mean(option, known)} "
            f"Options: {', '.join(known)}"
        )
    try:
        return known[option](text)
    except ValueError as error:
        raise UserError(f"Scorer '{name}': {option}={text}: {error}") from error


def _yes_or_no(text: str) -> bool:
    try:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
    except KeyError:
        raise ValueError("give true or false") from None


def _tolerance(text: str) -> float:
    try:
        tolerance = float(text)
    except ValueError:
        raise ValueError("give a number") from None
    if not 0 <= tolerance < float("inf"):
        raise ValueError("give a number of 0 or more")
    return tolerance


def _letter_count(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 26:
        raise ValueError("give a number from 2 to 26")
    return int(text)


def _scale(text: str) -> str:
    if text not in ("0-1", "1-5"):
        raise ValueError("give 0-1 or 1-5")
    return text


SCORERS: Mapping[str, ScorerSpec] = {
    "exact": ScorerSpec(
        "Exact", "the answer is the target, apart from case, white space and quotes", {"strict": _yes_or_no}
    ),
    "numeric": ScorerSpec(
        "Numeric", "the answer's number equals the target's", {"relative": _tolerance, "absolute": _tolerance}
    ),
    "regex": ScorerSpec(
        "Regex",
        "the answer matches a pattern, the target by default",
        {"pattern": str, "full": _yes_or_no, "ignore_case": _yes_or_no},
    ),
    "json": ScorerSpec(
        "Json", "the answer's JSON equals the target, or contains it", {"contains": _yes_or_no}
    ),
    "mcq": ScorerSpec("MultipleChoice", "the letter that the answer settles on", {"letters": _letter_count}),
    "judge": ScorerSpec(
        "Judge", "another model scores the answer by a rubric", {"model": str, "rubric": str, "scale": _scale}
    ),
}
"""All built-in scorers by name. Their `description` is the line in `--help`."""
