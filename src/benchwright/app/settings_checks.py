"""Checks of the settings of `eval` and `test`. The checks and their messages are those that osmosis_ai documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.errors import UserError

if TYPE_CHECKING:
    from benchwright.config import EvalSettings


def check_eval(settings: EvalSettings) -> None:
    """Raise UserError for the first setting that is missing or contradicts another."""
    check_dataset(settings.rows.dataset)
    if settings.endpoint.model is None:
        raise UserError("--model is required.")
    if not settings.scoring.eval_fn and not settings.scoring.scorer:
        raise UserError("--eval-fn is required (or --scorer, to use a built-in scorer).")
    agents = [
        settings.solver.module,
        settings.solver.mcp,
        settings.solver.agent_command,
        settings.solver.agent,
    ]
    check_agent(
        settings.solver.module, settings.solver.mcp, needed=not settings.scoring.scorer and not any(agents)
    )
    if sum(agent is not None for agent in agents) > 1:
        raise UserError("Only one of --module, --mcp, --agent and --agent-command can be given.")
    numbers = {
        "--n": settings.scoring.n,
        "--batch-size": settings.execution.concurrency,
        "--max-turns": settings.solver.max_turns,
        "--limit": settings.rows.limit,
    }
    check_minimum_values(numbers, settings.rows.offset)
    if any(agents) and settings.solver.agent is None and settings.rows.column:
        raise UserError("--column cannot be used with an agent, which needs the documented columns.")
    if settings.baseline.baseline_model is None:
        if settings.baseline.baseline_base_url is not None:
            raise UserError("--baseline-base-url requires --baseline-model.")
        if settings.baseline.baseline_api_key is not None:
            raise UserError("--baseline-api-key requires --baseline-model.")
    elif len(settings.endpoint.models_under_test) > 1:
        raise UserError(
            "--baseline-model goes with one --model; of several models, the first is compared with each other one."
        )
    if settings.resuming.fresh and settings.resuming.retry_failed:
        raise UserError("--fresh and --retry-failed are mutually exclusive.")
    if settings.resuming.fresh and (settings.resuming.reuse or settings.resuming.rescore):
        raise UserError("--fresh starts over; it cannot be combined with --reuse or --rescore.")
    if "judge" not in settings.scoring.scorer and settings.judge.judge_model is not None:
        raise UserError("--judge-model is only used by --scorer judge.")


def check_dataset(dataset: Path | None) -> None:
    """Raise UserError if no dataset is given."""
    if dataset is None:
        raise UserError("--dataset (-d) is required.")


def check_agent(module: str | None, mcp: Path | None, *, needed: bool = True) -> None:
    """Raise UserError if there is no agent although one is `needed`, or if there are two."""
    if needed and module is None and mcp is None:
        raise UserError("Either --module (-m) or --mcp is required.")
    if module is not None and mcp is not None:
        raise UserError("--module and --mcp are mutually exclusive.")


def check_minimum_values(numbers: Mapping[str, object], offset: int) -> None:
    """Raise UserError if the offset is below 0, or if one of the `numbers` is below 1. `numbers`: {option: value}."""
    for option, value in numbers.items():
        if isinstance(value, int) and value < 1:
            raise UserError(f"{option} must be >= 1.")
    if offset < 0:
        raise UserError("--offset must be >= 0.")
