"""What the relay adds to the time to first token: `python -m benchmarks.relay`.

Endpoint, relay and client are processes of their own. The client asks the endpoint directly and through the
relay in turns; what counts is how much later, at the median, it sees the first token of 64 streams at once. It does
so in each dialect, passed on and translated; what is translated is compared with chat completions asked directly.
With `--cpu`, what counts is the processor time that the relay spends, which holds on a busy machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from typing import NamedTuple

import uvloop

from benchmarks.children import run, simulated
from benchmarks.measured import Measured
from benchmarks.processes import cpu_seconds
from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.connection import Connection, Headers
from benchwright.endpoint.dialects.gemini.urls import STREAM_SUFFIX
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.request import RequestPurpose
from benchwright.endpoint.tee import Tee
from benchwright.records import RequestRecord, Target

GOAL_MS = 1.0
"""For streams that began one after another, as those of trials do; many at the same moment queue up."""
PACE = ("--policy", "words", "--words", "64", "--first-token", "100", "--between-tokens", "10")
CYCLE = 0.73
"""Seconds that an answer takes: 100 ms and 63 times 10 ms."""
MESSAGES = [{"role": "user", "content": "Tell me something about relays. " * 20}]
PATHS = {
    "chat": "/chat/completions",
    "messages": "/messages",
    "responses": "/responses",
    "gemini": STREAM_SUFFIX,
}
BODIES = {
    PATHS["chat"]: {"messages": MESSAGES, "stream": True, "stream_options": {"include_usage": True}},
    PATHS["messages"]: {"messages": MESSAGES, "stream": True, "max_tokens": 1000},
    PATHS["responses"]: {"input": MESSAGES, "stream": True},
    PATHS["gemini"]: {"contents": [{"parts": [{"text": MESSAGES[0]["content"]}]}]},
}


def client_of(base_url: str, concurrency: int, key: str | None = None) -> EndpointClient:
    return EndpointClient(Target("primary", "m", base_url), access=Access(key), connections=concurrency)


async def serve(base_url: str, concurrency: int) -> None:
    """Runs a relay until stdin ends; prints where it is and its token."""
    async with client_of(base_url, concurrency) as client, Relay() as relay:
        grant = relay.open_grant(client, {}, lambda asked: RequestPurpose(), lambda relayed: None)
        print(json.dumps([relay.base_url, grant.token]), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


class Way(NamedTuple):
    """How the relay is asked: in which dialect, and whether it has to translate."""

    dialect: str
    translated: bool = False

    def __str__(self) -> str:
        return f"{self.dialect}, {'translated' if self.translated else 'passed on'}"

    @property
    def path(self) -> str:
        return PATHS[self.dialect]

    @property
    def direct_path(self) -> str:
        """Where the endpoint itself is asked, for comparison."""
        return PATHS["chat"] if self.translated else self.path


CHAT = Way("chat")
WAYS = (CHAT, *(Way(name, translated) for name in [*PATHS][1:] for translated in (False, True)))


class Unread:
    """A receiver that keeps nothing: the meter beside it reads the answer."""

    def set_connection(self, connection: Connection) -> None: ...

    def receive_head(self, status: int, headers: Headers) -> None: ...

    def receive_data(self, chunk: bytes) -> None: ...

    def complete(self) -> None: ...


async def load(
    base_url: str, token: str, concurrency: int, waves: int, spread: float, path: str = PATHS["chat"]
) -> None:
    """Asks so often, so many at once, starting within `spread` seconds; prints the times to first token in ms,
    without the first wave's."""
    body = json.dumps(BODIES[path]).encode()

    async def ask_on(client: EndpointClient, place: int) -> list[float]:
        await asyncio.sleep(spread * place / concurrency)
        records: list[RequestRecord] = []
        for _ in range(waves):
            await client.forward(path, body, Tee(Unread()), RequestPurpose(), records.append)
        return [(record.ttft or 0) / 1e6 for record in records[1:]]

    async with client_of(base_url, concurrency, token) as client:
        told = await asyncio.gather(*(ask_on(client, place) for place in range(concurrency)))
    print(json.dumps([ttft for each in told for ttft in each]))


