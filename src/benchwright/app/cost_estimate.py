"""Estimated cost of a run before it starts: requests, tokens, and optionally time and money."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec.structs import replace

from benchwright.analysis.cost import Cost, CostPerTrial, earlier_cost_per_trial, total_cost
from benchwright.analysis.leaderboard.records import TokenPrice
from benchwright.analysis.thinking import sent_token_limit
from benchwright.app.event_loop import run_async
from benchwright.app.prepared_run import PreparedRun, RunRequest
from benchwright.catalog.prompt_volume import measure_prompt_volume
from benchwright.catalog.task import BenchmarkTask
from benchwright.formats import count_with_noun
from benchwright.pictures import MAX_TOKENS
from benchwright.records import Sample, Target

CHARACTERS_PER_TOKEN = 4
"""Characters per token of English text in current vocabularies.

Other languages and code have fewer characters per token.
"""

IMAGES_NOTE = (
    f"images at a token for 28×28 pixels and at most {MAX_TOKENS:,}, as Qwen2.5-VL and not all models do"
)

SIMULATED_SAMPLE_COUNT = 20
"""Number of samples whose conversations are simulated to measure the lengths of prompts.

The samples are evenly spaced.
"""


def estimate_cost(prepared: PreparedRun[Any], speed: float | None, prices: Mapping[str, TokenPrice]) -> Cost:
    """Return the estimated cost of a run for all its models.

    The tokens per trial are those of an earlier run of the same task (see `earlier_cost_per_trial`). Without such a
    run, conversations are simulated with gold answers instead of the model's answers, and responses are counted at
    their maximum length. `speed` is the server's throughput in completion tokens per second, over all requests
    together. `prices`: price by model.
    """
    request = prepared.request
    played = _played(request)
    total = total_cost([_of_model(request, target, played, prices) for target in request.plan.targets])
    if speed is None or total.completion_tokens is None:
        return total
    return replace(total, minutes=total.completion_tokens / speed / 60)


def _of_model(
    request: RunRequest, target: Target, played: CostPerTrial, prices: Mapping[str, TokenPrice]
) -> Cost:
    trials = request.plan.sample_count * request.plan.repeats
    one = earlier_cost_per_trial(request.kind, request.plan.task.spec.name, target.model) or _bounded(
        played, target
    )
    if one.requests is None:
        one = replace(one, requests=played.requests)
    prompt, completion = _times(trials, one.prompt_tokens), _times(trials, one.completion_tokens)
    name = request.typed_models.get(target.slot, target.model)
    price, money = prices.get(name) or prices.get(target.model), None
    if price is not None and prompt is not None and completion is not None:
        money = (prompt * price.prompt + completion * price.completion) / 1e6
    return Cost(_times(trials, one.requests), prompt, completion, one.most, None, money, one.basis)


def _times(trials: int, each: float | None) -> int | None:
    return None if each is None else math.ceil(trials * each)


def _bounded(played: CostPerTrial, target: Target) -> CostPerTrial:
    """Return simulated usage per trial, with each response counted at its maximum length."""
    limit = sent_token_limit(target.settings)
    if played.requests is None or limit is None:
        return played
    basis = f"{played.basis}, answers of at most {limit:,} tokens"
    return replace(played, completion_tokens=played.requests * limit, most=True, basis=basis)


def _played(request: RunRequest) -> CostPerTrial:
    """Return requests and prompt tokens per trial, from conversations that are simulated with gold answers.

    Empty if the simulation would need more than this process, such as containers.
    """
    task = request.plan.task
    if not isinstance(task, BenchmarkTask) or "containers" in task.benchmark.about.needs:
        return CostPerTrial()
    step = max(1, request.plan.sample_count // SIMULATED_SAMPLE_COUNT)
    asked = run_async(measure_prompt_volume(task.benchmark, list(_some(task, step))))
    if asked is None:
        return CostPerTrial()
    images = f", {IMAGES_NOTE}" if asked.picture_tokens else ""
    return CostPerTrial(
        asked.requests,
        asked.prompt_characters / CHARACTERS_PER_TOKEN + asked.picture_tokens,
        basis=(
            f"prompts of {count_with_noun(asked.samples, 'sample')}, {CHARACTERS_PER_TOKEN} "
            f"characters a token{images}"
        ),
    )


def _some(task: BenchmarkTask, step: int) -> Iterator[Sample]:
    return islice(islice(task.samples(), 0, None, step), SIMULATED_SAMPLE_COUNT)
