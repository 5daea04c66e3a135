"""Units that can be converted into each other, found by their words and signs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from benchwright.scorers.numbers.cursor import TokenCursor
from benchwright.scorers.numbers.quantity import PERCENT_UNIT, SHARE_DIMENSION, Unit

CURRENCY_BY_SIGN = {"$": "dollar", "€": "euro", "£": "gbp", "¥": "yen", "₹": "rupee", "¢": "cent"}

_MONEY = {
    "dollar": ("dollars usd us$ bucks", ("dollar",), "1"),
    "euro": ("euros eur", ("euro",), "1"),
    "gbp": ("", ("gbp",), "1"),
    "yen": ("jpy", ("yen",), "1"),
    "rupee": ("rupees inr rs rs.", ("rupee",), "1"),
    "cent": ("cents", ("dollar", "euro"), "1/100"),
    "pence": ("penny pennies", ("gbp",), "1/100"),
}
_MEASURES = {
    "length": "mm:1/1000 millimeter millimetre; cm:1/100 centimeter centimetre; m:1 meter metre; km:1000 kilometer "
    "kilometre; inch:0.0254 inches; foot:0.3048 feet ft; yard:0.9144 yd; mile:1609.344 mi",
    "mass": "mg:1/1000000 milligram; g:1/1000 gram; kg:1 kilogram kilo; tonne:1000; oz:0.028349523125 ounce; "
    "lb:0.45359237 lbs",
    "time": "ms:1/1000 millisecond; second:1 s sec secs; minute:60 min mins; hour:3600 h hr hrs; day:86400; "
    "week:604800",
    "years": "month:1; year:12 yr yrs",
    "volume": "ml:1/1000 mL milliliter millilitre; l:1 L liter litre; gallon:3.785411784 gal",
    "angle": "degree:1 deg; rad:57.29577951308232 radian",
    "data": "kb:1 KB; mb:1000 MB; gb:1000000 GB; tb:1000000000 TB",
    "count": "dozen:12",
}
_SHARES = {"percent": "1/100", "pct": "1/100", "permille": "1/1000"}


def _units() -> Iterator[tuple[str, Unit]]:
    for name, (others, dimensions, factor) in _MONEY.items():
        unit = Unit(name, frozenset(dimensions), Fraction(factor))
        yield from ((each, unit) for each in (name, *others.split()))
    for dimension, measures in _MEASURES.items():
        for measure in measures.split("; "):
            sized, *names = measure.split()
            name, _, factor = sized.partition(":")
            unit = Unit(name, frozenset({dimension}), Fraction(factor))
            for each in (name, *names):
                yield each, unit
                if len(each) > 1:
                    yield f"{each}s", unit
    for name, factor in _SHARES.items():
        yield name, Unit("%" if factor == "1/100" else name, SHARE_DIMENSION, Fraction(factor))


UNIT_BY_NAME: dict[str, Unit] = dict(_units())
"""Mapping from a unit's name to the unit. Names are in lower case, except short ones such as `L`, `mL`, `KB`."""

POWER_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
UNIT_BY_SIGN = {sign: UNIT_BY_NAME[name] for sign, name in CURRENCY_BY_SIGN.items()} | {
    "%": PERCENT_UNIT,
    "‰": UNIT_BY_NAME["permille"],
    "°": UNIT_BY_NAME["degree"],
}
"""Mapping from a sign, such as %, to its unit."""


def find_unit(word: str) -> Unit | None:
    """Return the unit with this name. Return None if there is no such unit.

    Words of one or two letters must match exactly: `L` is a liter, and `M` is no unit.
    """
    if word in UNIT_BY_NAME:
        return UNIT_BY_NAME[word]
    return UNIT_BY_NAME.get(word.lower()) if len(word) > 2 else None


def raise_unit_to_power(unit: Unit, power: int) -> Unit:
    """Return a unit of area or volume: a unit of length raised to `power`."""
    return Unit(
        f"{unit.name}^{power}", frozenset(f"{each}^{power}" for each in unit.dimensions), unit.factor**power
    )


def read_unit(cursor: TokenCursor) -> Unit | None:
    """Read the unit at the cursor, move past it and return it.

    Return None if there is no unit, or if the unit is that of a rate (km/h).
    """
    found = _unit_at(cursor)
    if found is None:
        return None
    unit, count = found
    power = POWER_WORDS.get(cursor.tokens[cursor.place].text, 1)
    cursor.place += count
    power = _power(cursor) or power
    after = cursor.peek(1)
    if cursor.is_word("per") or (cursor.is_sign("/") and after is not None and after.kind == "word"):
        return None
    return unit if power == 1 else raise_unit_to_power(unit, power)


def _unit_at(cursor: TokenCursor) -> tuple[Unit, int] | None:
    """Return the unit at the cursor and its number of tokens. Return None if there is no unit."""
    token, after = cursor.peek(), cursor.peek(1)
    if token is None:
        return None
    if token.kind == "word":
        if token.text == "per" and cursor.is_word("cent", ahead=1):
            return PERCENT_UNIT, 2
        if token.text in POWER_WORDS:
            unit = find_unit(after.text) if after is not None else None
            return (unit, 2) if unit else None
        unit = find_unit(token.text)
        return (unit, 1) if unit else None
    if cursor.is_sign("^") and cursor.is_sign("°", ahead=1):
        return UNIT_BY_SIGN["°"], 2
    if token.kind != "sign" or token.text not in UNIT_BY_SIGN:
        return None
    begins_next = (
        token.text in CURRENCY_BY_SIGN
        and cursor.is_number(1)
        and after is not None
        and not after.is_after_blank
    )
    return None if begins_next else (UNIT_BY_SIGN[token.text], 1)


def _power(cursor: TokenCursor) -> int | None:
    """Read the exponent of a unit (², ^2, ^{2}) and return it. Return None if there is no exponent."""
    token = cursor.peek()
    if token is not None and token.kind == "raised" and token.text in ("²", "³"):
        cursor.place += 1
        return 2 if token.text == "²" else 3
    for digit, length in ((cursor.peek(1), 2), (cursor.peek(2), 4)):
        if cursor.is_sign("^") and digit is not None and digit.text in ("2", "3"):
            cursor.place += length
            return int(digit.text)
    return None
