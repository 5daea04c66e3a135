"""What is known of a peer: where it is installed, how it is called, and where it says its times."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

REQUIREMENTS = Path(__file__).parents[2] / "requirements"


class Work(NamedTuple):
    """So many requests, so many at once, to the model `m`; files go to the directory."""

    base_url: str
    requests: int
    concurrency: int
    directory: Path


class Percentiles(NamedTuple):
    """A time to first token in ms: median and 99th percentile."""

    p50: float
    p99: float


class Call(NamedTuple):
    """A program of the peer's environment with its arguments, and variables of its process."""

    program: str
    arguments: list[str]
    environment: dict[str, str]


class Peer(NamedTuple):
    """A program that can do our work. `prepare` writes its files; `said` reads its times once it has ended."""

    name: str
    environment: str
    streams: bool
    prepare: Callable[[Work], Call]
    said: Callable[[Work], Percentiles | None] = lambda work: None

    @property
    def version(self) -> str:
        """The version that is pinned."""
        pinned = (REQUIREMENTS / f"{self.environment}.in").read_text()
        found = re.search(r"==(\S+)", pinned)
        return found[1] if found else "?"


def prompts(work: Work) -> list[str]:
    """A short question per request."""
    return [f"What is the number {number}" for number in range(work.requests)]
