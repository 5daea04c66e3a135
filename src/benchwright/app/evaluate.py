"""`eval`: prepares the evaluation of a model or agent over a dataset, graded by scorers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.agents.cache.paths import cache_root, entry_directory
from benchwright.agents.rows import DatasetTask
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary
from benchwright.app.benchmark_agents import recipe_facts
from benchwright.app.dataset_check import DatasetUnchangedRule
from benchwright.app.eval_files import EvalFiles
from benchwright.app.evaluating.targets import eval_targets
from benchwright.app.evaluating.task import (
    NO_OBJECTS,
    agent_name,
    calls_model_itself,
    completion_params,
    eval_task,
    is_program_agent,
)
from benchwright.app.evaluating.trial_reuse import find_reuse
from benchwright.app.launch import discard_message, make_worker_spec, shard_parts_of_request
from benchwright.app.models import key_variable_names, short_name_of_models
from benchwright.app.needs import needs_of_eval, needs_of_requests
from benchwright.app.prepared_run import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.run_lookup.eval_cache import EvalCacheLookup
from benchwright.app.settings_checks import check_eval
from benchwright.app.until.question import check_until_options
from benchwright.config import BaselineSettings, EndpointSettings, EvalSettings, JudgeSettings, SolverSettings
from benchwright.data.manifest import file_fingerprint
from benchwright.engine.plan import Plan
from benchwright.engine.shards import ShardParts
from benchwright.formats import count_with_noun
from benchwright.recipes.recipe_lookup import find_recipe
from benchwright.records import Record, TrialLimits
from benchwright.runs.manifest import DataFile, read_manifest
from benchwright.scorers.mcq import offers_options
from benchwright.text import Say


class EvalReport(Record, frozen=True):
    """Result of an eval. `cache_entry`: the eval's cache file.

    `write_files`: function that writes the requested output files and returns their paths.
    """

    summary: RunSummary
    cache_entry: Path
    write_files: Callable[[], list[Path]]


def prepare_eval(
    settings: EvalSettings, say: Say, objects: Mapping[str, Any] = NO_OBJECTS
) -> PreparedRun[EvalReport]:
    """Check everything that can be checked without a request, and return the prepared run.

    `objects`: agents and scorers that are loaded already, by the `module:attribute` in the settings.

    Raises:
        UserError: If something is missing, cannot be loaded, or is invalid. The message names it and says
            what to do.
    """
    check_eval(settings)
    endpoint, rows = settings.endpoint, settings.rows
    check_until_options(
        settings.deciding, len(endpoint.models_under_test) + (settings.baseline.baseline_model is not None)
    )
    assert rows.dataset is not None
    assert endpoint.model is not None
    task = eval_task(settings, rows.dataset, objects)
    models, helpers = eval_targets(settings, say, objects)
    samples = task.size()
    _say_what_is_odd(task, rows.template, settings.scoring.scorer, say)
    digest = file_fingerprint(rows.dataset)
    data = DataFile(
        path=str(rows.dataset),
        xxh3=digest,
        samples=samples,
        offset=rows.offset,
        columns={**task.inferred_columns, **rows.column},
        left_out=task.skipped_rows.row_count if task.skipped_rows else 0,
    )
    unchanged = DatasetUnchangedRule(rows.dataset, digest)
    request = RunRequest(
        kind="eval",
        name=_name(
            settings.solver,
            rows.dataset,
            short_name_of_models([entry.title for entry in endpoint.models_under_test]),
        ),
        plan=Plan(
            task=task,
            sample_count=samples,
            targets=models.targets,
            helper_targets=helpers,
            repeats=settings.scoring.n,
            limits=TrialLimits(
                turns=settings.solver.max_turns if calls_model_itself(settings.solver, objects) else None,
                tokens=settings.limits.trial_tokens,
                seconds=settings.limits.trial_seconds,
            ),
            is_cancellable=is_program_agent(settings.solver),
        ),
        settings=settings,
        data_files=(data,),
        pass_threshold=settings.scoring.pass_threshold,
        access=models.access,
        typed_models=models.display_names,
        stop_rules=(unchanged,),
        manifest_facts={**_about(settings.solver.agent), **models.manifest_facts},
        worker_spec=None
        if objects
        else make_worker_spec(
            eval_shard_parts, settings, keys=_key_variables(endpoint, settings.judge, settings.baseline)
        ),
        find_needs=lambda: {
            **needs_of_eval(settings.solver, task),
            **needs_of_requests(settings.limits, settings.sampling, endpoint.models),
        },
    )
    entries = entry_directory(cache_root(), endpoint.model, str(rows.dataset))
    files = EvalFiles(settings.outputs, entries, _config(settings, request))
    lookup = EvalCacheLookup(request, settings.resuming, files)

    def report(launched: LaunchedRun) -> EvalReport:
        summary = summarise(read_manifest(launched.directory), launched.table)
        path = lookup.entry_path
        return EvalReport(
            summary, path, lambda: files.write_outputs(launched.table, path, launched.stop_reason)
        )

    return PreparedRun(
        request,
        lookup,
        report,
        description_facts={"left_out_rows": data.left_out} if data.left_out else {},
        resume_note=_resume_note(settings.solver),
        find_reuse=lambda say: find_reuse(settings.resuming, request.plan, lookup, say),
        run_context=lookup.keep_files_updated,
        on_session_end=lookup.rewrite_files,
        find_change_reason=unchanged.reason,
    )


def _say_what_is_odd(task: DatasetTask, template: str | None, scorers: Sequence[str], say: Say) -> None:
    """Report rows that are left out. Warn if a multiple-choice scorer is used with questions that show no options."""
    if task.skipped_rows is not None:
        rows, first = task.skipped_rows
        say(f"Left out {count_with_noun(rows, 'bad row')} (--skip-bad-rows); the first is {first}")
    asked = template or ""
    if "mcq" not in scorers or offers_options({"user_prompt": asked}):
        return
    content = next(task.samples()).content
    if not offers_options(content):
        say(
            "--scorer mcq, but the rows have no options: neither a column (options, choices, or A, B, C, …) nor lines "
            "like `A. …` in the prompt. Name the column with --column options=NAME, or give the options in --template."
        )


def _about(agent: str | None) -> Mapping[str, str]:
    """Return the facts about the recipe of a command-line agent, for the run's manifest. Empty if `agent` is None."""
    return {} if agent is None else recipe_facts(find_recipe(agent))


