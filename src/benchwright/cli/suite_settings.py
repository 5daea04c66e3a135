"""Makes the settings of a suite's parts. The values in the suite's file are parsed like options of commands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import click

from benchwright.app.shared_options import BenchmarkWithOptions, settings_of_each_benchmark
from benchwright.app.suite_session import SuitePart
from benchwright.app.suites import EntryKind, Suite, SuiteEntry
from benchwright.cli.config_file import option_names, option_values
from benchwright.cli.option_settings import benchmark_settings, eval_settings, pack_settings
from benchwright.cli.option_values import merge_model_options, parse_pairs
from benchwright.cli.suite_judge import suite_judge_options, with_judge_as_option, without_unused_judge
from benchwright.cli.unused_options import command_line_parameters, drop_unused_judge_options, option_spelling
from benchwright.config import JUDGE_SETTING_NAMES, BenchmarkSettings, ModelEntry, Settings
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean
from benchwright.text import make_safe

NON_SETTING_PARAMETERS = (
    "benchmarks",
    "packs",
    "suite",
    "as_json",
    "quiet",
    "csv_file",
    "markdown",
    "prices",
    "speed",
    "judge_labels",
)
"""Names of command parameters that are not settings of a run."""


SUITE_PARAMETERS = (
    "suite",
    "model",
    "models_file",
    "prices",
    "speed",
    "as_json",
    "quiet",
    "debug",
    "env_file",
)
"""Names of parameters of the command `run` that apply to a suite as a whole, not to its parts."""


class _Command(NamedTuple):
    path: str
    settings: Callable[[dict[str, Any]], Settings]
    takes_name: bool
    unwanted: Sequence[str] = NON_SETTING_PARAMETERS

    @property
    def command(self) -> click.Command:
        """The click command, found by its path (such as `pack run`) in the current command tree.

        It is not imported, because the modules of `run` and `eval` import this module.
        """
        context = click.get_current_context()
        command = context.find_root().command
        for name in self.path.split():
            found = command.get_command(context, name) if isinstance(command, click.Group) else None
            if found is None:
                raise LookupError(f"There is no command {self.path}.")
            command = found
        return command


COMMANDS_BY_KIND: Mapping[EntryKind, _Command] = {
    "benchmark": _Command("run", benchmark_settings, True, (*NON_SETTING_PARAMETERS, "debug")),
    "pack": _Command("pack run", pack_settings, True, (*NON_SETTING_PARAMETERS, "debug")),
    "eval": _Command("eval", eval_settings, False),
}


def suite_parts(suite: Suite) -> list[SuitePart]:
    """Return the parts of a suite with their settings.

    Options on the command line override the suite's file, which overrides the defaults of options.

    Raises:
        UserError: If an option is unknown or has an invalid value, or no models are named.
    """
    context = click.get_current_context()
    given = {name: context.params[name] for name in command_line_parameters(context)}
    _check_some_part_takes(given.keys(), suite, context)
    models = _models(suite, context, given)
    for name in suite.defaults:
        _check_known(name, suite)
    parts = [
        SuitePart(entry, settings, models)
        for entry in suite.entries
        for settings in _settings(suite, entry, given, context)
    ]
    named = {*given, *(name.replace("-", "_") for name in suite.defaults)}
    return with_applicable_options(parts, suite_judge_options(parts, named, suite))


def with_applicable_options(parts: Sequence[SuitePart], of_others: Collection[str] = ()) -> list[SuitePart]:
    """Return the parts of a suite. Options given for all benchmarks are left out of a part whose benchmark lacks them.

    `of_others`: names of options that need not exist in any benchmark.

    Raises:
        UserError: If no benchmark has an option that is not in `of_others`. The message suggests the right name.
    """
    sharers = {
        place: BenchmarkWithOptions(
            part.entry.name, part.settings, parse_pairs(_own_options(part.entry), "option")
        )
        for place, part in enumerate(parts)
        if isinstance(part.settings, BenchmarkSettings)
    }
    settings = dict(zip(sharers, settings_of_each_benchmark(list(sharers.values()), of_others), strict=True))
    return [part._replace(settings=settings.get(place, part.settings)) for place, part in enumerate(parts)]


def _own_options(entry: SuiteEntry) -> tuple[str, ...]:
    """Return the benchmark options (`--option`) that an entry of a suite sets for itself, as KEY=VALUE."""
    written = {
        name: value
        for name, value in entry.options.items()
        if name.replace("-", "_") in ("option", *JUDGE_SETTING_NAMES)
    }
    values = option_values(COMMANDS_BY_KIND["benchmark"].command, written, entry.name)
    own: tuple[str, ...] = with_judge_as_option(values).get("option", ())
    return own


def _models(suite: Suite, context: click.Context, given: Mapping[str, Any]) -> tuple[ModelEntry, ...]:
    if suite.models and not given.keys() & {"model", "models_file"}:
        return suite.models
    named = {name: context.params[name] for name in ("model", "models_file")}
    merge_model_options(named)
    tried = Settings(**named).endpoint.models_under_test
    if not tried:
        raise UserError(
            f"The suite {make_safe(suite.given_name)} names no models: use --model, or write a table "
            "[[models]] into its file."
        )
    return tried


def _check_some_part_takes(given: Set[str], suite: Suite, context: click.Context) -> None:
    """Check that every typed option applies to at least one kind of part in the suite.

    Raises:
        UserError: If an option applies to no part.
    """
    kinds = {entry.kind for entry in suite.entries}
    taken = {spelling for kind in kinds for spelling in option_names(COMMANDS_BY_KIND[kind].command)}
    for name in sorted(given & option_names(context.command).keys() - taken - {*SUITE_PARAMETERS}):
        what = " and ".join(f"{kind}s" for kind in sorted(kinds))
        raise UserError(
            f"{option_spelling(context, name)} does nothing in the suite {make_safe(suite.name)}, as {what} "
            "have no such option."
            f"{_instead(context.params[name], taken) if name == 'option' else ''}"
        )


def _instead(options: Sequence[str], taken: Collection[str]) -> str:
    """Return advice to write `--KEY VALUE` instead of `--option KEY=VALUE`, if the suite's parts have such an option.

    Return an empty text otherwise.
    """
    for key, value in parse_pairs(tuple(options), "--option").items():
        if key in taken and key in option_names(COMMANDS_BY_KIND["benchmark"].command):
            return f" Write --{key.replace('_', '-')} {make_safe(value)}."
    return ""


def _check_known(name: str, suite: Suite) -> None:
    known = {spelling for one in COMMANDS_BY_KIND.values() for spelling in option_names(one.command)}
    if name.replace("-", "_") not in known:
        raise UserError(
            f"{suite.path}, [defaults]: unknown option {make_safe(name)!r}.{did_you_mean(name, known)}"
        )


def _settings(
    suite: Suite, entry: SuiteEntry, given: Mapping[str, Any], context: click.Context
) -> Iterator[Settings]:
    """Yield the settings of a suite's entry: one for each of the entry's agents.

    If the entry has no agents, yield one.
    """
    one = COMMANDS_BY_KIND[entry.kind]
    spellings = option_names(one.command)
    place = f"{suite.path}, {make_safe(entry.name)}"
    try:
        layers = [
            option_values(one.command, written, place)
            for written in (dict(_fitting(suite.defaults, spellings)), entry.options)
        ]
        over = {spellings[name]: value for name, value in given.items() if name in spellings}
        own = layers[1].keys()
        if entry.kind == "benchmark":
            layers, over = [with_judge_as_option(layer) for layer in layers], with_judge_as_option(over)
        arguments = ["--", entry.name] if one.takes_name else []
        made = one.command.make_context(
            context.info_name, arguments, parent=context, default_map=layers[0] | layers[1]
        )
        options = {name: value for name, value in made.params.items() if name not in one.unwanted}
        options |= {name: value for name, value in over.items() if name in options}
        if entry.kind == "benchmark":  # later values override earlier ones of the same name
            options["option"] = (
                *layers[0].get("option", ()),
                *made.params["option"],
                *over.get("option", ()),
            )
            drop_unused_judge_options(options, [entry.name], given=())
        elif entry.kind == "eval":
            options = without_unused_judge(options, own)
        options |= {"model": (), "models_file": None}
        agents = dict.fromkeys(options.get("agent", ()))
        each = [one.settings({**options, "agent": (agent,)}) for agent in agents] or [one.settings(options)]
    except click.UsageError as error:
        raise UserError(f"{place}: {error.format_message()}") from None
    for settings in each:
        check_allowed_in_suite(settings, place)
        yield settings.model_copy(update={"suite": suite.name})


def check_allowed_in_suite(settings: Settings, place: str) -> None:
    """Refuse settings that the runs of a suite cannot have.

    Raises:
        UserError: If a baseline or a question to decide (`--until`) is set. The message names the `place`.
    """
    if settings.setting_value("baseline_model") is not None:
        raise UserError(f"{place}: a suite has no baseline_model: put it among the models.")
    if settings.deciding.until is not None:
        raise UserError(f"{place}: a suite asks all samples; run what is to be decided (--until) by itself.")


def _fitting(defaults: Mapping[str, Any], spellings: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield the (name, value) pairs among a suite's defaults for which a command has an option.

    `spellings`: the command's options.
    """
    yield from ((name, value) for name, value in defaults.items() if name.replace("-", "_") in spellings)
