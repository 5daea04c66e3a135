"""Faults that were published of load clients: each played by a server that knows the truth.

Faults that other modules test: shed load (`test_load_unknown.py`), prompts that a
cache knows (`test_warm_cache.py`), coordinated omission and the limit of what is in flight (`test_load_command.py`),
block sizes (`test_trace_replay.py`), objectives and cut answers (`test_load_figures.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, prompts
from tests.app.load.telling_server import Piece, Script, TellingServer, delta, end, telling, text

from benchwright.analysis.load.figure_records import FigureEstimate, TimeDistribution
from benchwright.analysis.load.records import LevelResult

SLACK = 0.09
"""Seconds by which a busy machine may be late; each fault is off by more."""


def level_of(program: Program, server: TellingServer, *arguments: str, long: int = 0) -> LevelResult:
    """The only level of a measurement of this server, its prompts so many characters long."""
    rows = prompts(program, [f"question {number} " + "x" * long for number in range(8)])
    (level,) = measure(
        program, server.url, "--dataset", rows, "--no-metrics", "--warmup", "0", *arguments
    ).levels
    return level


def played(program: Program, script: Script, *arguments: str, long: int = 0) -> LevelResult:
    with telling(script) as server:
        return level_of(program, server, *(arguments or ("--requests", "6")), long=long)


def middle(spread: TimeDistribution | None) -> float:
    assert spread is not None
    return spread.p50.value


def per_second(rate: FigureEstimate | None) -> float:
    assert rate is not None
    return rate.value


def words(count: int, seconds: float, each: str = " word") -> list[Piece]:
    """So many pieces, each so long after the one before."""
    return [(seconds, text(each))] * count


def test_2_a_chunk_with_only_a_role_and_empty_ones_are_no_first_token(program: Program) -> None:
    silent: list[Piece] = [(0.0, delta(role="assistant")), *[(0.01, text(""))] * 4]
    level = played(program, lambda number: [*silent, (0.26, text("late")), *end(completion_tokens=1)])
    assert 0.28 < middle(level.ttft) < 0.3 + SLACK


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_3_reasoning_is_the_first_token_and_the_answer_s_own_is_told_apart(
    program: Program, field: str
) -> None:
    script = [(0.05, delta(**{field: "hm"})), (0.25, text("yes")), *end(completion_tokens=2)]
    level = played(program, lambda number: script)
    assert middle(level.ttft) < 0.05 + SLACK
    assert 0.29 < middle(level.ttfa) < 0.3 + SLACK


def test_3_an_answer_that_is_all_reasoning_has_a_first_token(program: Program) -> None:
    script = [(0.05, delta(reasoning_content="hm")), (0.05, delta(reasoning_content="hm")), *end()]
    level = played(program, lambda number: script)
    assert 0.04 < middle(level.ttft) < 0.05 + SLACK


def test_4_four_tokens_in_a_chunk_are_four(program: Program) -> None:
    script = [*words(8, 0.08, " a b c d"), *end(prompt_tokens=5, completion_tokens=32)]
    level = played(program, lambda number: script)
    assert level.gaps is not None
    assert level.gaps.chunk_tokens == pytest.approx(4, rel=0.01)
    assert level.gaps.p50 > 0.07, "gaps are those of chunks"
    assert 0.019 < middle(level.itl) < 0.03, "80 ms for four tokens"
    assert level.answer_length == 32


def test_5_tokens_of_the_first_chunk_take_no_time_after_it(program: Program) -> None:
    first: Piece = (0.05, text(" word" * 16))
    script = [first, *words(16, 0.02), *end(prompt_tokens=5, completion_tokens=32)]
    level = played(program, lambda number: script)
    assert 0.019 < middle(level.itl) < 0.03, "not over 31 tokens: 10 ms"


def test_5b_reasoning_that_is_counted_and_not_sent_takes_no_time(program: Program) -> None:
    usage = {"completion_tokens": 216, "completion_tokens_details": {"reasoning_tokens": 200}}
    script = [(0.05, text(" word")), *words(15, 0.02), *end(prompt_tokens=5, **usage)]
    level = played(program, lambda number: script)
    assert 0.019 < middle(level.itl) < 0.03, "not over 215 tokens: 1.4 ms"


def test_6_usage_that_comes_late_is_no_token(program: Program) -> None:
    stop, usage = end(prompt_tokens=5, completion_tokens=16)
    script = [(0.05, text(" word")), *words(15, 0.02), stop, (0.5, usage[1])]
    level = played(program, lambda number: script, "--requests", "6", "--slo", "itl=45ms")
    assert 0.019 < middle(level.itl) < 0.03, "not 53 ms"
    assert level.goodput is not None
    assert level.goodput.share == 1


def test_7_a_stall_of_one_answer_is_seen(program: Program) -> None:
    def script(number: int) -> Sequence[Piece]:
        stall: list[Piece] = [(0.6, text(" word"))] if number == 3 else []
        return [*words(8, 0.01), *stall, *words(8, 0.01), *end(completion_tokens=16)]

    level = played(program, script, "--requests", "8", "--concurrency", "8")
    assert level.gaps is not None
    assert level.gaps.longest > 0.55
    assert level.gaps.p50 < 0.1


def test_8_as_many_are_in_flight_as_were_asked_for(program: Program) -> None:
    with telling(lambda number: [(1.0, text("ok")), *end(completion_tokens=1)]) as server:
        level = level_of(program, server, "--requests", "240", "--concurrency", "240")
    assert server.most == 240
    assert level.in_flight == 240


def test_9_a_burst_leaves_at_once(program: Program) -> None:
    with telling(lambda number: [(1.5, text("ok")), *end(completion_tokens=1)]) as server:
        level_of(program, server, "--requests", "50", "--concurrency", "50")
    assert server.most == 50
    assert max(server.arrivals) - min(server.arrivals) < 1.0


def test_11_a_rate_may_be_a_fraction(program: Program) -> None:
    script = [(0.01, text("ok")), *end(completion_tokens=1)]
    arguments = ("--rate", "37.5", "--arrivals", "constant", "--requests", "75")
    level = played(program, lambda number: script, *arguments)
    assert level.offered == pytest.approx(37.5, rel=1e-4)
    assert level.counted == 75


def test_12_a_level_lasts_from_its_first_request_on(program: Program) -> None:
    arguments = ("--rate", "40", "--arrivals", "constant", "--duration", "1.5")
    with telling(lambda number: [(0.01, text("ok")), *end(completion_tokens=1)]) as server:
        level_of(program, server, *arguments)
    assert len(server.arrivals) == 60
    assert max(server.arrivals) - min(server.arrivals) == pytest.approx(59 / 40, abs=0.3)


def test_17_a_cold_start_is_not_in_the_figures(program: Program) -> None:
    def script(number: int) -> Sequence[Piece]:
        return [(0.4 if number < 8 else 0.02, text("ok")), *end(completion_tokens=1)]

    with telling(script) as server:
        rows = prompts(program, [f"question {number}" for number in range(8)])
        report = measure(
            program, server.url, "--dataset", rows, "--no-metrics", "--concurrency", "4", "--requests", "160"
        )
    (level,) = report.levels
    assert level.ttft is not None
    assert level.ttft.mean < 0.02 + SLACK
    assert level.begin >= 0.4


def test_18_the_server_s_count_of_tokens_counts(program: Program) -> None:
    script = [*words(20, 0.005, " several words here"), *end(prompt_tokens=5, completion_tokens=60)]
    with telling(lambda number: script) as server:
        report = measure(
            program,
            server.url,
            *("--synthetic-input", "5", "--synthetic-output", "20", "--no-metrics", "--requests", "30"),
        )
    (level,) = report.levels
    assert level.answer_length == 60
    assert per_second(level.output_tokens) == pytest.approx(60 * per_second(level.achieved), rel=0.01)
    assert any("60 tokens instead of 20" in note for note in report.notes)


def test_21_an_answer_that_breaks_off_has_failed_and_its_times_are_not_zeros(program: Program) -> None:
    def script(number: int) -> Sequence[Piece]:
        return (
            [(0.05, text("half")), (0.0, None)]
            if number % 2
            else [(0.05, text("ok")), *end(completion_tokens=1)]
        )

    level = played(program, script, "--requests", "12")
    assert (level.requests, level.failed) == (12, 6)
    assert level.ttft is not None
    assert level.ttft.n == 6
    assert level.ttft.mean > 0.04


def test_1_long_prompts_do_not_slow_the_reading_of_answers(program: Program) -> None:
    script = [(0.05, text(" word")), *words(24, 0.02), *end(prompt_tokens=50_000, completion_tokens=25)]
    arguments = ("--requests", "32", "--concurrency", "8")
    level = played(program, lambda number: script, *arguments, long=200_000)
    assert level.failed == 0
    assert 0.019 < middle(level.itl) < 0.04
    assert middle(level.ttft) < 0.05 + 2 * SLACK
