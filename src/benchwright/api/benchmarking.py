"""`run_benchmark`: `benchwright run` from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from benchwright.api.arguments import BenchmarkArguments, OneModel, models_of, settings_of
from benchwright.api.jobs import Work, finish, finish_async
from benchwright.api.results import BenchmarkRun, checked

if TYPE_CHECKING:
    from benchwright.api.watching import Watch


def run_benchmark(
    benchmark: str,
    model: OneModel | Sequence[OneModel],
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_env: str | None = None,
    progress: bool = False,
    **arguments: Unpack[BenchmarkArguments],
) -> BenchmarkRun:
    """Runs a benchmark against a model; waits for the end.

    The same call resumes an interrupted run; a finished one is made anew. It may be called where an event loop runs.

    Args:
        benchmark: its name, with a variant (`"mmlu:5shot"`), as `benchwright list` shows it; or one of yours.
        model: its name, as the server lists it; several names or dictionaries as for `evaluate`.
        base_url: the address of the endpoint; else http://localhost:8000/v1.
        api_key: a key, which is kept nowhere; else that of $BENCHWRIGHT_API_KEY or $OPENAI_API_KEY.
        api_key_env: the name of the variable that holds the key.
        progress: whether a line on stderr tells how it goes.
        arguments: the options of `benchwright run`, with underscores.

    Raises:
        UserError: something is missing or not as it should be, or the endpoint cannot be reached; says what to do.
        RunUnfinished: a budget or an error of the endpoint stopped the run; what is done is kept.
        JournalError: the run cannot be written.
        KeyboardInterrupt: Ctrl-C; what is done is kept, and the same call goes on from there.
    """
    given = {**models_of(model), "base_url": base_url, "api_key": api_key, **arguments}
    return finish(_work(benchmark, given, api_key_env), progress=progress)


async def run_benchmark_async(
    benchmark: str,
    model: OneModel | Sequence[OneModel],
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_env: str | None = None,
    progress: bool = False,
    **arguments: Unpack[BenchmarkArguments],
) -> BenchmarkRun:
    """`run_benchmark`, awaited: the caller's event loop goes on meanwhile. To cancel it is as Ctrl-C there."""
    given = {**models_of(model), "base_url": base_url, "api_key": api_key, **arguments}
    return await finish_async(_work(benchmark, given, api_key_env), progress=progress)


def _work(benchmark: str, given: Mapping[str, Any], api_key_env: str | None) -> Work[BenchmarkRun]:
    async def work(watch: Watch) -> BenchmarkRun:
        from benchwright.api.labelling import take_labels
        from benchwright.app.benchmarks import prepare_benchmark
        from benchwright.app.judging.labelling import labels_for
        from benchwright.app.launch import launch
        from benchwright.config import BenchmarkSettings

        settings = settings_of(BenchmarkSettings, given, api_key_env)
        prepared = prepare_benchmark(benchmark, settings, watch.say)
        labels = labels_for(prepared, settings.judge_labels)
        watch.names = prepared.request.names
        launched = await launch(prepared, [watch], watch.say)
        await take_labels(prepared, launched, labels, settings.judge_labels, watch)
        reports = prepared.report(launched)
        summary = reports[0].summary
        short = checked(prepared, launched, summary)
        return BenchmarkRun(launched.directory, summary, tuple(reports), tuple(short), tuple(watch.notes))

    return work
