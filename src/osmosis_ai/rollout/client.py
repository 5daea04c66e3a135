"""One answer of the model, as an agent sees it."""

from __future__ import annotations

from benchwright.agents.rollout.types import CompletionsResult

__all__ = ["CompletionsResult"]