@contextmanager
def relay_process(base_url: str, concurrency: int) -> Iterator[tuple[str, str, int]]:
    """A relay in a process of its own; yields where it is, a token, and its process."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.relay", "--serve", base_url, "--concurrency", str(concurrency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        url, token = json.loads(child.stdout.readline())
        yield url, token, child.pid
    finally:
        child.stdin.close()
        child.wait()
        child.stdout.close()


def ttfts(
    base_url: str, token: str, concurrency: int, waves: int, spread: float, path: str = PATHS["chat"]
) -> list[float]:
    """The times to first token in ms, as a client in a process of its own sees them."""
    arguments = ["-m", "benchmarks.relay", "--load", base_url, token, path]
    arguments += ["--concurrency", str(concurrency), "--waves", str(waves), "--spread", str(spread)]
    return list(json.loads(run(arguments).stdout))


def measure(concurrency: int, waves: int, rounds: int, spread: float, way: Way = CHAT) -> tuple[float, float]:
    """How much later, in ms, the relay lets the first token be seen: at the median, and at the 99th percentile."""
    pace = (*PACE, *(("--chat-only",) if way.translated else ()))
    with simulated(*pace) as endpoint, relay_process(endpoint.base_url, concurrency) as (url, token, _):
        added = []
        for _ in range(rounds):
            direct = ttfts(endpoint.base_url, "EMPTY", concurrency, waves, spread, way.direct_path)
            relayed = ttfts(url, token, concurrency, waves, spread, way.path)
            tails = [quantiles(told, n=100)[98] for told in (direct, relayed)]
            added.append((median(relayed) - median(direct), tails[1] - tails[0]))
    return median(p50 for p50, _ in added), median(p99 for _, p99 in added)


def cpu_of_stream(concurrency: int, waves: int, rounds: int, way: Way, words: int) -> float:
    """How much CPU, in ms, a stream of so many tokens costs the relay; it makes no pauses."""
    pace = ("--policy", "words", "--words", str(words), *(("--chat-only",) if way.translated else ()))
    with simulated(*pace) as endpoint, relay_process(endpoint.base_url, concurrency) as (url, token, pid):
        ttfts(url, token, concurrency, 2, 0.0, way.path)
        spent = []
        for _ in range(rounds):
            before = cpu_seconds(pid)
            ttfts(url, token, concurrency, waves, 0.0, way.path)
            spent.append((cpu_seconds(pid) - before) / (concurrency * waves))
    return median(spent) * 1e3


def added_by_relay(concurrency: int, waves: int, rounds: int) -> list[Measured]:
    """What the relay adds to the time to first token of streams that began one after another."""
    measured = []
    for way in WAYS:
        p50, p99 = measure(concurrency, waves, rounds, CYCLE, way)
        asked = "" if way == CHAT else f", {way.dialect}{' translated' if way.translated else ''}"
        measured += [
            Measured(f"Relay: added to TTFT p50, {concurrency} streams{asked}", "ms", p50, goal=GOAL_MS),
            Measured(f"Relay: added to TTFT p99, {concurrency} streams{asked}", "ms", p99),
        ]
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.relay", description=__doc__)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--waves", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--dialect", action="append", choices=PATHS, help="this one (may be repeated; default: all)"
    )
    parser.add_argument("--cpu", action="store_true", help="measure the relay's processor time instead")
    parser.add_argument("--spread", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--serve", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--load", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        uvloop.run(serve(options.serve, options.concurrency))
    elif options.load:
        base_url, token, path = options.load
        uvloop.run(load(base_url, token, options.concurrency, options.waves, options.spread, path))
    else:
        asked = [way for way in WAYS if way.dialect in (options.dialect or PATHS)]
        if options.cpu:
            for way in asked:
                show_cpu(options, way)
            return
        spread_out = [show(options, "one after another", CYCLE, way) for way in asked]
        if CHAT in asked:
            show(options, "all at the same moment", 0.0, CHAT)
        sys.exit(max(spread_out) > GOAL_MS)


def show(options: argparse.Namespace, name: str, spread: float, way: Way) -> float:
    """Measures and prints one line; returns what is added at the median."""
    p50, p99 = measure(options.concurrency, options.waves, options.rounds, spread, way)
    said = f"{options.concurrency} streams ({way}), started {name}: {p50:+.2f} ms p50, {p99:+.2f} ms p99"
    print(said, flush=True)
    return p50


def show_cpu(options: argparse.Namespace, way: Way) -> None:
    """Measures and prints one line: the first token is what a request with one costs."""
    first, whole = (
        cpu_of_stream(options.concurrency, options.waves * 2, options.rounds, way, words) for words in (1, 64)
    )
    print(f"{way}: {first:.2f} ms of CPU up to the first token, {whole:.2f} ms for 64 tokens", flush=True)


if __name__ == "__main__":
    main()
