"""Options that several commands share, and how they are read."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from benchwright.suggest import did_you_mean
from benchwright.text import plain_lines

Function = TypeVar("Function", bound=Callable[..., Any])
Model = TypeVar("Model")


class _ModelName(click.types.StringParamType):
    name = "model"
    envvar_list_splitter = "\n"
    """A name may have blanks: BENCHWRIGHT_MODEL has one in each line."""


def model_options(function: Function) -> Function:
    """One model or several; `take_models` reads them."""
    options = [
        click.option("--model", multiple=True, type=_ModelName(), metavar="MODEL",
                     help="Name of the model, as the endpoint lists it. Repeat it to compare several."),
        click.option("--models", "models_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                     help="TOML file of models: a table [[models]] for each, with model, name, base_url, "
                     "api_key_env and settings of its own."),
    ]  # fmt: skip
    return _apply(options, function)


def take_models(options: dict[str, Any]) -> None:
    """Puts `model`, and `models` where there are several or a file of them, in the place of what was typed.

    Raises:
        UserError: the file of models cannot be read.
    """
    names, file = tuple(dict.fromkeys(options.pop("model"))), options.pop("models_file")
    if file is None:
        options["model"] = names[0] if names else None
        options["models"] = names if len(names) > 1 else ()
        return
    from benchwright.app.models import read_models

    options["models"] = (*names, *read_models(file))


def endpoint_options(function: Function) -> Function:
    """The models, where they are, and what is sent with every request."""
    options = [
        model_options,
        click.option(
            "--base-url",
            metavar="URL",
            help="Base URL of the endpoint, such as http://localhost:8000/v1 "
            "(default: that address with run and load, else $OPENAI_BASE_URL or OpenAI).",
        ),
        click.option(
            "--api-key",
            metavar="KEY",
            help="API key; EMPTY sends none (default: $BENCHWRIGHT_API_KEY, then $OPENAI_API_KEY).",
        ),
        click.option(
            "--temperature",
            type=float,
            help="Sampling temperature (default: the benchmark's, else not sent).",
        ),
        click.option(
            "--max-tokens",
            type=int,
            help="Maximum tokens per answer (default: the benchmark's, else not sent).",
        ),
        click.option(
            "--seed",
            type=int,
            help="Sampling seed, the base for further repeats (default: 42 with run, else not sent).",
        ),
        click.option(
            "--param",
            multiple=True,
            metavar="KEY=JSON",
            help="Any other field of the request body, such as --param top_p=0.9. Repeatable.",
        ),
    ]
    return _apply(options, function)


def benchmark_options(function: Function) -> Function:
    """What is asked of a benchmark: which samples, with which settings, and where it is defined."""
    options = [
        click.option("--where", multiple=True, metavar="KEY=VALUE",
                     help="Use only samples with this metadata. Repeatable."),
        click.option("--option", multiple=True, metavar="KEY=VALUE",
                     help="Set an option of the benchmark. Repeatable."),
        click.option("--plugin", multiple=True, type=click.Path(path_type=Path),
                     help="Python file that defines benchmarks. Repeatable."),
    ]  # fmt: skip
    return _apply(options, function)


def data_option(function: Function) -> Function:
    """Where the datasets of benchmarks are."""
    return click.option(
        "--data-dir", type=click.Path(path_type=Path), default="data", show_default=True,
        help="Directory of datasets.",
    )(function)  # fmt: skip


class _NumberOrAuto(click.ParamType[int | str]):
    name = "number or auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == "auto":
            return "auto"
        try:
            return int(value)
        except ValueError:
            hint = did_you_mean(str(value), ["auto"])
            self.fail(f"{value!r} is neither a number nor 'auto'.{hint}", param, ctx)


def concurrency_option(default: int) -> Callable[[Function], Function]:
    """How many trials are in flight at once, under all its names."""
    return click.option(
        "--batch-size", "--batch_size", "--concurrency", "concurrency",
        type=_NumberOrAuto(), metavar="N|auto", default=default, show_default=True,
        help="Trials in flight at once; auto finds the number during the run.",
    )  # fmt: skip


def name_option(function: Function) -> Function:
    """What the run is called."""
    return click.option(
        "--name",
        metavar="TEXT",
        help="Name of the run in lists and reports (default: data, agent and model).",
    )(function)


def run_options(function: Function) -> Function:
    """How a run is carried out."""
    options = [
        name_option,
        click.option("--workers", type=int,
                     help="Number of processes that share the trials in flight (default: 1; with Ray, one per CPU)."),
        click.option("--executor", type=click.Choice(["local", "ray"]), default="local", show_default=True,
                     help="Where trials run: processes on this machine or Ray actors."),
        click.option("--ray-address", help="Ray cluster, HOST:PORT (default: start Ray on this machine)."),
        click.option("--no-stream", "stream", flag_value=False, default=True, type=bool,
                     help="Do not stream answers; TTFT is then not measured."),
        click.option("--retries", type=int, default=5, show_default=True,
                     help="Retries per request after rate limits and temporary errors."),
        click.option("--max-wait", type=float, default=600.0, show_default=True,
                     help="Maximum seconds that one trial waits for rate limits."),
        click.option("--trial-tokens", type=int, help="Maximum tokens of one trial (default: no limit)."),
        click.option("--trial-seconds", type=float, help="Maximum seconds of one trial (default: no limit)."),
        click.option("--budget-tokens", type=int, help="Stop the run after this many tokens (default: no limit)."),
        click.option("--budget-seconds", type=float, help="Stop the run after this many seconds (default: no limit)."),
        click.option("--fresh", is_flag=True, help="Start a new run instead of resuming or showing an earlier one."),
        click.option("--dry-run", is_flag=True, help="Show what would run, without sending any request."),
        click.option("--fsync", type=click.Choice(["second", "always"]), default="second", show_default=True,
                     help="Flush the journal to disk every second or on every write."),
    ]  # fmt: skip
    return failure_options(request_limit_options(_apply(options, function)))


def request_limit_options(function: Function) -> Function:
    """What one request may take."""
    options = [
        click.option("--timeout", type=float, default=300.0, show_default=True,
                     help="Seconds to wait for the answer to start."),
        click.option("--request-seconds", type=float, default=3600.0, show_default=True,
                     help="Maximum seconds of one request, with its retries."),
        click.option("--answer-mb", type=int, default=128, show_default=True,
                     help="Maximum size of one answer as it is received, in MiB."),
    ]  # fmt: skip
    return _apply(options, function)


def failure_options(function: Function) -> Function:
    """How failures are met: before the first trial, and at the end."""
    options = [
        click.option("--max-failures", metavar="N|PCT%",
                     help="Exit with 4 if more trials fail than this number or share, such as 5 or 2% "
                     "(default: no limit)."),
        click.option("--no-probe", "probe", flag_value=False, default=True, type=bool,
                     help="Do not ask endpoints for their models before the first trial."),
    ]  # fmt: skip
    return _apply(options, function)


def output_options(function: Function) -> Function:
    """What is printed."""
    options = [
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print one JSON object to stdout, everything else to stderr.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Hide progress."),
        click.option("--debug", is_flag=True, help="Log details and show tracebacks."),
    ]
    return _apply(options, function)


def config_option(section: str) -> Callable[[Function], Function]:
    """`--config FILE.toml`: defaults for the options below, from the file's top level and from its section."""

    def read(context: click.Context, _: click.Parameter, path: Path | None) -> None:
        if path is not None:
            context.default_map = {**(context.default_map or {}), **_read_config(path, section, context)}

    return click.option(
        "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), is_eager=True,
        expose_value=False, callback=read,
        help=f"Read options from the top level and the [{section}] section of a TOML file.",
    )  # fmt: skip


