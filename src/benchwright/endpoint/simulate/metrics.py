"""The page at /metrics: statistics under vLLM's names, and a few additional ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from benchwright.endpoint.simulate.shared_counters import BUCKET_BOUNDS_MS, EndpointStats


def prometheus_text(stats: EndpointStats, model: str, blocks: int | None) -> bytes:
    """Return the statistics in the Prometheus text format, under vLLM's names.

    https://docs.vllm.ai/en/stable/usage/metrics/. `blocks`: the number of blocks of all prefix caches
    together. If it is None, there is no cache, and metrics of the cache are left out.
    """
    label = f'model_name="{_escaped(model)}"'
    reasons = {f'finished_reason="{name}",{label}': number for name, number in stats.finished.items()}
    kinds = {f'kind="{name}"': number for name, number in stats.faults.items()}
    running = stats.running - stats.waiting
    lines = [
        *_family("vllm:num_requests_running", "gauge", "Requests being answered.", {label: running}),
        *_family("vllm:num_requests_waiting", "gauge", "Requests that wait.", {label: stats.waiting}),
        *([] if blocks is None else _cache_families(stats, label, blocks)),
        *_family("vllm:prompt_tokens_total", "counter", "Prompt tokens.", {label: stats.prompt_tokens}),
        *_family(
            "vllm:generation_tokens_total", "counter", "Tokens generated.", {label: stats.generation_tokens}
        ),
        *_family("vllm:request_success_total", "counter", "Requests answered, by finish reason.", reasons),
        *_histogram("vllm:time_to_first_token_seconds", "Time to first token.", label, stats.first_token),
        *_histogram("vllm:e2e_request_latency_seconds", "Time to the last byte.", label, stats.whole_answer),
        *_histogram("vllm:request_queue_time_seconds", "Time spent waiting.", label, stats.queue),
        *_histogram(
            "vllm:request_prefill_time_seconds", "From the prefill to the first token.", label, stats.prefill
        ),
        *_family(
            "benchwright_simulated_requests_total", "counter", "Requests to generate.", {"": stats.requests}
        ),
        *_family("benchwright_simulated_answered_total", "counter", "Whole answers.", {"": stats.answered}),
        *_family("benchwright_simulated_aborted_total", "counter", "Clients that left.", {"": stats.aborted}),
        *_family("benchwright_simulated_faults_total", "counter", "Faults injected.", kinds),
    ]
    return ("\n".join(lines) + "\n").encode()


def _cache_families(stats: EndpointStats, label: str, blocks: int) -> Iterator[str]:
    usage = stats.used_blocks / blocks
    yield from _family("vllm:kv_cache_usage_perc", "gauge", "Blocks in use, 0 to 1.", {label: usage})
    counters = (
        ("vllm:num_preemptions_total", "Preemptions.", stats.preemptions),
        ("vllm:prefix_cache_queries_total", "Prompt tokens looked for in the cache.", stats.prefix_queries),
        ("vllm:prefix_cache_hits_total", "Prompt tokens found in the cache.", stats.prefix_hits),
    )
    for name, about, value in counters:
        yield from _family(name, "counter", about, {label: value})


def _family(name: str, kind: str, about: str, samples: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples.items():
        yield f"{name}{{{labels}}} {value}" if labels else f"{name} {value}"


def _histogram(name: str, about: str, label: str, histogram: tuple[list[int], int]) -> Iterator[str]:
    counts, total_ns = histogram
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} histogram"
    bounds = [*(str(bound / 1000) for bound in BUCKET_BOUNDS_MS), "+Inf"]
    for bound, reached in zip(bounds, accumulate(counts), strict=True):
        yield f'{name}_bucket{{le="{bound}",{label}}} {reached}'
    yield f"{name}_count{{{label}}} {sum(counts)}"
    yield f"{name}_sum{{{label}}} {total_ns / 1e9}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
