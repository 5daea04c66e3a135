"""The classes of which a user's benchmark is made: `BaseBenchmark`, its samples, and the results of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchwright.catalog.llm_benchmarker_api.metrics import AggregatedMetrics, RequestMetrics

if TYPE_CHECKING:
    from benchwright.catalog.llm_benchmarker_api.client import InstrumentedClient
    from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig


@dataclass
class BenchmarkSample:
    """One sample: the messages to send, and in `metadata` the data that `evaluate` needs."""

    id: str
    messages: list[dict[str, Any]]
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class SampleResult:
    """The result of one sample.

    `correct`: True if the sample counts as right in the accuracy. `score`: a continuous score, or None.
    `details`: free for the benchmark to use. `metrics`: measurements of the sample's last request, set by the
    runner.
    """

    id: str
    correct: bool
    score: float | None = None
    predicted: Any = None
    expected: Any = None
    details: dict[str, Any] = field(default_factory=dict)
    metrics: RequestMetrics | None = None


@dataclass
class BenchmarkResult:
    """The result of a benchmark's run.

    - `accuracy`: share of correct samples. `score`: mean score. In both, failures count as 0.
    - `prometheus_metrics`: text of the server's metrics after the run; None unless requested.
    - `prometheus_delta`: increase of each server metric during the run; None unless requested.
    """

    name: str
    num_samples: int
    accuracy: float
    score: float | None = None
    aggregated_metrics: AggregatedMetrics = field(default_factory=AggregatedMetrics)
    sample_results: list[SampleResult] = field(default_factory=list)
    prometheus_metrics: str | None = None
    prometheus_delta: dict[str, float] | None = None


class BaseBenchmark(ABC):
    """The interface of a benchmark. A subclass sets the attributes, and is registered with `@register`.

    A single-turn benchmark implements `load_dataset` and `evaluate`. Any other benchmark sets
    `is_multi_turn`, and implements `load_dataset` and `multi_turn`.
    """

    name: ClassVar[str]
    description: ClassVar[str] = ""
    tier: ClassVar[int] = 1
    is_multi_turn: ClassVar[bool] = False

    @abstractmethod
    async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> list[BenchmarkSample]:
        """Return the samples, at most `max_samples`. Their ids must be unique."""

    async def evaluate(self, sample: BenchmarkSample, response: str) -> SampleResult:
        """Grade the answer to a sample. This runs on the event loop, so that it must not take long."""
        raise NotImplementedError(f"{type(self).__name__} has no evaluate()")

    def get_request_kwargs(self, sample: BenchmarkSample) -> dict[str, Any]:
        """Return further body fields for the sample's request, such as `max_tokens` or `tools`.

        An override may omit the parameter `sample`.
        """
        return {}

    def system_prompt(self) -> str | None:
        """Return the system message that precedes a sample's own messages. Return None for no system message."""
        return None

    async def multi_turn(
        self, sample: BenchmarkSample, client: InstrumentedClient, config: BenchmarkConfig
    ) -> SampleResult:
        """Hold the whole conversation with this client, and return its graded result."""
        raise NotImplementedError(f"{type(self).__name__} has no multi_turn()")
