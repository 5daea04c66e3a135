"""Checks values against the possible ones, by BFCL's rules for strings, lists and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchwright.catalog.bfcl.calls import Mistake

_IGNORED = re.compile(r"[ ,./\-_*^]")

MAY_BE_OMITTED = ""
"""Among the possible values, this means that the argument may be left out."""


def normalize_string(text: str) -> str:
    """Return a string normalised for comparison: no spaces, fewer marks, lower case, double quotes only."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def normalize_if_string(value: Any) -> Any:
    """Return `normalize_string` of a string; anything else unchanged."""
    return normalize_string(value) if type(value) is str else value


def check_string(name: str, value: str, possible: Sequence[Any]) -> Mistake | None:
    """Return a mistake unless the string equals a possible one, both normalised by `normalize_string`; else None."""
    if normalize_string(value) in [normalize_string(one) for one in possible if type(one) is str]:
        return None
    return Mistake("value_error:string", _not_among(name, value, possible))


def check_list(name: str, value: Sequence[Any], possible: Sequence[Any]) -> Mistake | None:
    """Return a mistake unless the list equals a possible one, element by element in order; else None.

    If the argument may be omitted, an empty list is right, too.
    """
    elements = [normalize_if_string(one) for one in value]
    for one in possible:
        if isinstance(one, (list, str)) and elements == [normalize_if_string(part) for part in one]:
            return None
    return Mistake("value_error:list/tuple", _not_among(name, value, possible))


def check_dict(value: dict[Any, Any], possible: Sequence[Any]) -> Mistake | None:
    """Return a mistake unless the dictionary fits a possible one; else None.

    If there are several possible ones, it is the mistake found for the last of them.
    """
    wrong: Mistake | None = Mistake("dict_checker:unclear", f"{value!r} fits no possible dictionary")
    for one in possible:
        if isinstance(one, dict):
            wrong = _misfit(value, one)
            if wrong is None:
                return None
    return wrong


def _misfit(value: dict[Any, Any], possible: dict[str, Any]) -> Mistake | None:
    """Return a mistake unless all keys and values are possible, and missing keys are optional; else None."""
    missing = [key for key, values in possible.items() if key not in value and MAY_BE_OMITTED not in values]
    if missing:
        return Mistake("value_error:dict_key", f"Missing dict key {missing[0]!r}.")
    for key, given in value.items():
        if key not in possible:
            return Mistake("value_error:dict_key", f"Unexpected dict key {key!r}.")
        values = possible[key]
        if normalize_if_string(given) not in [normalize_if_string(one) for one in values]:
            return Mistake("value_error:dict_value", _not_among(key, given, values))
    return None


def check_dicts(value: Sequence[Any], possible: Sequence[Any]) -> Mistake | None:
    """Return a mistake unless the list fits a possible list; else None.

    It fits if both have the same number of dictionaries, and these fit pairwise.
    """
    wrong = Mistake("list_dict_checker:unclear", f"{value!r} fits no possible list of dictionaries")
    for one in possible:
        if len(value) != len(one):
            wrong = Mistake("value_error:list_dict_count", "Wrong number of dictionaries in the list.")
            continue
        misfits = (_element_misfit(given, wanted) for given, wanted in zip(value, one, strict=True))
        found = next(filter(None, misfits), None)
        if found is None:
            return None
        wrong = found
    return wrong


def _element_misfit(given: Any, wanted: Any) -> Mistake | None:
    if isinstance(given, dict):
        return check_dict(given, [wanted])
    return Mistake("list_dict_checker:unclear", f"{given!r} is not a dictionary")


def check_other(name: str, value: Any, possible: Sequence[Any]) -> Mistake | None:
    """Return a mistake unless the value equals a possible one; else None."""
    return None if value in possible else Mistake("value_error:others", _not_among(name, value, possible))


def _not_among(name: str, value: Any, possible: Sequence[Any]) -> str:
    return f"Invalid value for parameter {name!r}: {value!r}. Expected one of {list(possible)!r}."
