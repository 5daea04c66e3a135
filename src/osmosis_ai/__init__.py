"""The import paths that the documentation of Osmosis promises. Everything in them is part of Benchwright."""

from __future__ import annotations

from benchwright.agents.decorators import osmosis_reward, osmosis_rubric
from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop, create_app
from benchwright.agents.rollout.types import (
    CompletionsResult,
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    RolloutMetrics,
    RolloutRequest,
)
from benchwright.agents.rubrics import (
    MissingAPIKeyError,
    ModelNotFoundError,
    ProviderRequestError,
    evaluate_rubric,
)

__all__ = [
    "CompletionsResult",
    "MissingAPIKeyError",
    "ModelNotFoundError",
    "OpenAIFunctionParametersSchema",
    "OpenAIFunctionPropertySchema",
    "OpenAIFunctionSchema",
    "OpenAIFunctionToolSchema",
    "ProviderRequestError",
    "RolloutAgentLoop",
    "RolloutContext",
    "RolloutMetrics",
    "RolloutRequest",
    "RolloutResult",
    "create_app",
    "evaluate_rubric",
    "osmosis_reward",
    "osmosis_rubric",
]
