"""When a failed request is asked again, and after how long."""

from __future__ import annotations

import random
import time

from benchwright.errors import ProviderError
from benchwright.records import Record


class RetryPolicy(Record, frozen=True):
    """`retries` further attempts at most; waits in seconds.

    A server that says how long to wait (Retry-After) is obeyed up to `longest_obeyed`; beyond that the
    request fails. Otherwise the wait doubles from `first` (from 1 s after a rate limit) up to `longest`,
    of which a random half is taken off, so that many clients do not come back at once.
    """

    retries: int = 5
    first: float = 0.25
    longest: float = 30.0
    longest_obeyed: float = 300.0

    def delay(self, error: ProviderError, attempt: int) -> float | None:
        """Seconds to wait before attempt `attempt + 1`, None where there is to be none."""
        if not error.retryable or attempt > self.retries:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_obeyed else None
        first = max(self.first, 1.0) if error.http_status == 429 else self.first
        ceiling = min(first * 2 ** (attempt - 1), self.longest)
        return float(ceiling * random.uniform(0.5, 1.0))


def parse_retry_after(value: str, now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks to wait: a number of seconds or an HTTP date (RFC 9110 10.2.3).

    None where it is neither. A date in the past is 0.
    """
    value = value.strip()
    try:
        seconds = float(value)
        return seconds if seconds >= 0 else None
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
