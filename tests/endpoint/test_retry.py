"""How long the client waits before it asks again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.endpoint.failures import RetryPolicy, parse_retry_after
from benchwright.errors import ProviderError

NOON = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("value", "seconds"), [("120", 120), (" 0 ", 0), ("1.5", 1.5), ("1e400", math.inf)]
    )
    def test_may_be_seconds(self, value: str, seconds: float) -> None:
        assert parse_retry_after(value) == seconds

    @pytest.mark.parametrize(
        "value",
        ["Sun, 06 Nov 1994 08:50:07 GMT", "Sunday, 06-Nov-94 08:50:07 GMT", "Sun Nov  6 08:50:07 1994"],
    )
    def test_may_be_a_date_in_the_three_forms_of_http(self, value: str) -> None:
        assert parse_retry_after(value, now=NOON) == 30

    def test_a_date_in_the_past_is_now(self) -> None:
        assert parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now=NOON) == 0

    @pytest.mark.parametrize(
        "value", ["", "soon", "-1", "nan", "Sun, 99 Nov 1994", "Mon, 01 Jan 99999999999999 00:00:00 GMT"]
    )
    def test_is_nothing_where_it_is_neither(self, value: str) -> None:
        assert parse_retry_after(value) is None

    @given(st.text() | st.from_regex(r"\w+, \d+ \w+ \d+ \d+:\d+:\d+ [+-]?\w+"))
    def test_whatever_comes_is_read_or_nothing(self, value: str) -> None:
        seconds = parse_retry_after(value)
        assert seconds is None or seconds >= 0


def failed(
    http_status: int | None = 500, retry_after: float | None = None, retryable: bool = True
) -> ProviderError:
    return ProviderError("x", http_status=http_status, retry_after=retry_after, retryable=retryable)


class TestTheWait:
    @given(st.integers(1, 5))
    def test_doubles_and_at_most_half_of_it_is_taken_off(self, attempt: int) -> None:
        delay = RetryPolicy(first_delay=0.5, max_delay=4).delay(failed(), attempt)
        assert delay is not None
        longest = min(0.5 * 2 ** (attempt - 1), 4)
        assert longest / 2 <= delay <= longest

    def test_differs_from_client_to_client(self) -> None:
        assert len({RetryPolicy().delay(failed(), 1) for _ in range(10)}) > 1

    def test_is_longer_after_a_rate_limit_that_names_none(self) -> None:
        delay = RetryPolicy(first_delay=0.001).delay(failed(429), 1)
        assert delay is not None
        assert 0.5 <= delay <= 1

    def test_is_what_the_server_says(self) -> None:
        assert RetryPolicy().delay(failed(429, retry_after=17), 1) == 17

    def test_is_not_to_be_had_where_the_server_says_too_much(self) -> None:
        assert RetryPolicy(max_rate_limit_wait=20).delay(failed(429, retry_after=20), 1) == 20
        assert RetryPolicy(max_rate_limit_wait=20).delay(failed(429, retry_after=21), 1) is None
        assert RetryPolicy().delay(failed(429, retry_after=math.inf), 1) is None

    def test_ends_with_the_retries(self) -> None:
        policy = RetryPolicy(retries=2)
        assert [policy.delay(failed(), attempt) is None for attempt in (1, 2, 3)] == [False, False, True]

    def test_is_pointless_where_the_error_stays(self) -> None:
        assert RetryPolicy().delay(failed(retryable=False), 1) is None
