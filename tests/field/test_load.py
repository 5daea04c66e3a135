"""`load` on a real server: requests, tokens and latencies are those of the server's own log.

Latency as we see it holds the server's, and at most `SLACK` of it and `DELAY` more, for connecting and for a client
that shares the machine with the server. While more requests are in flight than a server has slots, they wait as well,
of which logs do not tell; then only the first half of this is asserted.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest
from tests.field.field_kit import CAPITALS, ONE_SENTENCE, PRECISE, Field, check_counted, requests

SLACK, DELAY = 0.5, 0.5
COUNT = 8


def measure(field: Field, *level: str) -> dict[str, Any]:
    """Measure one level whose every request must be answered; return what `--json` says of it."""
    rows = field.rows(CAPITALS)
    sampling = ("--max-tokens", "24", *ONE_SENTENCE, *PRECISE)
    with field.log() as log:
        document = field.document("load", "-d", rows, "--requests", str(COUNT), *level, *sampling)
    asked = requests(field.program.only_run)
    assert [request.error for request in asked] == [None] * COUNT
    check_counted(field, asked, log.requests)
    found: dict[str, Any]
    (found,) = document["levels"]
    assert found["requests"] == COUNT
    served = [one.milliseconds / 1000 for one in log.requests if one.milliseconds is not None]
    if served:
        ours, theirs = found["latency"]["p50"]["value"], median(served)
        assert 0.95 * theirs <= ours
        if found["in_flight"] <= field.running.slots:
            assert ours <= (1 + SLACK) * theirs + DELAY
    return found


@pytest.mark.feature("closed")
def test_a_closed_loop_agrees_with_the_log(field: Field) -> None:
    measure(field, "--concurrency", "2", "--warmup", "0")


@pytest.mark.feature("open")
def test_an_open_loop_agrees_with_the_log(field: Field) -> None:
    measure(field, "--rate", "2", "--arrivals", "constant", "--warmup", "0")
