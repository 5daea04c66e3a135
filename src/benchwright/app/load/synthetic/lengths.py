"""Distributions of lengths in tokens: constant, normal, lognormal, or drawn from a file."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Literal

from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.user_paths import expand_user_path


class LengthDistribution(Record, frozen=True):
    """Distribution of lengths, as numbers of tokens (at least one).

    `mean`: mean of the lengths. `spread`: standard deviation of the lengths if the distribution is normal, and of
    their logarithms if it is lognormal. `values`: the lengths in a file, one of which is drawn. `text`: the
    distribution as typed.
    """

    kind: Literal["constant", "normal", "lognormal", "file"]
    mean: float
    spread: float = 0.0
    values: Sequence[int] = ()
    text: str = ""

    @classmethod
    def parse(cls, text: str, option: str) -> LengthDistribution:
        """Return the distribution for a text: `512`, `512:128`, `lognormal:512:0.6` or `file:lengths.txt`.

        Raises:
            UserError: If the text has none of these forms. The message names the option.
        """
        head, *rest = text.split(":", 1) if text.startswith("file:") else text.split(":")
        if head == "file" and rest:
            return _from_file(rest[0], text, option)
        numbers = rest if head == "lognormal" else [head, *rest]
        try:
            mean, *spread = map(float, numbers)
        except ValueError:
            mean, spread = 0.0, []
        if not 1 <= mean < math.inf or len(spread) != (head == "lognormal" or bool(rest)):
            raise UserError(
                f"{option} {text!r} is not a length in tokens: use 512, 512:128 (mean and spread), lognormal:512:0.6 "
                "or file:lengths.txt."
            )
        if not spread:
            return cls("constant", round(mean), text=text)
        if not 0 <= spread[0] < math.inf:
            raise UserError(f"{option} {text!r}: the spread is 0 or more.")
        return cls("lognormal" if head == "lognormal" else "normal", mean, spread[0], text=text)

    def draw(self, rng: random.Random) -> int:
        """Return one random length."""
        if self.kind == "file":
            return rng.choice(self.values)
        if self.kind == "normal":
            return max(1, round(rng.gauss(self.mean, self.spread)))
        if self.kind == "lognormal":
            drawn = rng.lognormvariate(math.log(self.mean) - self.spread**2 / 2, self.spread)
            return max(1, round(drawn))
        return round(self.mean)

    @property
    def description(self) -> str:
        """Description of the distribution, for messages."""
        if self.kind == "constant":
            return f"{self.mean:,.0f}"
        return f"{self.mean:,.0f} on average ({self.text})"


def _from_file(name: str, text: str, option: str) -> LengthDistribution:
    """Return the distribution of the lengths in a file that has one length per line.

    `text`: the distribution as typed.
    """
    try:
        lines = expand_user_path(name).read_text(encoding="utf-8").split()
        values = [int(line) for line in lines]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{option}: cannot read {name}: {error}.") from None
    except ValueError as error:
        raise UserError(f"{option}: {name} holds lengths in tokens, one a line: {error}.") from None
    if not values or min(values) < 1:
        raise UserError(f"{option}: {name} holds lengths in tokens of 1 or more, one a line.")
    return LengthDistribution("file", sum(values) / len(values), values=values, text=text)
