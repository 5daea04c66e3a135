"""`evaluate`: `benchwright eval` from Python, also with agents and scorers that are objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from benchwright.api.arguments import EvalArguments, ModelArgument, endpoint_fields_of_models, make_settings
from benchwright.api.jobs import JobFunction, run_job, run_job_async
from benchwright.api.results import Evaluation, shortfalls_of
from benchwright.engine.protocols import Scorer, Solver, Task
from benchwright.errors import UserError

if TYPE_CHECKING:
    from benchwright.agents.rollout.loop import RolloutAgentLoop
    from benchwright.api.run_progress import ProgressPrinter

RowsArgument = Sequence[Mapping[str, Any]]
DatasetArgument = str | os.PathLike[str] | RowsArgument | Task
ScorerArgument = str | Scorer | Callable[..., Any]


def evaluate(
    dataset: DatasetArgument,
    model: ModelArgument | Sequence[ModelArgument],
    *,
    scorer: ScorerArgument | Sequence[ScorerArgument] = (),
    agent: str | Solver | RolloutAgentLoop | Callable[..., Any] | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_env: str | None = None,
    progress: bool = False,
    **arguments: Unpack[EvalArguments],
) -> Evaluation:
    """Evaluate a model, or an agent that uses it, over a dataset; wait for the end, and return the finished run.

    The same call resumes an interrupted run, and returns the result of a finished one without new requests
    (`fresh` starts over). It may be called while an event loop runs, as in a notebook.

    Args:
        dataset: A file (.jsonl, .json, .csv, .parquet), rows (a list of dictionaries), or a `Task` with its
            own scorers and solver.
        model: Name of the model as the server lists it, or several, tried in turn with each sample. A model
            with its own settings is a dictionary of `model` and any of `name`, `base_url`, `api_key_env`,
            `headers`, `headers_env`, `temperature`, `max_tokens`, `seed`, `param`.
        scorer: Names (`"exact"`, `"my_scorers:is_polite"`), functions or `Scorer` objects; one or several.
        agent: The agent, instead of the model itself: `"module:attribute"`, a function, a `RolloutAgentLoop`,
            a `Solver`, or the name of a command-line agent as listed by `benchwright agents`.
        base_url: Address of the endpoint, by default $OPENAI_BASE_URL, else OpenAI.
        api_key: API key, which is stored nowhere. By default $BENCHWRIGHT_API_KEY or $OPENAI_API_KEY.
        api_key_env: Name of the environment variable that holds the API key.
        progress: True shows a progress line on stderr.
        arguments: Options of `benchwright eval`, with underscores.

    Raises:
        UserError: If something is missing or invalid, or the endpoint cannot be reached. The message says
            what to do.
        RunUnfinished: If a budget or an endpoint error stopped the run. Finished trials are kept.
        JournalError: If the run cannot be written.
        KeyboardInterrupt: If Ctrl-C is pressed. Finished trials are kept, and the same call resumes the run.
    """
    given = {**endpoint_fields_of_models(model), "base_url": base_url, "api_key": api_key, **arguments}
    return run_job(_work(dataset, scorer, agent, given, api_key_env), progress=progress)


async def evaluate_async(
    dataset: DatasetArgument,
    model: ModelArgument | Sequence[ModelArgument],
    *,
    scorer: ScorerArgument | Sequence[ScorerArgument] = (),
    agent: str | Solver | RolloutAgentLoop | Callable[..., Any] | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_env: str | None = None,
    progress: bool = False,
    **arguments: Unpack[EvalArguments],
) -> Evaluation:
    """Evaluate and return the finished run, as `evaluate` does, without blocking the caller's event loop.

    Cancelling the task has the effect of Ctrl-C in `evaluate`.
    """
    given = {**endpoint_fields_of_models(model), "base_url": base_url, "api_key": api_key, **arguments}
    return await run_job_async(_work(dataset, scorer, agent, given, api_key_env), progress=progress)


def _work(
    dataset: DatasetArgument,
    scorer: ScorerArgument | Sequence[ScorerArgument],
    agent: Any,
    given: Mapping[str, Any],
    api_key_env: str | None,
) -> JobFunction[Evaluation]:
    if not isinstance(dataset, str | os.PathLike | Sequence):
        return _task_work(dataset, scorer, agent, given, api_key_env)
    objects: dict[str, Any] = {}
    scorers = [scorer] if isinstance(scorer, str) or not isinstance(scorer, Iterable) else scorer
    names = tuple(_named(each, objects) for each in scorers)
    name = None if agent is None else _named(agent, objects)
    own_agent = {"module": name} if name is None or ":" in name else {"agent": name}

    async def work(watch: ProgressPrinter) -> Evaluation:
        from benchwright.api.labelling import store_labels
        from benchwright.app.dataset_file import write_rows_file
        from benchwright.app.evaluate import prepare_eval
        from benchwright.app.judging.labelling import read_labels_for_run
        from benchwright.app.launch import launch_run
        from benchwright.config import EvalSettings

        path = Path(dataset) if isinstance(dataset, str | os.PathLike) else write_rows_file(dataset)
        own = {"dataset": path, "scorer": names, **own_agent}
        settings = make_settings(EvalSettings, {**given, **own}, api_key_env)
        if objects and settings.execution.uses_several_processes:
            raise UserError(
                "With workers, name agents and scorers as 'module:name', for other processes to load."
            )
        prepared = prepare_eval(settings, watch.record_message, objects)
        labels = read_labels_for_run(prepared, settings.judge.judge_labels)
        watch.names = prepared.request.display_names
        launched = await launch_run(prepared, [watch], watch.record_message)
        await store_labels(prepared, launched, labels, settings.judge.judge_labels, watch)
        report = prepared.write_report(launched)
        files = (report.cache_entry, *report.write_files())
        short = shortfalls_of(prepared, launched, report.summary)
        return Evaluation(launched.directory, report.summary, tuple(short), tuple(watch.notes), files)

    return work


def _task_work(
    task: Task, scorer: Any, agent: Any, given: Mapping[str, Any], api_key_env: str | None
) -> JobFunction[Evaluation]:
    if not all(hasattr(task, name) for name in ("spec", "scorers", "samples", "size", "open")):
        raise UserError(
            f"A dataset is the path of a file, a list of rows or a Task, not {type(task).__name__}."
        )
    if scorer or agent is not None:
        raise UserError("A Task has scorers and a solver of its own: leave scorer and agent out.")

    async def work(watch: ProgressPrinter) -> Evaluation:
        from benchwright.app.launch import launch_run
        from benchwright.app.user_task import prepare_task
        from benchwright.config import TaskSettings

        prepared = prepare_task(task, make_settings(TaskSettings, given, api_key_env), watch.record_message)
        watch.names = prepared.request.display_names
        launched = await launch_run(prepared, [watch], watch.record_message)
        summary = prepared.write_report(launched)
        short = shortfalls_of(prepared, launched, summary)
        return Evaluation(launched.directory, summary, tuple(short), tuple(watch.notes))

    return work


def _named(thing: Any, objects: dict[str, Any]) -> str:
    """Return the name by which the settings refer to an agent or scorer: `module:attribute`.

    If `thing` is an object and not a name, store the object in `objects` under the returned name.

    Raises:
        UserError: If another object has the same name.
    """
    if isinstance(thing, str):
        return thing
    definition = thing if hasattr(thing, "__qualname__") else type(thing)
    own_name = getattr(thing, "name", None)
    name = own_name if isinstance(own_name, str) and hasattr(thing, "score") else definition.__qualname__
    path = f"{definition.__module__}:{name}"
    if path in objects and objects[path] is not thing:
        raise UserError(f"Two things are named {path}: give them names of their own.")
    objects[path] = thing
    return path