def _name(solver: SolverSettings, dataset: Path, model: str) -> str:
    """Return the name of the run: dataset, agent (if any) and model."""
    agent = agent_name(solver)
    return "-".join([dataset.stem, *([agent] if agent else []), model])


def _resume_note(solver: SolverSettings) -> str | None:
    """Return a note for resumed runs: changes in modules that the user's code imports are not detected.

    None if the eval runs no code of the user.
    """
    if solver.mcp is not None:
        covered = f"MCP directory {solver.mcp}"
    elif solver.agent_command is not None:
        covered = "the files that the command names"
    elif solver.module is not None:
        covered = _covered(solver.module.rpartition(":")[0])
    else:
        return None
    return (
        f"Note: Module fingerprint covers {covered}. External dependency changes\n"
        "      are not detected. Use --fresh if you changed external imports."
    )


def _covered(module: str) -> str:
    """Return what the fingerprint of a user's module covers, in words: one file, or a whole package."""
    path = module.replace(".", "/")
    return f"package {path}/" if hasattr(sys.modules.get(module), "__path__") else f"file {path}.py"


def _key_variables(
    endpoint: EndpointSettings, judge: JudgeSettings, baseline: BaselineSettings
) -> set[str | None]:
    """Return the environment variables that hold keys and headers of the model, the judge or the baseline."""
    others = (judge.judge_headers_env, baseline.baseline_headers_env)
    return {judge.judge_api_key_env, *key_variable_names(endpoint, *others)}


def eval_shard_parts(concurrency: int, settings: EvalSettings) -> ShardParts:
    """Prepare the eval again in a worker process. Return the parts that the worker needs: task, clients and limits."""
    return shard_parts_of_request(prepare_eval(settings, discard_message).request, concurrency)


def _config(settings: EvalSettings, request: RunRequest) -> dict[str, Any]:
    """Return the configuration as written to the cache file.

    The key `fingerprint` is a digest of everything that the other keys do not contain.
    """
    endpoint, baseline, solver = settings.endpoint, settings.baseline, settings.solver
    rows, scoring = settings.rows, settings.scoring
    return {
        "model": endpoint.model,
        **({"models": [entry.title for entry in endpoint.models]} if endpoint.models else {}),
        "base_url": endpoint.base_url and endpoint.base_url.rstrip("/"),
        "baseline_model": baseline.baseline_model,
        "baseline_base_url": baseline.baseline_base_url and baseline.baseline_base_url.rstrip("/"),
        "module": f"mcp:{solver.mcp.resolve()}" if solver.mcp is not None else solver.module,
        "agent_command": solver.agent_command,
        **({"agent": solver.agent} if solver.agent else {}),
        "dataset": str(rows.dataset),
        "eval_fns": sorted(scoring.eval_fn) or None,
        "scorers": sorted(scoring.scorer) or None,
        "n_runs": scoring.n,
        "max_turns": solver.max_turns,
        "pass_threshold": scoring.pass_threshold,
        "offset": rows.offset,
        "limit": rows.limit,
        "completion_params": completion_params(settings.sampling) or None,
        "stream": None if settings.execution.stream else False,
        "dataset_fingerprint": request.data_files[0].xxh3,
        "fingerprint": request.fingerprint,
    }
