"""Polling of the metrics that a server (vLLM, SGLang and others) publishes, during a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Generic, TypeVar

from benchwright.clock import wall_ns
from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.prometheus import metric_sums_and_maxima
from benchwright.endpoint.server_info import read_metrics
from benchwright.errors import ProviderError
from benchwright.records import Record
from benchwright.text import Say

METRIC_NAMES: Mapping[str, Sequence[str]] = {
    "running": (
        "vllm:num_requests_running",
        "sglang:num_running_reqs",
        "tgi_batch_current_size",
        "llamacpp:requests_processing",
    ),
    "waiting": (
        "vllm:num_requests_waiting",
        "sglang:num_queue_reqs",
        "tgi_queue_size",
        "llamacpp:requests_deferred",
    ),
    "cache": (
        "vllm:kv_cache_usage_perc",
        "vllm:gpu_cache_usage_perc",
        "sglang:token_usage",
        "llamacpp:kv_cache_usage_ratio",
    ),
    "preempted": (
        "vllm:num_preemptions_total",
        "vllm:num_preemptions",
        "sglang:num_retracted_requests_total",
        "sglang:num_retracted_reqs_total",
    ),
    "prefix_queries": (
        "vllm:prefix_cache_queries_total",
        "vllm:prefix_cache_queries",
        "vllm:gpu_prefix_cache_queries_total",
        "vllm:gpu_prefix_cache_queries",
        "sglang:prompt_tokens_total",
    ),
    "prefix_hits": (
        "vllm:prefix_cache_hits_total",
        "vllm:prefix_cache_hits",
        "vllm:gpu_prefix_cache_hits_total",
        "vllm:gpu_prefix_cache_hits",
        "sglang:cached_tokens_total",
    ),
    "drafted": ("vllm:spec_decode_num_draft_tokens_total", "vllm:spec_decode_num_draft_tokens"),
    "accepted": ("vllm:spec_decode_num_accepted_tokens_total", "vllm:spec_decode_num_accepted_tokens"),
}
"""Mapping from a metric to the names under which servers publish it. The first name on the page counts.

vLLM: https://docs.vllm.ai/en/stable/usage/metrics/ (before 0.9 the names of its cache began with `gpu_`);
SGLang (with --enable-metrics): https://docs.sglang.io/docs/references/production_metrics.md. Text Generation
Inference and llama.cpp (--metrics) document some of these names in their READMEs.
"""

MAX_AGGREGATED_METRICS = frozenset({"cache"})
"""Metrics for which the highest value counts if a server has several engines.

All other metrics are summed over engines.
"""


class ServerMetrics(Record, frozen=True):
    """A server's metrics at one moment. A metric is None if the server does not publish it.

    `at`: the time (wall clock, ns). Current values: `running` and `waiting` (numbers of requests), `cache`
    (share in use). Counters: `preempted` (preemptions); `prefix_queries` (prompt tokens looked up in the
    prefix cache) and `prefix_hits` (prompt tokens found there); `drafted` (tokens drafted by speculative
    decoding) and `accepted` (drafted tokens that the model accepted).
    """

    at: int
    running: float | None = None
    waiting: float | None = None
    cache: float | None = None
    preempted: float | None = None
    prefix_queries: float | None = None
    prefix_hits: float | None = None
    drafted: float | None = None
    accepted: float | None = None


def parse_metrics(text: str, at: int) -> ServerMetrics:
    """Parse a page of Prometheus metrics into a `ServerMetrics`.

    A metric is None if the page has none of its known names. `at`: the time of the page (wall clock, ns).
    """
    sums, highest = metric_sums_and_maxima(text)
    found = {}
    for field, names in METRIC_NAMES.items():
        values = highest if field in MAX_AGGREGATED_METRICS else sums
        name = next((name for name in names if name in values), None)
        found[field] = None if name is None else values[name]
    return ServerMetrics(at, **found)


def read_load_metrics(text: str, at: int) -> ServerMetrics | None:
    """Return the known metrics on a page in the Prometheus text format.

    Return None if the page has no metrics of the server's load.
    """
    look = parse_metrics(text, at)
    return None if (look.running, look.waiting, look.cache, look.preempted) == (None,) * 4 else look


ReadingType = TypeVar("ReadingType")


class MetricsPoller(Generic[ReadingType]):
    """Poller of a page of metrics in the Prometheus text format, at a fixed interval.

    Use it as an async context manager.

    `read`: a function from a page and its time (wall clock, ns) to a value, which is appended to `looks`. It
    returns None if the page lacks the value. `every`: the seconds between two polls. No result depends on
    these metrics: the first failure is reported by `say`, and polling stops. `of`: the beginning of the
    message about that failure. It names the metrics that are missing from then on.
    """

    def __init__(
        self,
        url: str,
        say: Say,
        read: Callable[[str, int], ReadingType | None],
        of: str = "The server's own metrics are",
        every: float = 1.0,
        access: Access = ANONYMOUS_ACCESS,
    ) -> None:
        self.looks: list[ReadingType] = []
        self.works = True
        self._url = url
        self._say = say
        self._read = read
        self._of = of
        self._every = every
        self._access = access
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> MetricsPoller[ReadingType]:
        await self._look()
        self._task = asyncio.create_task(self._look_again())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        if kind is None:
            await self._look()

    async def _look_again(self) -> None:
        while self.works:
            await asyncio.sleep(self._every)
            await self._look()

    async def _look(self) -> None:
        if not self.works:
            return
        try:
            page = await read_metrics(self._url, self._access)
            seen = self._read(page, wall_ns())
        except ProviderError as error:
            self._give_up(f"{self._of} left out: {error}")
            return
        if seen is None:
            self._give_up(f"{self._of} left out: {self._url} has {_names_in(page)}.")
            return
        self.looks.append(seen)

    def _give_up(self, why: str) -> None:
        self.works = False
        self._say(why)


MAX_NAMED_METRICS = 3
"""Number of metrics that a message names if a page has no known metric."""

MAX_EXCERPT_LENGTH = 80
"""Number of characters of a page without metrics that a message quotes."""


def _names_in(page: str) -> str:
    """Return a description of the content of a page that has no known metric."""
    names = list(metric_sums_and_maxima(page)[0])
    if not names:
        begin = " ".join(page.split())[:MAX_EXCERPT_LENGTH]
        return f"no metrics: it answers {begin!r}" if begin else "an empty page"
    others = f" and {len(names) - MAX_NAMED_METRICS:,} more" if len(names) > MAX_NAMED_METRICS else ""
    return f"none that is known here: {', '.join(names[:MAX_NAMED_METRICS])}{others}"
