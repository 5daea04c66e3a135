"""`eval`: a dataset, a model or agent that answers, and scorers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchwright.agents.rows import DatasetTask
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary
from benchwright.app.benchmark_agents import recipe_facts
from benchwright.app.checks import check_eval
from benchwright.app.dataset_check import DatasetUnchanged
from benchwright.app.eval_files import EvalFiles
from benchwright.app.eval_shelf import EvalShelf
from benchwright.app.evaluating.earlier import find_reuse
from benchwright.app.evaluating.targets import eval_targets
from benchwright.app.evaluating.task import (
    NOTHING,
    agent_name,
    asks_by_itself,
    completion_params,
    eval_task,
    is_program,
)
from benchwright.app.launch import parts_of, recipe, said_by_the_parent
from benchwright.app.models import key_variables, short_name
from benchwright.app.needs import needs_of_eval
from benchwright.app.prepared import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.until.question import check_until
from benchwright.config import EvalSettings
from benchwright.data.manifest import file_fingerprint
from benchwright.engine.plan import Plan
from benchwright.engine.shards import ShardParts
from benchwright.formats import counted
from benchwright.recipes.shelf import find_recipe
from benchwright.records import Record, TrialLimits
from benchwright.runs.manifest import DataFile, read_manifest
from benchwright.scorers.mcq import offers_options
from benchwright.text import Say


class EvalReport(Record, frozen=True):
    """Result of an eval. `write` writes the requested output files and returns their paths."""

    summary: RunSummary
    cache_entry: Path
    write: Callable[[], list[Path]]


def prepare_eval(
    settings: EvalSettings, say: Say, objects: Mapping[str, Any] = NOTHING
) -> PreparedRun[EvalReport]:
    """Check everything that can be checked without a request, and compose the run.

    `objects`: agents and scorers that are loaded already, by the `module:attribute` in the settings.

    Raises:
        UserError: If something is missing, cannot be loaded, or is invalid. The message names it and says
            what to do.
    """
    check_eval(settings)
    check_until(settings)
    assert settings.dataset is not None
    assert settings.model is not None
    task = eval_task(settings, settings.dataset, objects)
    models, helpers = eval_targets(settings, say, objects)
    samples = task.size()
    _say_what_is_odd(task, settings, say)
    digest = file_fingerprint(settings.dataset)
    data = DataFile(
        path=str(settings.dataset),
        xxh3=digest,
        samples=samples,
        offset=settings.offset,
        columns={**task.identity, **settings.column},
        left_out=task.left_out.rows if task.left_out else 0,
    )
    unchanged = DatasetUnchanged(settings.dataset, digest)
    request = RunRequest(
        kind="eval",
        name=_name(settings, settings.dataset, short_name([entry.title for entry in settings.tried])),
        plan=Plan(
            task=task,
            samples=samples,
            targets=models.targets,
            helpers=helpers,
            repeats=settings.n,
            limits=TrialLimits(
                turns=settings.max_turns if asks_by_itself(settings, objects) else None,
                tokens=settings.trial_tokens,
                seconds=settings.trial_seconds,
            ),
            aborts=is_program(settings),
        ),
        settings=settings,
        data=(data,),
        pass_threshold=settings.pass_threshold,
        access=models.access,
        typed_models=models.names,
        rules=(unchanged,),
        about={**_about(settings), **models.about},
        recipe=None
        if objects
        else recipe(eval_parts, settings, keys=(settings.judge_api_key_env, *key_variables(settings))),
        needs=lambda: needs_of_eval(settings, task),
    )
    files = EvalFiles(settings, _config(settings, request))
    shelf = EvalShelf(request, settings, files)

    def report(launched: LaunchedRun) -> EvalReport:
        summary = summarise(read_manifest(launched.directory), launched.table)
        path = shelf.entry_path
        return EvalReport(
            summary, path, lambda: files.write_outputs(launched.table, path, launched.stop_reason)
        )

    return PreparedRun(
        request,
        shelf,
        report,
        facts={"left_out_rows": data.left_out} if data.left_out else {},
        resume_note=_resume_note(settings),
        reuse=lambda say: find_reuse(settings, request.plan, shelf, say),
        during=shelf.kept_up_to_date,
        at_end=shelf.project,
        changed=unchanged.reason,
    )


def _say_what_is_odd(task: DatasetTask, settings: EvalSettings, say: Say) -> None:
    """Report rows that are left out, and multiple choice without options."""
    if task.left_out is not None:
        rows, first = task.left_out
        say(f"Left out {counted(rows, 'bad row')} (--skip-bad-rows); the first is {first}")
    asked = settings.template or ""
    if "mcq" not in settings.scorer or offers_options({"user_prompt": asked}):
        return
    content = next(task.samples()).content
    if not offers_options(content):
        say(
            "--scorer mcq, but the rows have no options: neither a column (options, choices, or A, B, C, …) nor lines "
            "like `A. …` in the prompt. Name the column with --column options=NAME, or give the options in --template."
        )


def _about(settings: EvalSettings) -> Mapping[str, str]:
    """Return the facts about the command-line agent. Empty without one."""
    return {} if settings.agent is None else recipe_facts(find_recipe(settings.agent))


def _name(settings: EvalSettings, dataset: Path, model: str) -> str:
    """Return the name of the run: dataset, agent (if any) and model."""
    agent = agent_name(settings)
    return "-".join([dataset.stem, *([agent] if agent else []), model])


def _resume_note(settings: EvalSettings) -> str | None:
    """Return a note that resuming does not detect changes in modules imported by the user's code."""
    if settings.mcp is not None:
        covered = f"MCP directory {settings.mcp}"
    elif settings.agent_command is not None:
        covered = "the files that the command names"
    elif settings.module is not None:
        covered = _covered(settings.module.rpartition(":")[0])
    else:
        return None
    return (
        f"Note: Module fingerprint covers {covered}. External dependency changes\n"
        "      are not detected. Use --fresh if you changed external imports."
    )


