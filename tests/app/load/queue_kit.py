"""Levels of load as a queue makes them, drawn in memory: what is compared when no server takes part."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.level_results import with_window_figures
from benchwright.analysis.load.measurement_windows import find_window
from benchwright.analysis.load.records import LevelPlan, LevelResult, LoadLevel, LoadReport
from benchwright.analysis.load.requests import LevelRequests

SLOTS = 8
PREFILL = 0.05
DECODE = 0.4
TOKENS = 32


def drawn(generator: np.random.Generator, concurrency: int, seconds: float, slower: float) -> LevelRequests:
    """A closed loop for so long on 8 slots, whose prefill is constant and whose decoding varies (gamma, shape 4)."""
    free, ready = [0.0] * SLOTS, [0.0] * concurrency
    moments = []
    while (asked := heapq.heappop(ready)) < seconds:
        first = max(asked, heapq.heappop(free)) + PREFILL * slower
        end = first + generator.gamma(4, DECODE / 4) * slower
        heapq.heappush(free, end)
        heapq.heappush(ready, end)
        moments.append((asked, first, end))
    start, first_token, ends = (np.array(column) for column in zip(*moments, strict=True))
    latency, ttft = ends - start, first_token - start
    unknown, tokens = np.full(start.size, np.nan), np.full(start.size, float(TOKENS))
    return LevelRequests(
        intended=start,
        start=start,
        end=ends,
        ttft=ttft,
        latency=latency,
        sent_latency=latency,
        itl=(latency - ttft) / (TOKENS - 1),
        ttfa=unknown,
        last_token=latency,
        connect=unknown,
        lost_seconds=unknown,
        chunks=tokens - 1,
        tokens_after_first_chunk=tokens - 1,
        prompt_tokens=tokens,
        completion_tokens=tokens,
        cached_tokens=unknown,
        reasoning_tokens=unknown,
        ok=np.ones(start.size, np.bool_),
        failures=[None] * start.size,
        gaps=[{}] * start.size,
        began_at=0,
        simulated=False,
    )


def measured(
    generator: np.random.Generator,
    concurrencies: Sequence[int],
    seconds: float,
    *,
    slower: float = 1.0,
    repeats: int = 1,
    between: float = 0.0,
) -> LoadReport:
    """A measurement of a server that takes `slower` times as long, and in each run by a factor drawn `between` them."""
    levels = []
    for repeat in range(1, repeats + 1):
        for concurrency in concurrencies:
            level = LoadLevel(concurrency=concurrency)
            pace = slower * float(np.exp(generator.normal(0, between)))
            requests = drawn(generator, concurrency, seconds, pace)
            result = LevelResult(level, "run", "finished", requests.ok.size, repeat=repeat)
            levels.append(_with_figures(result, requests))
    return LoadReport("load-1", "synthetic", "m", "http://127.0.0.1:9/v1", "prompts", [], levels)


def _with_figures(result: LevelResult, requests: LevelRequests) -> LevelResult:
    plan = LevelPlan("load-1", result.level)
    found = find_window(requests, plan)
    if found is None:
        return result
    return with_window_figures(
        result, requests, plan, found, WindowFigures(requests, found.window, open_loop=False)
    )
