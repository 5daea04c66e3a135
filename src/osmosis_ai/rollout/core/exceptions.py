"""The exceptions of rollouts."""

from __future__ import annotations

from benchwright.agents.rollout.tools import (
    AgentLoopNotFoundError,
    OsmosisRolloutError,
    OsmosisServerError,
    OsmosisTimeoutError,
    OsmosisTransportError,
    OsmosisValidationError,
    ToolArgumentError,
    ToolExecutionError,
)

__all__ = [
    "AgentLoopNotFoundError",
    "OsmosisRolloutError",
    "OsmosisServerError",
    "OsmosisTimeoutError",
    "OsmosisTransportError",
    "OsmosisValidationError",
    "ToolArgumentError",
    "ToolExecutionError",
]
