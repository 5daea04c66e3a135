"""What an eval asks and how it scores: its task, made of the settings."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from inspect import isroutine
from pathlib import Path
from typing import Any

from benchwright.agents.eval_fns import EvalFnScorer, load_eval_fns
from benchwright.agents.prompt_task import PromptTask
from benchwright.config import EvalSettings
from benchwright.engine.protocols import Scorer, Task
from benchwright.errors import UserError
from benchwright.scorers.registry import SCORERS, make_scorer

ANSWER_WITH_A_LETTER = "{prompt}\n\nAnswer with the letter of the right option."


def eval_task(settings: EvalSettings, path: Path) -> Task:
    """The task over the rows at `path`: MCP tools, a program, a function, an agent, or the model itself.

    Raises:
        UserError: something that the settings name cannot be loaded or used.
    """
    scorers = _scorers(settings)
    rows: dict[str, Any] = {
        "limit": settings.limit,
        "offset": settings.offset,
        "group_by": settings.group_by,
    }
    if settings.mcp is not None:
        from benchwright.agents.mcp.task import McpTask

        turns, params = settings.max_turns, completion_params(settings)
        return McpTask(settings.mcp, path, scorers, max_turns=turns, completion_params=params, **rows)
    if settings.agent_command is not None:
        from benchwright.agents.command_task import command_task

        return command_task(path, settings.agent_command, scorers, **rows)
    if settings.module is not None:
        from benchwright.agents.agent_task import AgentTask
        from benchwright.agents.callable_task import callable_task
        from benchwright.agents.loading import load_agent, load_object
        from benchwright.agents.rollout_requests import DEBUG_DIRECTORY

        agent = load_object(settings.module)
        if isroutine(agent):
            return callable_task(path, agent, scorers, module=settings.module, **rows)
        return AgentTask(
            path,
            load_agent(settings.module),
            scorers,
            module=settings.module,
            max_turns=settings.max_turns,
            completion_params=completion_params(settings),
            debug_dir=DEBUG_DIRECTORY if settings.debug else None,
            **rows,
        )
    return PromptTask(
        path,
        scorers,
        columns=settings.column,
        needs_target=bool(settings.eval_fn) or any(name != "judge" for name in settings.scorer),
        system=settings.system,
        template=_template(settings),
        **rows,
    )


def _scorers(settings: EvalSettings) -> Sequence[Scorer]:
    scorers: list[Scorer] = [make_scorer(name, _scorer_options(name, settings)) for name in settings.scorer]
    scorers.extend(EvalFnScorer(wrapper) for wrapper in load_eval_fns(settings.eval_fn))
    names = [scorer.name for scorer in scorers]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"The scorer {name!r} is given twice.")
    return scorers


def _scorer_options(name: str, settings: EvalSettings) -> dict[str, str]:
    """The options given that this scorer has, all of them if it is the only scorer; the judge's model too."""
    given = settings.scorer_option
    if len(settings.scorer) > 1 and name in SCORERS:
        for option in given:
            if not any(option in SCORERS[each].options for each in settings.scorer if each in SCORERS):
                raise UserError(f"No scorer has an option {option!r}.")
        given = {option: value for option, value in given.items() if option in SCORERS[name].options}
    if name == "judge":
        return {"model": settings.judge_model or settings.model or "", **given}
    return given


def _template(settings: EvalSettings) -> str | None:
    """The template given; else, for multiple choice, a request to answer with a letter."""
    if settings.template is None and "mcq" in settings.scorer:
        return ANSWER_WITH_A_LETTER
    return settings.template


def completion_params(settings: EvalSettings) -> dict[str, float | int]:
    """What the documents pass to the agent, which hands it on: temperature and max_tokens, where given."""
    params = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
    return {name: value for name, value in params.items() if value is not None}


def agent_name(settings: EvalSettings) -> str | None:
    """What the agent is called: its function in its module, its tools' directory, its program; None without one."""
    if settings.module is not None:
        return settings.module.replace(":", ".")
    if settings.mcp is not None:
        return settings.mcp.resolve().name
    if settings.agent_command is not None:
        return _program_name(settings.agent_command)
    return None


def _program_name(command: str) -> str:
    """The file's name of a program, or of the script that it runs."""
    paths = [Path(word) for word in shlex.split(command) if not word.startswith("-")][:2]
    return next((path for path in paths if path.suffix[1:].isalpha()), paths[0]).stem


def asks_by_itself(settings: EvalSettings) -> bool:
    """Whether the agent is a program or a function, which reaches the model through the relay."""
    if settings.agent_command is not None:
        return True
    if settings.module is None:
        return False
    from benchwright.agents.loading import load_object

    return isroutine(load_object(settings.module))
