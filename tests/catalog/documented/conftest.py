"""What tests of the documented interface share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig, RunConfig, VLLMConfig


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BENCHWRIGHT_API_KEY", "OPENAI_API_KEY", "LITELLM_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def config() -> Callable[..., BenchmarkConfig]:
    """Makes a configuration of a base URL and fields of `RunConfig`."""

    def make(base_url: str, model: str = "some-model", **run: Any) -> BenchmarkConfig:
        return BenchmarkConfig(vllm=VLLMConfig(base_url=base_url, model=model), run=RunConfig(**run))

    return make
