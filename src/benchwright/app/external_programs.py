"""Tasks of other evaluation programs (`run inspect:TASK`, `run lm-eval:TASK`).

The program runs the task in a separate process and reaches the model through Benchwright's relay. Its log is
imported as a run, with the timings of the relay.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns, time_ns
from typing import NamedTuple

from benchwright.agents.program_running import ProgramResult, run_program
from benchwright.app.endpoints import make_client
from benchwright.app.models import find_models
from benchwright.app.probe import probe_endpoints
from benchwright.config import BenchmarkSettings
from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.default_server import default_server
from benchwright.endpoint.relay import Grant, Relay, RelayedRequest, relay_environment
from benchwright.endpoint.request import RequestPurpose
from benchwright.errors import UserError
from benchwright.interop.foreign_results import UnreadableResults
from benchwright.interop.relayed_requests import RelayedRequests
from benchwright.interop.result_formats import find_result_paths, format_of
from benchwright.interop.run_import import store_run
from benchwright.interop.source_files import SourceFiles
from benchwright.records import Target
from benchwright.text import Say, make_safe


class ExternalProgram(NamedTuple):
    """An external evaluation program whose tasks can be run.

    `task_prefix`: what its task names begin with, before the colon. `command`: its executable.
    `package_extra`: the Benchwright extra that installs it. `api_key_variable`: the environment variable in
    which it expects its API key (here that of the relay, Benchwright's metering proxy). `make_arguments`:
    builds its command line from (task, access to the relay, settings, log folder).
    """

    task_prefix: str
    command: str
    package_extra: str
    api_key_variable: str
    make_arguments: Callable[[str, Grant, BenchmarkSettings, Path], list[str]]


def _inspect(task: str, grant: Grant, settings: BenchmarkSettings, folder: Path) -> list[str]:
    """Return the command-line arguments of `inspect eval` for a task.

    With these arguments, a failed sample does not end the run, and the log names the model request of each event.
    """
    numbers = {
        "--epochs": settings.selection.n,
        "--limit": settings.selection.max_samples,
        "--seed": settings.sampling.seed,
        "--temperature": settings.sampling.temperature,
        "--max-tokens": settings.sampling.max_tokens,
        "--max-connections": None
        if settings.execution.concurrency == "auto"
        else settings.execution.concurrency,
    }
    given = [part for name, value in numbers.items() if value is not None for part in (name, f"{value:g}")]
    options = [part for name, value in settings.catalog.option.items() for part in ("-T", f"{name}={value}")]
    return [
        *("eval", task, "--model", f"openai-api/relay/{grant.model}", "--model-base-url", grant.base_url),
        *("--log-dir", str(folder), "--log-format", "eval", "--log-model-api", "--no-fail-on-error"),
        *("--display", "none", *given, *options),
    ]


def _lm_eval(task: str, grant: Grant, settings: BenchmarkSettings, folder: Path) -> list[str]:
    """Return the command-line arguments of `lm_eval` for a task over the chat API.

    The task decides how often each sample is answered.
    """
    if settings.selection.n != 1:
        raise UserError(
            "Tasks of lm-evaluation-harness say themselves how often a sample is answered: leave --n out."
        )
    at_once = 1 if settings.execution.concurrency == "auto" else settings.execution.concurrency
    model = {
        "model": grant.model,
        "base_url": f"{grant.base_url}/chat/completions",
        "num_concurrent": at_once,
        "max_retries": 1,
        "tokenized_requests": False,
    }
    sampling = {"temperature": settings.sampling.temperature, "max_gen_toks": settings.sampling.max_tokens}
    known = {name: value for name, value in sampling.items() if value is not None}
    return [
        *("--model", "local-chat-completions", "--model_args", _pairs(model), "--tasks", task),
        *("--apply_chat_template", "--log_samples", "--output_path", str(folder)),
        *(
            ("--limit", str(settings.selection.max_samples))
            if settings.selection.max_samples is not None
            else ()
        ),
        *(("--seed", str(settings.sampling.seed)) if settings.sampling.seed is not None else ()),
        *(("--gen_kwargs", _pairs(known)) if known else ()),
        *(part for name, value in settings.catalog.option.items() for part in (f"--{name}", value)),
    ]


def _pairs(values: Mapping[str, object]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())


PROGRAM_BY_PREFIX = {
    one.task_prefix: one
    for one in (
        ExternalProgram("inspect", "inspect", "inspect", "RELAY_API_KEY", _inspect),
        ExternalProgram("lm-eval", "lm_eval", "lm-eval", "OPENAI_API_KEY", _lm_eval),
    )
}


def program_of_task(name: str) -> ExternalProgram | None:
    """Return the program to which the task belongs.

    The prefix of the task's name (`inspect:gsm8k`) identifies the program.

    Return None if no program has that prefix.
    """
    prefix, colon, _ = name.partition(":")
    return PROGRAM_BY_PREFIX.get(prefix) if colon else None


class ExternalTaskResult(NamedTuple):
    """Result of running another program's task.

    `run_directories`: the directories of the imported runs. `was_interrupted`: True after Ctrl-C. `failure`:
    the reason, other than Ctrl-C, why the task did not end well; None if there is none.
    """

    run_directories: list[Path]
    was_interrupted: bool
    failure: str | None


async def run_external_task(name: str, settings: BenchmarkSettings, say: Say) -> ExternalTaskResult:
    """Run a task of another program for each model, one after another. Return the imported runs.

    Raises:
        UserError: If the program is not installed, a model cannot be reached, or the program left no log.
    """
    program = program_of_task(name)
    assert program is not None
    task = name.partition(":")[2]
    path = _path_of(program)
    models = find_models(settings.endpoint, settings.sampling, settings.thinking, {}, say, default_server())
    if settings.execution.probe:
        await probe_endpoints(models.targets, models.access, say)
    runs: list[Path] = []
    for target in models.targets:
        access = models.access[target.slot]
        folder = _log_folder(settings.results.output_dir, program)
        ended, relayed = await _ask(program, path, task, target, access, settings, folder, say)
        kept = _keep(folder, relayed, target, say)
        runs += kept
        if ended is None:
            return ExternalTaskResult(runs, was_interrupted=True, failure=None)
        if ended.exit_status or not kept:
            why = _last_line(ended)
            if not kept:
                raise UserError(
                    f"{program.command} ended with {ended.exit_status} and no log: {make_safe(why)}"
                )
            return ExternalTaskResult(runs, False, f"{program.command} ended with {ended.exit_status}: {why}")
    return ExternalTaskResult(runs, was_interrupted=False, failure=None)


def _path_of(program: ExternalProgram) -> str:
    """Return the path of the program, beside this Python or on PATH."""
    beside = Path(sys.executable).with_name(program.command)
    found = str(beside) if beside.exists() else shutil.which(program.command)
    if found is None:
        raise UserError(
            f"{program.command} is not installed: pip install "
            f"'benchwright[{program.package_extra}]', or put it on PATH."
        )
    return found


def _log_folder(output_dir: Path, program: ExternalProgram) -> Path:
    """Create and return a new folder for the program's log."""
    folder = output_dir / program.task_prefix / f"{time_ns() // 1_000_000}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"{folder} cannot be made: {error.strerror}.") from None
    return folder


async def _ask(
    program: ExternalProgram,
    path: str,
    task: str,
    target: Target,
    access: Access,
    settings: BenchmarkSettings,
    folder: Path,
    say: Say,
) -> tuple[ProgramResult | None, RelayedRequests]:
    """Run the program on a task. Return the program's result, and its requests at the relay.

    The result is None if the program was interrupted.
    """
    origin, relayed = perf_counter_ns(), RelayedRequests(time_ns())
    client = make_client(target, access, settings, 10_000)
    if not isinstance(client, EndpointClient):
        raise UserError(
            f"The model {make_safe(target.model)!r} needs the address of an endpoint: --base-url."
        )

    def note(request: RelayedRequest) -> None:
        relayed.add(request)
        if relayed.count % REQUESTS_PER_MESSAGE == 0:
            say(f"{relayed.count:,} requests answered.")

    try:
        async with Relay(keeps_idle=True) as relay:
            grant = relay.open_grant(
                client, settings.sampling.param, lambda asked: RequestPurpose(origin), note
            )
            command = [path, *program.make_arguments(task, grant, settings, folder)]
            relayed_to = relay_environment(grant.base_url, grant.token, grant.model)
            environment = {**os.environ, **relayed_to, program.api_key_variable: grant.token}
            try:
                ended: ProgramResult | None = await run_program(command, b"", environment)
            except asyncio.CancelledError:
                ended = None
            await grant.close()
    finally:
        client.close()
    return ended, relayed


REQUESTS_PER_MESSAGE = 100
"""Number of requests between two progress messages."""


def _keep(folder: Path, relayed: RelayedRequests, target: Target, say: Say) -> list[Path]:
    """Import the logs in a folder into the run store, with the relay's timings. Return the run directories."""
    kept = []
    for path in find_result_paths(folder) if any(folder.iterdir()) else ():
        found = format_of(path)
        assert found is not None
        sources = SourceFiles(path)
        for run in found.read(path):
            if isinstance(run, UnreadableResults):
                say(str(run))
            else:
                kept.append(store_run(relayed.replace_requests_of_run(run, target), sources).directory)
    if kept and relayed.joined < relayed.count:
        say(
            f"{relayed.count - relayed.joined:,} of {relayed.count:,} requests belong to no sample of the log."
        )
    return kept


def _last_line(ended: ProgramResult) -> str:
    said: Sequence[str] = [*ended.output.decode(errors="replace").splitlines(), *ended.stderr.splitlines()]
    return next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
