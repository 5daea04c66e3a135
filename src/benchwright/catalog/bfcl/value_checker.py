"""Checks values against the possible values, by BFCL's rules for strings, lists and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchwright.catalog.bfcl.calls import Mistake

_IGNORED = re.compile(r"[ ,./\-_*^]")

OPTIONAL_ARGUMENT_MARK = ""
"""The entry among a parameter's possible values that means that the argument may be left out."""


def normalize_string(text: str) -> str:
    """Return a string normalised for comparison: without blanks and the marks `,./-_*^`, in lower case.

    Single quotes become double quotes.
    """
    return _IGNORED.sub("", text).lower().replace("'", '"')


def normalize_if_string(value: Any) -> Any:
    """Return `normalize_string` of a value if it is a string. Return other values unchanged."""
    return normalize_string(value) if type(value) is str else value


def check_string(name: str, value: str, possible: Sequence[Any]) -> Mistake | None:
    """Check that the string equals one of the possible strings, all normalised by `normalize_string`.

    Return None if it does. Return the mistake otherwise.
    """
    if normalize_string(value) in [normalize_string(one) for one in possible if type(one) is str]:
        return None
    return Mistake("value_error:string", _not_among(name, value, possible))


def check_list(name: str, value: Sequence[Any], possible: Sequence[Any]) -> Mistake | None:
    """Check that the list equals one of the possible lists: the same elements in the same order.

    If the argument may be omitted, an empty list is right, too. Return None if the list is right, otherwise
    the mistake.
    """
    elements = [normalize_if_string(one) for one in value]
    for one in possible:
        if isinstance(one, (list, str)) and elements == [normalize_if_string(part) for part in one]:
            return None
    return Mistake("value_error:list/tuple", _not_among(name, value, possible))


def check_dict(value: dict[Any, Any], possible: Sequence[Any]) -> Mistake | None:
    """Check that the dictionary fits one of the possible dictionaries.

    Return None if it does. Otherwise return the mistake found for the last possible dictionary.
    """
    wrong: Mistake | None = Mistake("dict_checker:unclear", f"{value!r} fits no possible dictionary")
    for one in possible:
        if isinstance(one, dict):
            wrong = _misfit(value, one)
            if wrong is None:
                return None
    return wrong


def _misfit(value: dict[Any, Any], possible: dict[str, Any]) -> Mistake | None:
    """Check that all keys of a dictionary and their values are possible, and that no required key is missing.

    Return None if this is so. Return the mistake otherwise.
    """
    missing = [
        key for key, values in possible.items() if key not in value and OPTIONAL_ARGUMENT_MARK not in values
    ]
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
    """Check that a list of dictionaries fits one of the possible lists.

    It fits if both lists have the same length, and if the dictionaries at the same index fit. Return None if
    the list fits. Otherwise return the mistake found for the last possible list.
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


def check_other_value(name: str, value: Any, possible: Sequence[Any]) -> Mistake | None:
    """Check that the value equals one of the possible values. Return None if it does, otherwise the mistake."""
    return None if value in possible else Mistake("value_error:others", _not_among(name, value, possible))


def _not_among(name: str, value: Any, possible: Sequence[Any]) -> str:
    return f"Invalid value for parameter {name!r}: {value!r}. Expected one of {list(possible)!r}."
