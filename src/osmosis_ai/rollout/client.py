"""Documented import path of `CompletionsResult`, one response of the model as an agent receives it."""

from __future__ import annotations

from benchwright.agents.rollout.types import CompletionsResult

__all__ = ["CompletionsResult"]
