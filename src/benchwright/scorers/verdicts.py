"""Parser of the verdict in a judge's reply: `SCORE: N`, or JSON with a score."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from benchwright.errors import GraderError
from benchwright.scorers.ascii_characters import to_ascii
from benchwright.scorers.shared import shorten

MAX_BRACES = 200
"""Maximum number of braces at which the parser tries to read a JSON object."""

_VERDICT = re.compile(
    r"""[\s*_>#"`-]{0,8} (?:(?:final|overall|total|my)\s)? score [\s*_"`]{0,6} [:=] (?P<rest>.*)""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(
    r"""[\s*_"`$(\[{]{0,8} (?:\\boxed\{)? (?P<number>-?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)) (?![0-9.,]?[0-9])
    (?: \s? (?P<percent>%) | \s?(?:/|out\sof)\s? (?P<most>[0-9]+(?:\.[0-9]+)?) )?
    (?P<behind> .*)""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMENT = re.compile(
    r"""[*_"`)\]}.!$]{0,8} (?: \s*\Z | [*_.]{0,3} \s* [-\u2013\u2014(\[,;:.#] | \s+\(? (?!to\b|or\b|and\b|[0-9]) )""",
    re.VERBOSE,
)
_RANGE = re.compile(r"""[*_"`\s]{0,6}(?:-|\u2013|\u2014|to\b|or\b|and\b|,)\s?\.?[0-9]""", re.IGNORECASE)
_AGAIN = re.compile(r"\bscore\b\W{0,6}[:=]\W{0,6}[0-9]", re.IGNORECASE)
_OPENING = re.compile(r"\s*(?:```\w*\s*)?")
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)


def read_verdict(reply: str, lowest: float, highest: float) -> float:
    """Return the score in a judge's reply, mapped to 0 to 1. `lowest` and `highest` bound the judge's scale.

    The verdict is the last line. If an empty line and the reasons follow the first line, the verdict is the
    first line. A comment may follow the number. JSON is a verdict if it ends or begins the reply, with or
    without a fence. `4/5` means 4 on a scale up to 5. On a scale from 0 to 1, fractions and percentages are
    converted.

    Raises:
        GraderError: If the reply contains no verdict, several verdicts, or one that is not on the scale.
    """
    text = to_ascii(_THOUGHT.sub("", reply)).strip()
    number = _line_score(_last_line(text), lowest, highest)
    if number is None:
        number = _json_score(text)
    if number is None:
        first, blank_line, _ = text.partition("\n\n")
        number = (
            _line_score(first, lowest, highest) if blank_line and len(_AGAIN.findall(text)) == 1 else None
        )
    if number is None:
        raise GraderError(f"the judge's reply does not end with a score: {shorten(reply[-200:])!r}")
    if not lowest <= number <= highest:
        raise GraderError(f"the judge's score {number:g} is not on the scale {lowest:g} to {highest:g}")
    return (number - lowest) / (highest - lowest)


def _last_line(text: str) -> str:
    return text.removesuffix("```").rstrip().rpartition("\n")[2]


def _line_score(line: str, lowest: float, highest: float) -> float | None:
    """Return the number in a verdict line. Return None if the line is not a verdict.

    Raises:
        GraderError: If the line contains several scores, or a score out of a number other than the scale's
            highest.
    """
    verdict = _VERDICT.match(line)
    found = _NUMBER.match(verdict["rest"]) if verdict is not None else None
    if found is None or not _COMMENT.match(found["behind"]):
        return None
    if _RANGE.match(found["behind"]) or _AGAIN.search(found["behind"]):
        raise GraderError(f"the judge's reply gives several scores: {shorten(line.strip())!r}")
    number = float(found["number"].replace(",", "."))
    unit_scale = (lowest, highest) == (0.0, 1.0)
    if found["percent"] and unit_scale:
        return number / 100
    most = float(found["most"]) if found["most"] else None
    if most is None and not found["percent"]:
        return number
    if most == highest:
        return number
    if unit_scale and most:
        return number / most
    raise GraderError(
        f"the judge's score {shorten(line.strip())!r} is not on the scale {lowest:g} to {highest:g}"
    )


def _json_score(text: str) -> float | None:
    """Return the score in a JSON object at the end of the reply, otherwise in one at its beginning.

    Return None if there is no such object. The object may be in a fence. An object in the middle is ignored,
    because it may be quoted from the judged answer.
    """
    found = list(_objects(text))
    ends = [value for value, _, end in found if not text[end:].strip().strip("`")]
    begins = [value for value, start, _ in found if _OPENING.fullmatch(text[:start])]
    return next((score for value in (*ends, *begins) if (score := _score_of(value)) is not None), None)


def _objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield the outermost JSON objects of a text, with their start and end positions."""
    decoder, place = json.JSONDecoder(), text.find("{")
    for _ in range(MAX_BRACES):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value, place, end
        place = text.find("{", end)


def _score_of(value: Any) -> float | None:
    if not isinstance(value, dict):
        return None
    given = [found for name, found in value.items() if name.lower() == "score"]
    number = given[0] if len(given) == 1 else None
    if isinstance(number, bool) or not isinstance(number, (int, float)) or number != number:
        return None
    return float(number)