def _covered(module: str) -> str:
    """Return what the fingerprint of a user's module covers: its file, or a whole package."""
    path = module.replace(".", "/")
    return f"package {path}/" if hasattr(sys.modules.get(module), "__path__") else f"file {path}.py"


def eval_parts(concurrency: int, settings: EvalSettings) -> ShardParts:
    """Prepare the eval again in a worker process, and return the parts that the worker needs."""
    return parts_of(prepare_eval(settings, said_by_the_parent).request, concurrency)


def _config(settings: EvalSettings, request: RunRequest) -> dict[str, Any]:
    """Return the configuration as shown in the cache file.

    `fingerprint` covers what the other keys do not contain.
    """
    return {
        "model": settings.model,
        **({"models": [entry.title for entry in settings.models]} if settings.models else {}),
        "base_url": settings.base_url and settings.base_url.rstrip("/"),
        "baseline_model": settings.baseline_model,
        "baseline_base_url": settings.baseline_base_url and settings.baseline_base_url.rstrip("/"),
        "module": f"mcp:{settings.mcp.resolve()}" if settings.mcp is not None else settings.module,
        "agent_command": settings.agent_command,
        **({"agent": settings.agent} if settings.agent else {}),
        "dataset": str(settings.dataset),
        "eval_fns": sorted(settings.eval_fn) or None,
        "scorers": sorted(settings.scorer) or None,
        "n_runs": settings.n,
        "max_turns": settings.max_turns,
        "pass_threshold": settings.pass_threshold,
        "offset": settings.offset,
        "limit": settings.limit,
        "completion_params": completion_params(settings) or None,
        "stream": None if settings.stream else False,
        "dataset_fingerprint": request.data[0].xxh3,
        "fingerprint": request.fingerprint,
    }
