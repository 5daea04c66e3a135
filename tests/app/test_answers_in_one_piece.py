"""How fast tokens came is known only where they were seen to come: no door has a figure of it otherwise.

A server that sends a short answer whole, or a proxy that passes it on at its end, once had "14,022 tokens/s of one
answer".
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure
from tests.app.load.telling_server import Piece, end, telling, text

from benchwright.records import RequestRecord, Usage

TOKENS = 60
USAGE = end(prompt_tokens=10, completion_tokens=TOKENS)


def whole(number: int) -> list[Piece]:
    """All of the answer in one chunk."""
    return [(0.2, text("word " * TOKENS)), *USAGE]


def flushed(number: int) -> list[Piece]:
    """A chunk for each token, all at once, as a proxy sends them that has waited for the end."""
    return [(0.2, text("word ")), *[(0.0, text("word "))] * (TOKENS - 1), *USAGE]


def in_pieces(number: int) -> list[Piece]:
    return [(0.1, text("word ")), *[(0.005, text("word "))] * (TOKENS - 1), *USAGE]


def after_hidden_reasoning(number: int) -> list[Piece]:
    """Twenty tokens are sent, 10 ms apart, and two hundred more are counted."""
    details = {"reasoning_tokens": 200}
    usage = end(prompt_tokens=10, completion_tokens=220, completion_tokens_details=details)
    return [(0.1, text("word ")), *[(0.01, text("word "))] * 19, *usage]


def evaluated(program: Program, script: Callable[[int], list[Piece]]) -> str:
    """Evaluate five rows; return what was printed."""
    with telling(script) as server:
        ended = program.run(*program.evaluating(program.rows(5), server.url, "--no-probe"))
    assert ended.returncode == 0, ended.stderr
    return " ".join(ended.stdout.split())


@pytest.mark.parametrize("script", [whole, flushed])
def test_no_door_claims_how_fast_the_tokens_of_one_piece_came(
    program: Program, script: Callable[[int], list[Piece]]
) -> None:
    printed = evaluated(program, script)
    (target,) = program.summary("show", program.only_run.name).targets
    requests = target.requests
    assert (requests.generation_tps_mean, requests.gap_p50, requests.prompt_tps_mean) == (None, None, None)
    assert requests.answers_at_once == 5
    for name in ("tokens/s of one answer", "between tokens, ms"):
        assert name not in printed
    assert "5 answers came in one piece" in printed
    program.run("report", program.only_run.name, "-o", "report.html")
    page = (program.directory / "report.html").read_text()
    assert "tokens/s of one answer" not in page
    assert "5 answers came in one piece" in page


@pytest.mark.parametrize("script", [whole, flushed])
def test_a_level_of_load_has_no_time_per_token_of_them(
    program: Program, script: Callable[[int], list[Piece]]
) -> None:
    with telling(script) as server:
        load = ("--synthetic-input", "5", "--requests", "12", "--warmup", "0", "--no-metrics")
        report = measure(program, server.url, *load)
    (level,) = report.levels
    assert (level.itl, level.gaps, level.at_once) == (None, None, 12)
    assert level.overall is not None
    assert (level.overall.tpot, level.overall.itl, level.overall.tpot_with_ttft) == (None, None, None)
    assert any("12 of 12 answers came in one piece" in note for note in report.notes)


@pytest.mark.parametrize(
    ("script", "per_second"), [(in_pieces, 200), (after_hidden_reasoning, 100)], ids=["all", "hidden"]
)
def test_pieces_that_came_are_timed_by_the_tokens_that_were_sent(
    program: Program, script: Callable[[int], list[Piece]], per_second: float
) -> None:
    """Of an answer of 220 tokens, 200 of them reasoning that nobody saw, 1,100 tokens/s were claimed."""
    printed = evaluated(program, script)
    (target,) = program.summary("show", program.only_run.name).targets
    found = target.requests.generation_tps_p50
    assert found is not None
    assert per_second / 3 < found < per_second * 1.1
    assert "came in one piece" not in printed


def answer(ttft: float, last: float, *, tokens: int = 60, chunks: int = 60) -> RequestRecord:
    """A request with an answer whose first and last token came after so many ms."""
    return RequestRecord(
        id="1",
        ttft=round(ttft * 1e6),
        last_token=round(last * 1e6),
        total=round(last * 1e6) + 300_000,
        chunks=chunks,
        later_tokens=tokens - 1,
        usage=Usage(prompt_tokens=10, completion_tokens=tokens),
    )


@pytest.mark.parametrize(
    ("record", "seen"),
    [
        (answer(200, 200), False),
        (answer(200, 200.8), False),
        (answer(200, 230), True),
        (answer(20_000, 20_060), False),
        (answer(20_000, 21_200), True),
        (answer(200, 201.5, tokens=20), True),
        (answer(200, 200, tokens=1, chunks=1), False),
    ],
    ids=["one piece", "a flush", "tokens", "a slow flush", "after a long wait", "very fast", "a token"],
)
def test_pieces_were_seen_if_they_came_apart_by_more_than_a_transfer_takes(
    record: RequestRecord, seen: bool
) -> None:
    assert (record.streaming_duration is not None) is seen
    assert (record.tokens_per_second_generation is not None) is seen
    assert record.is_single_burst is (not seen and record.completion_tokens > 1)


def test_an_answer_of_one_token_is_timed_and_not_called_whole(program: Program) -> None:
    printed = evaluated(
        program, lambda number: [(0.1, text("A")), *end(prompt_tokens=5, completion_tokens=1)]
    )
    assert "came in one piece" not in printed
    (target,) = program.summary("show", program.only_run.name).targets
    assert target.requests.prompt_tps_mean is not None
