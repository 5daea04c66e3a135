"""How openai/simple-evals asks the chat models of its published table (simple_evals.py, chat_completion_sampler.py)."""

from __future__ import annotations

REPOSITORY = "https://github.com/openai/simple-evals"
COMMIT = "ee3b031"

SYSTEM_MESSAGE = "You are a helpful assistant."
"""The message of the rows whose prompt is called "assistant": all of OpenAI's models that take one."""

TEMPERATURE = 0.5
MAX_TOKENS = 2048
