"""Options for reasoning effort, and for recommended settings of models."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli.command_help import combine_options, option

REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Levels of reasoning effort: a copy of `config.ReasoningEffort`. `--help` must not import `config`."""

THINKING_STYLES = (
    *("openai", "openrouter", "vllm", "sglang", "llama.cpp", "anthropic", "gemini", "dashscope", "deepseek"),
    *("zai", "kimi", "litellm"),
)
"""Styles of request fields for reasoning: a copy of `config.ThinkingStyle`."""

thinking_options = combine_options(
    option("--reasoning-effort", type=click.Choice(REASONING_EFFORTS), metavar="LEVEL", heading="Model", rare=True,
           help="How much the model thinks: none, minimal, low, medium, high, xhigh or max "
           "(default: not sent)."),
    option("--thinking-budget", type=click.IntRange(min=0), metavar="TOKENS", heading="Model", rare=True,
           help="Maximum tokens of thinking, 0 for none (default: not sent)."),
    option("--thinking-style", type=click.Choice(THINKING_STYLES), metavar="SERVER", heading="Model", rare=True,
           help=f"Kind of server, which says how the two are sent: {', '.join(THINKING_STYLES)} (default: found out)."),
    option("--recommended", is_flag=True, heading="Model", rare=True,
           help="Send the sampling settings that the model's authors recommend."),
    option("--recommended-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", heading="Model",
           rare=True, help="TOML file of recommended settings to look in first; implies --recommended."),
)  # fmt: skip
