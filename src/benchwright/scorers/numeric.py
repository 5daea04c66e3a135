"""Numeric: the number that the answer comes to equals the target's, within a tolerance."""

from __future__ import annotations

import re
from math import inf, isclose
from typing import NamedTuple

from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.scorers.shared import NO_ANSWER, quoted, tail, target_text

VERSION = 1

_UNSIGNED = r"""
    (?: [0-9]{1,3} (?: (?: , | \{,\} | ,?\\[,;!] | [\u00a0\u2009\u202f] ) [0-9]{3} )+ (?![0-9])
      | [0-9]+ | (?=\.[0-9]) )
    (?: \.[0-9]+ )?
    (?: [eE] [-+\u2212]? [0-9]{1,3} (?![\w]) )?"""
_EXPONENT = r"(?: \s?(?:\^|\*\*)\s? \{? ([-+\u2212]?[0-9]{1,3}) \}? | ([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}) )"

_NUMBER = re.compile(
    rf"""
    (?<![\w^]) (?<![0-9]\.) (?<![\^_]\{{)
    (?: (?<![)\]}}]) (?P<sign>[-+\u2212]) (?:\\?[$€£¥])? )?
    (?: \\[dt]?frac \s?\{{ (?P<over>{_UNSIGNED}) \}} \s?\{{ (?P<under>{_UNSIGNED}) \}}
      | (?P<number>{_UNSIGNED})
        (?: / (?P<divisor>{_UNSIGNED})
          | \s?(?:\u00d7|x|·|\*|\\times|\\cdot)\s?10 (?P<scale>{_EXPONENT})
          | (?P<power>{_EXPONENT}) )? )
    (?P<percent> \s?\\?% )?""",
    re.VERBOSE,
)
_STATED = re.compile(
    r"(?i:answer)(?:\s+is|\s*[:=])[\s:*$(\[=~≈\\]{0,12}"
    r"(?:(?:about|approximately|exactly|roughly|therefore|thus)\s+[*$(\\]{0,4})?"
)
_BOXED = "\\boxed{"
_LONGEST_BOX = 500
_PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺\u2212", "0123456789-+-", ",{}\\;! \u00a0\u2009\u202f")


class Number(NamedTuple):
    """A number as it was written: `value` before its percent sign, if `percent`, is taken into account."""

    value: float
    percent: bool
    span: str


class Numeric:
    """1 where the answer's number equals the target's, else 0; `unparsed` where the answer has none.

    The answer's number is, in this order: the one in the last `\\boxed{}`, after the last `####`, after
    the last "answer is" or "answer:", the last of all. The target's is found in the same way.

    Two numbers are equal if they differ by at most `relative` times the larger or by at most `absolute`.
    Where only one of them has a percent sign it may be read either way: 50% equals 50 and 0.5.
    """

    name = "numeric"

    def __init__(self, *, relative: float = 1e-9, absolute: float = 0.0) -> None:
        self.relative = relative
        self.absolute = absolute
        self.fingerprint = fingerprint(self.name, VERSION, relative, absolute)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Compares the answer's number with that of `ground_truth`."""
        target = final_number(target_text(sample))
        if target is None:
            raise GraderError(f"sample {sample.id}: there is no number in its ground_truth")
        number = final_number(outcome.answer)
        if number is None:
            return NO_ANSWER
        return Score(1.0 if self._equal(number, target) else 0.0, span=quoted(number.span))

    def _equal(self, one: Number, other: Number) -> bool:
        if self._close(one.value, other.value):
            return True
        return one.percent != other.percent and self._close(_fraction(one), _fraction(other))

    def _close(self, one: float, other: float) -> bool:
        return isclose(one, other, rel_tol=self.relative, abs_tol=self.absolute)


def final_number(text: str) -> Number | None:
    """The number that a text comes to, in the order given at `Numeric`; None where there is none.

    Read are: signs, thousands (`1,234`, `1{,}234`, or parted by a thin or no-break space), decimals with a
    point, `1.5e-3`, `1.5 x 10^-3`, `10^6`, `3/4`, `\\frac{3}{4}`, a currency sign between sign and digits,
    and a percent sign. Only the end of a very long text is searched, see `shared.tail`.
    """
    text = tail(text)
    return _boxed(text) or _after_hashes(text) or _stated(text) or _last(text)


def _boxed(text: str) -> Number | None:
    start = text.rfind(_BOXED)
    if start < 0:
        return None
    return _first(_braced(text, start + len(_BOXED)))


def _braced(text: str, start: int) -> str:
    depth = 1
    for place in range(start, min(len(text), start + _LONGEST_BOX)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place]
    return ""


def _after_hashes(text: str) -> Number | None:
    _, hashes, after = text.rpartition("####")
    return _first(after.split("\n", 1)[0]) if hashes else None


def _stated(text: str) -> Number | None:
    last = None
    for statement in _STATED.finditer(text):
        last = _read(_NUMBER.match(text, statement.end())) or last
    return last


def _last(text: str) -> Number | None:
    last = None
    for match in _NUMBER.finditer(text):
        last = match
    return _read(last)


def _first(text: str) -> Number | None:
    """The first number of a short text, behind the last `=` if there is one."""
    return _read(_NUMBER.search(text.rpartition("=")[2]))


def _read(match: re.Match[str] | None) -> Number | None:
    if match is None:
        return None
    value = _magnitude(match)
    if not -inf < value < inf:
        return None
    sign = -1.0 if match["sign"] in ("-", "\u2212") else 1.0
    return Number(sign * value, match["percent"] is not None, match[0])


def _magnitude(match: re.Match[str]) -> float:
    """The size of the number without its sign; infinite where it is too large or its divisor is 0."""
    number = _plain(match["number"] or match["over"])
    divisor = match["divisor"] or match["under"]
    try:
        if divisor:
            return number / _plain(divisor)
        if match["scale"]:
            return number * 10.0 ** _exponent(match["scale"])
        if match["power"]:
            return number ** _exponent(match["power"])
    except (OverflowError, ZeroDivisionError):
        return inf
    return number


def _plain(digits: str) -> float:
    return float(digits.translate(_PLAIN_DIGITS))


def _exponent(written: str) -> int:
    return int(written.lstrip("^* {").translate(_PLAIN_DIGITS))


def _fraction(number: Number) -> float:
    return number.value / 100 if number.percent else number.value
