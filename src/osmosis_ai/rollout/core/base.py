"""Documented import path of the base class of agents, its context and its result."""

from __future__ import annotations

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop

__all__ = ["RolloutAgentLoop", "RolloutContext", "RolloutResult"]
