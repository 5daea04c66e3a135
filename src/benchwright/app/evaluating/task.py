"""The task of an eval, created from its settings."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from inspect import isroutine
from pathlib import Path
from typing import Any

from benchwright.agents.prompt_task import PromptTask
from benchwright.agents.rows import DatasetTask
from benchwright.app.evaluating.scorers import eval_scorers, needs_target
from benchwright.config import EvalRows, EvalScoring, EvalSettings, SamplingSettings, SolverSettings

LETTER_ANSWER_INSTRUCTION = "{prompt}\n\nAnswer with the letter of the right option."


NO_OBJECTS: Mapping[str, Any] = {}


def eval_task(settings: EvalSettings, path: Path, objects: Mapping[str, Any] = NO_OBJECTS) -> DatasetTask:
    """Return the task over the dataset at `path`. Bad rows are skipped if the settings say so.

    `objects`: agents and scorers that are loaded already, by the `module:attribute` in the settings.

    Raises:
        UserError: If something that the settings name cannot be loaded or used.
    """
    task = _task(settings, path, objects)
    if settings.rows.skip_bad_rows:
        task.skip_bad_rows()
    return task


def _task(settings: EvalSettings, path: Path, objects: Mapping[str, Any]) -> DatasetTask:
    """Return the task over the dataset at `path`.

    The task's class depends on the kind of agent. Without an agent, it is the class for a plain model.
    """
    solver, scoring = settings.solver, settings.scoring
    judge_model = settings.judge.judge_model or settings.endpoint.model or ""
    scorers = eval_scorers(scoring, judge_model, objects)
    rows: dict[str, Any] = {
        "limit": settings.rows.limit,
        "offset": settings.rows.offset,
        "group_by": settings.rows.group_by,
    }
    if solver.mcp is not None:
        from benchwright.agents.mcp.task import McpTask

        turns, params = solver.max_turns, completion_params(settings.sampling)
        return McpTask(solver.mcp, path, scorers, max_turns=turns, completion_params=params, **rows)
    if solver.agent_command is not None:
        from benchwright.agents.command_task import command_task

        return command_task(path, solver.agent_command, scorers, **rows)
    if solver.agent is not None:
        from benchwright.agents.recipe_task import recipe_task
        from benchwright.recipes.recipe_lookup import find_recipe

        return recipe_task(
            path,
            find_recipe(solver.agent),
            scorers,
            columns=settings.rows.column,
            needs_target=needs_target(scoring, scorers),
            **rows,
        )
    if solver.module is not None:
        from benchwright.agents.agent_task import AgentTask
        from benchwright.agents.callable_task import callable_task
        from benchwright.agents.loading import create_agent
        from benchwright.agents.rollout_requests import DEBUG_DIRECTORY
        from benchwright.agents.solver_task import solver_task

        agent = _agent(solver.module, objects)
        if isroutine(agent):
            return callable_task(path, agent, scorers, module=solver.module, **rows)
        if hasattr(agent, "solve"):
            return solver_task(path, agent, scorers, module=solver.module, **rows)
        return AgentTask(
            path,
            create_agent(agent, solver.module),
            scorers,
            module=solver.module,
            max_turns=solver.max_turns,
            completion_params=completion_params(settings.sampling),
            debug_dir=DEBUG_DIRECTORY if solver.debug else None,
            **rows,
        )
    return PromptTask(
        path,
        scorers,
        columns=settings.rows.column,
        needs_target=needs_target(scoring, scorers),
        system=settings.rows.system,
        template=_template(settings.rows, scoring),
        **rows,
    )


def _template(rows: EvalRows, scoring: EvalScoring) -> str | None:
    """Return the prompt template that the user gave.

    If the user gave none and a scorer is multiple choice, return a template that asks for a letter. Return None
    otherwise.
    """
    if rows.template is None and "mcq" in scoring.scorer:
        return LETTER_ANSWER_INSTRUCTION
    return rows.template


def completion_params(sampling: SamplingSettings) -> dict[str, float | int]:
    """Return the request fields `temperature` and `max_tokens` for an agent to send.

    A field that the user did not set is left out.
    """
    params = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens}
    return {name: value for name, value in params.items() if value is not None}


def agent_name(solver: SolverSettings) -> str | None:
    """Return the name of the agent: its module and function, its tools' directory, or its program.

    None if a plain model is evaluated.
    """
    if solver.module is not None:
        return solver.module.replace(":", ".")
    if solver.mcp is not None:
        return solver.mcp.resolve().name
    if solver.agent_command is not None:
        return _program_name(solver.agent_command)
    return None if solver.agent is None else Path(solver.agent).stem


def _program_name(command: str) -> str:
    """Return the file name (without suffix) of a program, or of the script that it runs."""
    paths = [Path(word) for word in shlex.split(command) if not word.startswith("-")][:2]
    return next((path for path in paths if path.suffix[1:].isalpha()), paths[0]).stem


def is_program_agent(solver: SolverSettings) -> bool:
    """Return True if the agent is a program: a command of the user, or one that a recipe installs."""
    return solver.agent_command is not None or solver.agent is not None


def calls_model_itself(solver: SolverSettings, objects: Mapping[str, Any] = NO_OBJECTS) -> bool:
    """Return True if the agent calls the model itself, through the relay.

    Such an agent is a program or a plain function.
    """
    if is_program_agent(solver):
        return True
    return solver.module is not None and isroutine(_agent(solver.module, objects))


def forwards_sampling_params(solver: SolverSettings, objects: Mapping[str, Any] = NO_OBJECTS) -> bool:
    """Return True if the agent is written on the rollout types and sends temperature and max_tokens itself."""
    if solver.mcp is not None:
        return True
    if solver.module is None:
        return False
    agent = _agent(solver.module, objects)
    return not isroutine(agent) and not hasattr(agent, "solve")


def _agent(module: str, objects: Mapping[str, Any]) -> Any:
    from benchwright.agents.loading import load_object

    return objects[module] if module in objects else load_object(module)
