"""`run_benchmark`: `benchwright run` from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from benchwright.api.arguments import (
    BenchmarkArguments,
    ModelArgument,
    endpoint_fields_of_models,
    make_settings,
)
from benchwright.api.jobs import JobFunction, run_job, run_job_async
from benchwright.api.results import BenchmarkRun, shortfalls_of

if TYPE_CHECKING:
    from benchwright.api.run_progress import ProgressPrinter


def run_benchmark(
    benchmark: str,
    model: ModelArgument | Sequence[ModelArgument],
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_env: str | None = None,
    progress: bool = False,
    **arguments: Unpack[BenchmarkArguments],
) -> BenchmarkRun:
    """Run a benchmark against a model, wait for the end, and return the finished run.

    The same call resumes an interrupted run. A finished one is run again. It may be called while an event
    loop runs.

    Args:
        benchmark: Name, with an optional variant (`"mmlu:5shot"`), as listed by `benchwright list`, or a
            benchmark of your own.
        model: Name of the model as the server lists it, or several names or dictionaries as for `evaluate`.
        base_url: Address of the endpoint, by default $OPENAI_BASE_URL, else http://localhost:8000/v1.
        api_key: API key, which is stored nowhere. By default $BENCHWRIGHT_API_KEY or $OPENAI_API_KEY.
        api_key_env: Name of the environment variable that holds the API key.
        progress: True shows a progress line on stderr.
        arguments: Options of `benchwright run`, with underscores.

    Raises:
        UserError: If something is missing or invalid, or the endpoint cannot be reached. The message says
            what to do.
        RunUnfinished: If a budget or an endpoint error stopped the run. Finished trials are kept.
        JournalError: If the run cannot be written.
        KeyboardInterrupt: If Ctrl-C is pressed. Finished trials are kept, and the same call resumes the run.
    """
    given = {**endpoint_fields_of_models(model), "base_url": base_url, "api_key": api_key, **arguments}
    return run_job(_work(benchmark, given, api_key_env), progress=progress)


async def run_benchmark_async(
    benchmark: str,
    model: ModelArgument | Sequence[ModelArgument],
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_env: str | None = None,
    progress: bool = False,
    **arguments: Unpack[BenchmarkArguments],
) -> BenchmarkRun:
    """Run a benchmark and return the finished run, as `run_benchmark` does, without blocking the event loop.

    Cancelling the task has the effect of Ctrl-C in `run_benchmark`.
    """
    given = {**endpoint_fields_of_models(model), "base_url": base_url, "api_key": api_key, **arguments}
    return await run_job_async(_work(benchmark, given, api_key_env), progress=progress)


def _work(benchmark: str, given: Mapping[str, Any], api_key_env: str | None) -> JobFunction[BenchmarkRun]:
    async def work(watch: ProgressPrinter) -> BenchmarkRun:
        from benchwright.api.labelling import store_labels
        from benchwright.app.benchmarks import prepare_benchmark
        from benchwright.app.judging.labelling import read_labels_for_run
        from benchwright.app.launch import launch_run
        from benchwright.config import BenchmarkSettings

        settings = make_settings(BenchmarkSettings, given, api_key_env)
        prepared = prepare_benchmark(benchmark, settings, watch.record_message)
        labels = read_labels_for_run(prepared, settings.judge.judge_labels)
        watch.names = prepared.request.display_names
        launched = await launch_run(prepared, [watch], watch.record_message)
        await store_labels(prepared, launched, labels, settings.judge.judge_labels, watch)
        reports = prepared.write_report(launched)
        summary = reports[0].summary
        short = shortfalls_of(prepared, launched, summary)
        return BenchmarkRun(launched.directory, summary, tuple(reports), tuple(short), tuple(watch.notes))

    return work
