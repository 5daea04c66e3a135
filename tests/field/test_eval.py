"""`eval` on a real server: a certain answer is scored right, and tokens and requests are those of the server's log."""

from __future__ import annotations

import pytest
from tests.field.field_kit import CAPITALS, ONE_SENTENCE, PRECISE, Field, check_counted, requests

BY_PATTERN = ("--scorer", "regex", "--max-tokens", "24", *ONE_SENTENCE, "--concurrency", "2", *PRECISE)


@pytest.mark.feature("whole")
def test_whole_answers_are_scored_and_counted(field: Field) -> None:
    rows = field.rows(CAPITALS)
    with field.log() as log:
        summary = field.summary("eval", "-d", rows, *BY_PATTERN, "--no-stream")
    (target,) = summary.targets
    assert target.statuses == {"scored": len(CAPITALS)}
    assert target.scores[0].mean == 1.0
    assert not summary.simulated
    asked = requests(field.program.only_run)
    check_counted(field, asked, log.requests)
    assert all(request.ttft is None for request in asked)


@pytest.mark.feature("streamed")
def test_streamed_answers_are_scored_counted_and_timed(field: Field) -> None:
    rows = field.rows(CAPITALS)
    with field.log() as log:
        summary = field.summary("eval", "-d", rows, *BY_PATTERN)
    (target,) = summary.targets
    assert target.statuses == {"scored": len(CAPITALS)}
    assert target.scores[0].mean == 1.0
    asked = requests(field.program.only_run)
    check_counted(field, asked, log.requests)
    for request in asked:
        assert request.finish_reason == "stop"
        assert request.ttft is not None
        assert 0 < request.ttft <= request.total
