"""The checks that the documents promise for `eval`, with their words."""

from __future__ import annotations

from benchwright.config import EvalSettings
from benchwright.errors import UserError

AT_LEAST_ONE = {"n": "--n", "concurrency": "--batch-size", "max_turns": "--max-turns", "limit": "--limit"}


def check_eval(settings: EvalSettings) -> None:
    """Raises UserError for the first thing that is missing or contradicts another."""
    if settings.dataset is None:
        raise UserError("--dataset (-d) is required.")
    if settings.model is None:
        raise UserError("--model is required.")
    if not settings.eval_fn and not settings.scorer:
        raise UserError("--eval-fn is required (or --scorer, to score without code of your own).")
    agents = [settings.module, settings.mcp, settings.agent_command]
    if not settings.scorer and not any(agents):
        raise UserError("Either --module (-m) or --mcp is required.")
    if settings.module is not None and settings.mcp is not None:
        raise UserError("--module and --mcp are mutually exclusive.")
    if sum(agent is not None for agent in agents) > 1:
        raise UserError("--agent-command goes with neither --module nor --mcp.")
    for field, option in AT_LEAST_ONE.items():
        value = getattr(settings, field)
        if value is not None and value < 1:
            raise UserError(f"{option} must be >= 1.")
    if settings.offset < 0:
        raise UserError("--offset must be >= 0.")
    if any(agents) and settings.column:
        raise UserError("--column does not go with an agent: it needs the documented columns.")
    if settings.baseline_model is None:
        if settings.baseline_base_url is not None:
            raise UserError("--baseline-base-url requires --baseline-model.")
        if settings.baseline_api_key is not None:
            raise UserError("--baseline-api-key requires --baseline-model.")
    if settings.fresh and settings.retry_failed:
        raise UserError("--fresh and --retry-failed are mutually exclusive.")
    if settings.fresh and (settings.reuse or settings.rescore):
        raise UserError("--fresh starts over; it does not go with --reuse or --rescore.")
    if "judge" not in settings.scorer and settings.judge_model is not None:
        raise UserError("--judge-model is only used by --scorer judge.")
