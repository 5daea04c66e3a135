"""Tokens and times of trials, read from the documented metrics in a result file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchwright.analysis.comparison.sides import CodedTexts, LostWork, TrialUsage


def usage_of_metrics(requests_of_trials: Iterable[list[dict[str, Any]]]) -> TrialUsage:
    """Return the tokens and times of each trial, from the metrics of its requests.

    The files do not record when trials ran. So the trials' shares of the working time are unknown.
    """
    columns: dict[str, list[float]] = {name: [] for name in ("prompt", "completion", "latency", "ttft")}
    answered_requests = uncounted = 0
    for requests in requests_of_trials:
        answered = [request for request in requests if not request.get("error")]
        counts = [(_positive(one, "prompt_tokens"), _positive(one, "completion_tokens")) for one in answered]
        answered_requests += len(answered)
        uncounted += sum(math.isnan(prompt + completion) for prompt, completion in counts)
        columns["prompt"].append(sum(prompt for prompt, _ in counts if prompt > 0))
        columns["completion"].append(sum(completion for _, completion in counts if completion > 0))
        latencies = [_positive(one, "total_latency_seconds") for one in answered]
        columns["latency"].append(sum(latencies) if latencies else math.nan)
        ttfts = [ttft for one in answered if (ttft := _positive(one, "ttft_seconds")) > 0]
        columns["ttft"].append(sum(ttfts) / len(ttfts) if ttfts else math.nan)
    arrays = {name: np.array(values, np.float64) for name, values in columns.items()}
    empty = np.zeros(0)
    return TrialUsage(
        seconds=None,
        prompt_tokens=arrays["prompt"],
        completion_tokens=arrays["completion"],
        latency=arrays["latency"],
        ttft=arrays["ttft"],
        reused_mask=np.zeros(arrays["latency"].size, np.bool_),
        unsettled_mask=np.zeros(arrays["latency"].size, np.bool_),
        lost_work=LostWork(CodedTexts.from_texts([]), CodedTexts.from_texts([]), empty, empty, empty),
        requests=answered_requests,
        timed_requests=answered_requests,
        uncounted_requests=uncounted,
    )


def _positive(metrics: dict[str, Any], name: str) -> float:
    """Return a number from a request's metrics if it is above 0.

    Otherwise return NaN, because files store 0 for unknown numbers.
    """
    value = metrics.get(name)
    return float(value) if isinstance(value, int | float) and 0 < value < math.inf else math.nan
