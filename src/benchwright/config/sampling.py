"""Settings for generation: fields of requests, and the reasoning effort."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from benchwright.config.composed_settings import SettingsSection

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""Type: levels of reasoning effort. Not every server supports all levels."""

ThinkingStyle = Literal[
    "openai",
    "openrouter",
    "vllm",
    "sglang",
    "llama.cpp",
    "anthropic",
    "gemini",
    "dashscope",
    "deepseek",
    "zai",
    "kimi",
    "litellm",
]
"""Type: styles of request fields for reasoning, each for one kind of server; see `endpoint.reasoning_effort`."""


class SamplingSettings(SettingsSection):
    """Fields of every request."""

    temperature: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    param: dict[str, Any] = {}
    """Additional body fields for every request, passed on unchanged."""


class BenchmarkSampling(SamplingSettings):
    """Fields of every request of a benchmark. By default, requests include a seed."""

    seed: int | None = 42


class PackSampling(SamplingSettings):
    """Fields of a pack's generation requests."""

    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    presence_penalty: float | None = None


class ThinkingSettings(SettingsSection):
    """Settings for reasoning effort, and for the request settings that a model's authors recommend."""

    reasoning_effort: ReasoningEffort | None = None
    thinking_budget: int | None = Field(default=None, ge=0)
    """Maximum number of reasoning tokens. The value 0 turns reasoning off."""
    thinking_style: ThinkingStyle | None = None
    """Style of the server's request fields for reasoning. None: detect it from the server."""
    recommended: bool = False
    recommended_file: Path | None = None
    """File of recommended settings per model family. It has priority over the user's own file and the shipped one.

    It implies `recommended`.
    """

    @property
    def sends_recommended_settings(self) -> bool:
        """True if the settings that a model's authors recommend are to be sent."""
        return self.recommended or self.recommended_file is not None
