"""One answer of the model, as an agent sees it."""

from __future__ import annotations

from benchwright.agents.rollout.completions import CompletionsResult

__all__ = ["CompletionsResult"]
