"""The import path that the Osmosis documents promise; everything in it is part of Benchwright."""

from __future__ import annotations

from benchwright.agents.decorators import osmosis_reward, osmosis_rubric
from benchwright.agents.rollout.app import create_app
from benchwright.agents.rollout.completions import CompletionsResult
from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.rollout.schemas import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
)
from benchwright.agents.rollout.types import RolloutMetrics, RolloutRequest

__all__ = [
    "CompletionsResult",
    "OpenAIFunctionParametersSchema",
    "OpenAIFunctionPropertySchema",
    "OpenAIFunctionSchema",
    "OpenAIFunctionToolSchema",
    "RolloutAgentLoop",
    "RolloutContext",
    "RolloutMetrics",
    "RolloutRequest",
    "RolloutResult",
    "create_app",
    "osmosis_reward",
    "osmosis_rubric",
]
