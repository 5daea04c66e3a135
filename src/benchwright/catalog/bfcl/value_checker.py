"""Whether values are among the possible ones: BFCL's rules for strings, lists and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchwright.catalog.bfcl.calls import Mistake

_IGNORED = re.compile(r"[ ,./\-_*^]")

OMITTED = ""
"""Among the possible values: the argument may be left out."""


def plain(text: str) -> str:
    """A string as it is compared: without spaces and some marks, in lower case, with double quotes only."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def plain_if_text(value: Any) -> Any:
    """`plain` of a string; anything else as it is."""
    return plain(value) if type(value) is str else value


def wrong_string(name: str, value: str, possible: Sequence[Any]) -> Mistake | None:
    """Equal to a possible string, once both are `plain`."""
    if plain(value) in [plain(one) for one in possible if type(one) is str]:
        return None
    return Mistake("value_error:string", _not_among(name, value, possible))


def wrong_list(name: str, value: Sequence[Any], possible: Sequence[Any]) -> Mistake | None:
    """Equal to a possible list, element by element in order. An omittable argument may be an empty list, too."""
    elements = [plain_if_text(one) for one in value]
    for one in possible:
        if isinstance(one, (list, str)) and elements == [plain_if_text(part) for part in one]:
            return None
    return Mistake("value_error:list/tuple", _not_among(name, value, possible))


def wrong_dict(value: dict[Any, Any], possible: Sequence[Any]) -> Mistake | None:
    """Fits one of the possible dictionaries; what is said of the last one is kept."""
    wrong: Mistake | None = Mistake("dict_checker:unclear", f"{value!r} fits no possible dictionary")
    for one in possible:
        if isinstance(one, dict):
            wrong = _misfit(value, one)
            if wrong is None:
                return None
    return wrong


def _misfit(value: dict[Any, Any], possible: dict[str, Any]) -> Mistake | None:
    """Every key is possible, with a possible value, and every key that is not given may be omitted."""
    missing = [key for key, values in possible.items() if key not in value and OMITTED not in values]
    if missing:
        return Mistake("value_error:dict_key", f"Missing dict key {missing[0]!r}.")
    for key, given in value.items():
        if key not in possible:
            return Mistake("value_error:dict_key", f"Unexpected dict key {key!r}.")
        values = possible[key]
        if plain_if_text(given) not in [plain_if_text(one) for one in values]:
            return Mistake("value_error:dict_value", _not_among(key, given, values))
    return None


def wrong_dicts(value: Sequence[Any], possible: Sequence[Any]) -> Mistake | None:
    """As many dictionaries as one possible list has, each fitting the one in its place."""
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
        return wrong_dict(given, [wanted])
    return Mistake("list_dict_checker:unclear", f"{given!r} is not a dictionary")


def wrong_other(name: str, value: Any, possible: Sequence[Any]) -> Mistake | None:
    """Equal to a possible value."""
    return None if value in possible else Mistake("value_error:others", _not_among(name, value, possible))


def _not_among(name: str, value: Any, possible: Sequence[Any]) -> str:
    return f"Invalid value for parameter {name!r}: {value!r}. Expected one of {list(possible)!r}."