def _read_config(path: Path, section: str, context: click.Context) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} is not a TOML file: {error}") from None
    shared = {name: value for name, value in content.items() if not isinstance(value, dict)}
    return option_values(context.command, {**shared, **content.get(section, {})}, str(path))


def option_values(command: click.Command, written: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Options of a command as written in TOML, by the names of its parameters.

    Raises:
        click.UsageError: the command has no such option; names the place.
    """
    by_name = option_names(command)
    repeatable = {option.name for option in command.params if getattr(option, "multiple", False)}
    values: dict[str, Any] = {}
    for name, value in written.items():
        parameter = by_name.get(name.replace("-", "_"))
        if parameter is None:
            hint = did_you_mean(name, by_name) or " See --help."
            raise click.UsageError(f"{place}: unknown option {name!r}.{hint}")
        if isinstance(value, dict):
            value = tuple(f"{key}={_as_text(item)}" for key, item in value.items())
        elif isinstance(value, str) and parameter in repeatable:
            value = (value,)
        values[parameter] = value
    return values


def option_names(command: click.Command) -> dict[str, str]:
    """The names of a command's parameters by all their spellings, with underscores."""
    names: dict[str, str] = {}
    for parameter in command.params:
        if parameter.name is not None:
            for spelling in (parameter.name, *parameter.opts):
                names[spelling.lstrip("-").replace("-", "_")] = parameter.name
    return names


def _as_text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)


def pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """KEY=VALUE arguments as a dictionary."""
    result = {}
    for value in values:
        key, separator, rest = value.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{option} takes KEY=VALUE, got {value!r}.")
        result[key] = rest
    return result


def json_pairs(values: tuple[str, ...], option: str) -> dict[str, Any]:
    """KEY=JSON arguments as a dictionary; what is no JSON is taken as text."""
    import json

    result: dict[str, Any] = {}
    for key, text in pairs(values, option).items():
        try:
            result[key] = json.loads(text)
        except ValueError:
            result[key] = text
    return result


def set_up_logging(*, debug: bool) -> None:
    """Log lines to stderr, secrets replaced."""
    import logging

    from benchwright.secrets import SecretFilter

    class ToStderr(logging.StreamHandler[TextIO]):
        """Writes to what is stderr at the time; while there is a live display, that is above it."""

        def format(self, record: logging.LogRecord) -> str:
            return plain_lines(super().format(record))

        def emit(self, record: logging.LogRecord) -> None:
            self.stream = sys.stderr
            super().emit(record)

    handler = ToStderr()
    handler.addFilter(SecretFilter())
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING,
        handlers=[handler],
        format="%(levelname)s %(name)s: %(message)s",
    )


def make_settings(kind: type[Model], options: dict[str, Any]) -> Model:
    """The settings that options stand for.

    Raises:
        click.UsageError: a value is not as it should be; names the option.
    """
    from pydantic import ValidationError

    try:
        return kind(**options)
    except ValidationError as error:
        first = error.errors()[0]
        name = "--" + str(first["loc"][0]).replace("_", "-")
        raise click.UsageError(f"{name}: {first['msg']}.") from None


def _apply(options: Sequence[Callable[[Any], Any]], function: Function) -> Function:
    for option in reversed(options):
        function = option(function)
    return function
