"""The documented settings: the model's endpoint, and how benchmarks run."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

DEFAULT_MAX_TOKENS = 2048


class VLLMConfig(BaseModel):
    """An OpenAI-compatible endpoint and one of its models.

    `timeout` is in seconds. The value `EMPTY` of `api_key` means no key.
    """

    base_url: str = "http://localhost:8000/v1"
    api_key: str = Field(default="EMPTY", repr=False)
    model: str
    timeout: float = 300.0


class RunConfig(BaseModel):
    """Settings of a run. For a field that is not set, the benchmark's own protocol decides.

    If `seed` is None, no seed is sent. If `prometheus_url` is not set, it is the endpoint's address with
    `/metrics` in place of `/v1`.
    """

    concurrency: int = Field(default=8, ge=1)
    max_samples: int | None = None
    streaming: bool = True
    seed: int | None = 42
    temperature: float = 0.0
    max_tokens: int = DEFAULT_MAX_TOKENS
    output_dir: Path = Path("results")
    data_dir: Path = Path("data")
    scrape_prometheus: bool = False
    prometheus_url: str = "http://localhost:8000/metrics"


class BenchmarkConfig(BaseModel):
    """The endpoint and the run settings together."""

    vllm: VLLMConfig
    run: RunConfig
