"""How long a call of a pack may take."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple


class Limit(NamedTuple):
    """A limit that a call reached: `allowed` seconds, `of` which kind, and what happened `within` them."""

    allowed: float
    of: str
    within: str


class Quiet(NamedTuple):
    """How many `seconds` a call may be quiet; `last_sign` tells when (`time.monotonic`) others saw it at work last."""

    seconds: float
    last_sign: Callable[[], float]


class Patience:
    """A call may take so many `seconds` (None: any number), and be `quiet` for so long: no progress event, which is
    told here (`heard`), nor another sign of life.
    """

    def __init__(self, seconds: float | None, quiet: Quiet | None = None) -> None:
        self._seconds = math.inf if seconds is None else seconds
        self._quiet = quiet or Quiet(math.inf, lambda: -math.inf)
        self._begun = self._heard = monotonic()

    def heard(self) -> None:
        """Takes note of a sign of life."""
        self._heard = monotonic()

    def left(self) -> float:
        """Seconds until a limit is reached if nothing happens; 0 where one is."""
        now = monotonic()
        whole = self._begun + self._seconds - now
        quiet = max(self._heard, self._quiet.last_sign()) + self._quiet.seconds - now
        return max(0.0, min(whole, quiet))

    @property
    def reached(self) -> Limit:
        """The limit that was reached."""
        if monotonic() - self._begun >= self._seconds:
            return Limit(self._seconds, "seconds", "did not end")
        return Limit(
            self._quiet.seconds,
            "seconds without a request or progress",
            "neither asked nor reported anything",
        )
