"""A server's own metrics, read from a real HTTP server again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.http_server import QuietHandler, served_by

from benchwright.endpoint.metrics_poller import MetricsPoller, ServerMetrics, parse_metrics, read_load_metrics
from benchwright.endpoint.prometheus import metric_sums_and_maxima
from benchwright.endpoint.simulate import Settings, SimulatedEndpoint

VLLM = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m, {odd} \\"name\\""} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 2.0
vllm:num_requests_waiting{engine="1",model_name="m"} 0.0 1763000000000
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.75
vllm:num_preemptions_total{engine="0",model_name="m"} 7.0
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 900.0
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 100.0
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 300.0
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 50.0
vllm:num_preemptions_created{engine="0",model_name="m"} 1.76e+09
this is not a sample
broken{le="1" 3
vllm:e2e_request_latency_seconds_sum NaN
"""

SGLANG = """\
sglang:num_running_reqs{model_name="m"} 5
sglang:num_queue_reqs{model_name="m"} 12
sglang:token_usage{model_name="m"} 0.28
sglang:prompt_tokens_total{is_streaming="false",model_name="m"} 400.0
sglang:prompt_tokens_total{is_streaming="true",model_name="m"} 600.0
sglang:cached_tokens_total{cache_source="device",model_name="m"} 250.0
"""

VLLM_0_8 = """\
vllm:gpu_cache_usage_perc{model_name="m"} 0.5
vllm:gpu_prefix_cache_queries_total{model_name="m"} 1000.0
vllm:gpu_prefix_cache_hits_total{model_name="m"} 0.0
"""


@contextmanager
def serving(*pages: str) -> Iterator[str]:
    """Serves these pages one after the other, then the last again; an empty one is a 404."""
    served = iter(pages)
    latest = [""]

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            latest[0] = next(served, latest[0])
            data = latest[0].encode()
            self.answer(200 if data else 404, data, "text/plain")

    with served_by(Handler) as address:
        yield f"{address}/metrics"


def test_engines_are_added_up_and_the_fullest_cache_counts() -> None:
    look = ServerMetrics(
        1, running=7, waiting=2, cache=0.75, preempted=7, prefix_queries=1000, prefix_hits=350
    )
    assert parse_metrics(VLLM, 1) == look


def test_other_servers_say_it_under_other_names() -> None:
    look = ServerMetrics(1, running=5, waiting=12, cache=0.28, prefix_queries=1000, prefix_hits=250)
    assert parse_metrics(SGLANG, 1) == look
    assert parse_metrics(VLLM_0_8, 1) == ServerMetrics(1, cache=0.5, prefix_queries=1000, prefix_hits=0)


def test_counters_of_speculative_decoding_are_read() -> None:
    page = (
        'vllm:spec_decode_num_draft_tokens_total{engine="0"} 90.0\n'
        'vllm:spec_decode_num_draft_tokens_total{engine="1"} 10.0\n'
        'vllm:spec_decode_num_accepted_tokens_total{engine="0"} 70.0\n'
    )
    assert parse_metrics(page, 1) == ServerMetrics(1, drafted=100, accepted=70)


@given(
    st.dictionaries(st.from_regex(r"[a-z_:][a-z0-9_:]{0,9}", fullmatch=True), st.integers(-9, 9), min_size=1)
)
def test_every_sample_is_found_by_its_name(values: dict[str, int]) -> None:
    text = "".join(f'{name}{{a="x y"}} {value}\n' for name, value in values.items())
    assert metric_sums_and_maxima(text) == (values, values)


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    metric_sums_and_maxima(text)


async def watched(url: str, looks: int) -> tuple[MetricsPoller[ServerMetrics], list[str]]:
    """A watch after so many looks, or after it gave up; and what it said."""
    said: list[str] = []
    async with MetricsPoller(url, said.append, read_load_metrics, every=0.02) as watch:
        async with asyncio.timeout(10):
            while watch.works and len(watch.looks) < looks:
                await asyncio.sleep(0.01)
    return watch, said


async def test_it_looks_again_and_again_until_it_is_left() -> None:
    pages = [f"vllm:num_requests_running {number}\n" for number in range(4)]
    with serving(*pages) as url:
        watch, said = await watched(url, 4)
    assert [look.running for look in watch.looks[:4]] == [0, 1, 2, 3]
    assert said == []


@pytest.mark.parametrize(
    ("page", "why"),
    [("", "404"), ("python_info 1\n", "has none that is known here"), ("<html>", "has no metrics")],
)
async def test_where_there_are_none_it_says_so_once_and_is_off(page: str, why: str) -> None:
    with serving(page) as url:
        watch, said = await watched(url, 1)
    assert watch.looks == []
    assert len(said) == 1
    assert why in said[0]


async def test_where_nobody_answers_it_says_so_and_nothing_else_happens() -> None:
    watch, said = await watched("http://127.0.0.1:9/metrics", 1)
    assert watch.looks == []
    assert len(said) == 1


async def test_one_that_goes_away_later_leaves_what_was_seen() -> None:
    with serving("vllm:num_requests_running 1\n", "") as url:
        watch, said = await watched(url, 2)
    assert [look.running for look in watch.looks] == [1]
    assert len(said) == 1


async def test_the_simulated_server_tells_all_of_it() -> None:
    async with SimulatedEndpoint(Settings(cache_blocks=10)) as endpoint:
        watch, said = await watched(endpoint.base_url.replace("/v1", "/metrics"), 1)
    look = watch.looks[0]
    assert look == ServerMetrics(look.at, 0, 0, 0, 0, prefix_queries=0, prefix_hits=0)
    assert said == []


@pytest.mark.parametrize(
    ("status", "page", "told"),
    [
        (404, '{"detail": "Not Found"}', "/metrics answered HTTP 404: Not Found (server: tests)."),
        (
            501,
            '{"error": {"message": "Start it with --metrics"}}',
            "HTTP 501: Start it with --metrics (server: tests).",
        ),
        (302, "", "/metrics answered HTTP 302 (server: tests)."),
        (401, "no", "/metrics answered HTTP 401: no (server: tests)."),
        (200, "<html>Hello</html>", "/metrics has no metrics: it answers '<html>Hello</html>'."),
        (200, "", "/metrics has an empty page."),
        (200, "a 1\nb 2\nc 3\nd 4\n", "/metrics has none that is known here: a, b, c and 1 more."),
    ],
)
async def test_what_was_asked_and_what_it_answered_is_told(status: int, page: str, told: str) -> None:
    """A note that spoke of a model named '' was of no use."""

    class Handler(QuietHandler):
        def version_string(self) -> str:
            return "tests"

        def do_GET(self) -> None:
            self.answer(status, page.encode(), "text/plain")

    said = list[str]()
    with served_by(Handler) as address:
        async with MetricsPoller(f"{address}/metrics", said.append, read_load_metrics):
            pass
    (note,) = said
    assert note.startswith("The server's own metrics are left out: http://127.0.0.1:")
    assert note.endswith(told)
    assert "model" not in note
