"""Common form of all commands' help: examples first, options under headings, rare options only in `--help-all`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click

DecoratedFunction = TypeVar("DecoratedFunction", bound=Callable[..., Any])

PROGRAM_NAME = "benchwright"
"""Program name as written in the examples of the help. The help shows the name that the user typed instead."""

LAST_HEADINGS = ("Output", "Other")
"""Headings of the help that come after all other headings."""

MAX_NAME_WIDTH = 30
"""Maximum width of option names in the help, in columns.

The text of an option with a longer name begins on the next line.
"""

FULL_HELP_KEY = "benchwright.cli.command_help.whole"
"""Key in click's context. Its value is True if the help is to show all options."""


class Option(click.Option):
    """An option with a heading in the help. Its default is shown at the end of its help text.

    `rare`: True if only `--help-all` shows the option. `old`: deprecated spellings, which are accepted but not shown.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        heading: str = "Options",
        rare: bool = False,
        old: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        super().__init__(names, **settings)
        self.heading, self.rare, self.old = heading, rare, tuple(old)
        self.help = _with_default(self.help or "", settings.get("default"), required=self.required)

    @property
    def spellings(self) -> tuple[str, ...]:
        """All accepted spellings of the option, except its negative form (`--no-…`)."""
        return (*self.opts, *self.old)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Register the option with the parser, including its old spellings."""
        shown, self.opts = self.opts, list(self.spellings)
        super().add_to_parser(parser, ctx)
        self.opts = shown

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option's names and help text, without the notes (such as on the default) that click would add.

        None if the option is hidden.
        """
        record = super().get_help_record(ctx)
        return record and (record[0], self.help or "")


def _with_default(text: str, default: Any, *, required: bool) -> str:
    if required:
        return f"{text} Required."
    if default is None or isinstance(default, bool) or default in ("", ()):
        return text
    shown = f"{default:g}" if isinstance(default, float) else str(default)
    return f"{text.removesuffix('.')} (default: {shown})."


def option(*names: str, **settings: Any) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return a decorator that adds an `Option` to a command, as `click.option` does."""
    return click.option(*names, cls=Option, **settings)


def combine_options(*options: Callable[[Any], Any]) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return one decorator that adds several options. The first option comes first in the help."""

    def decorate(function: DecoratedFunction) -> DecoratedFunction:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate


def _log(context: click.Context, _: click.Parameter, debug: bool) -> bool:
    if not context.resilient_parsing:
        from benchwright.cli.logs import set_up_logging

        set_up_logging(debug=debug)
    return debug


def debug_option(*, expose_value: bool = True) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return the option `--debug`, which every command has.

    `expose_value`: True to pass the option's value to the command.
    """
    return option("--debug", is_flag=True, heading="Other", rare=True, callback=_log, expose_value=expose_value,
                  help="Log details to stderr, and show tracebacks.")  # fmt: skip


def _show_all(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.meta[FULL_HELP_KEY] = True
        from benchwright.cli.output import echo

        echo(context.get_help())
        context.exit()


def _add_common(command: click.Command) -> None:
    """Add the options that every command has to a command. One of them is `--debug`."""
    command.params.append(
        Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, heading="Other",
               rare=True, help="Show all options and examples, and exit.")
    )  # fmt: skip
    taken = {parameter.name for parameter in command.params}
    if "env_file" not in taken:
        from benchwright.cli.env_file import EnvFileOption

        command.params.append(EnvFileOption())
    if "debug" not in taken:
        debug_option(expose_value=False)(command)


class Command(click.Command):
    """A command whose help begins with examples. `more`: examples and notes for `--help-all`."""

    def __init__(self, *arguments: Any, more: str = "", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.more = more
        _add_common(self)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the parts of the help: usage, text, examples and options."""
        _write_help(self, ctx, formatter)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help text. Its examples have the program name that the user typed."""
        return _as_started(super().get_help(ctx), ctx)


class Group(click.Group):
    """A command group with examples in its help. `old`: mapping from former command names to current ones."""

    command_class = Command
    group_class = type

    def __init__(
        self, *arguments: Any, more: str = "", old: Mapping[str, str] | None = None, **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self.more = more
        self.old = old or {}
        _add_common(self)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its current or former name. None if there is none of that name."""
        return super().get_command(ctx, self.old.get(cmd_name, cmd_name))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the parts of the help: usage, text, examples, commands and options."""
        _write_help(self, ctx, formatter)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help text. Its examples have the program name that the user typed."""
        return _as_started(super().get_help(ctx), ctx)


class LazyGroup(Group):
    """A command group that imports a command only when that command is called, so that the group's help is quick.

    `addresses`: the `module:attribute` and the help line of each command, by name. `headings`: the command names under
    each heading of the help.
    """

    def __init__(
        self,
        *arguments: Any,
        addresses: Mapping[str, tuple[str, str]],
        headings: Mapping[str, Sequence[str]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.addresses = addresses
        self.headings = headings or {"Commands": list(addresses)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(self.addresses)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command. None if there is none of that name."""
        address = self.addresses.get(self.old.get(cmd_name, cmd_name))
        if address is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = address[0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands in the help, without importing any of them."""
        widest = max(map(len, self.addresses))
        for heading, names in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), self.addresses[name][1]) for name in names])


def _as_started(text: str, ctx: click.Context) -> str:
    """Return a help text, in whose examples the program has the name that the user typed (such as `osmosis`)."""
    return text.replace(f"{PROGRAM_NAME} ", f"{ctx.find_root().info_name or PROGRAM_NAME} ")


def _write_help(command: Command | Group, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    whole = bool(ctx.meta.get(FULL_HELP_KEY))
    command.format_usage(ctx, formatter)
    command.format_help_text(ctx, formatter)
    for text in (command.epilog, command.more if whole else ""):
        if text:
            formatter.write_paragraph()
            formatter.write_text(text)
    if isinstance(command, click.Group):
        command.format_commands(ctx, formatter)
    hidden = _write_options(command, ctx, formatter, whole=whole)
    if not whole:
        formatter.write_paragraph()
        formatter.write_text(f"more: --help-all{_left_out(hidden, bool(command.more))}")


def _write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter, *, whole: bool
) -> int:
    """Write a command's options under their headings. Return the number of options that were left out.

    `whole`: True to include rare options.
    """
    sections: dict[str, list[tuple[str, str]]] = {}
    left_out = 0
    for each, name, text in _records(command, ctx):
        if not whole and _is_rare(each):
            left_out += 1
            continue
        old = each.old if isinstance(each, Option) else ()
        also = f" Also: {', '.join(old)}." if whole and old else ""
        sections.setdefault(each.heading if isinstance(each, Option) else "Other", []).append(
            (name, text + also)
        )
    widest = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
    for heading in sorted(
        sections, key=lambda name: LAST_HEADINGS.index(name) if name in LAST_HEADINGS else -1
    ):
        with formatter.section(heading):
            rows = [(name.ljust(min(widest, MAX_NAME_WIDTH)), text) for name, text in sections[heading]]
            formatter.write_dl(rows, col_max=MAX_NAME_WIDTH)
    return left_out


def _records(command: click.Command, ctx: click.Context) -> Iterator[tuple[click.Parameter, str, str]]:
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            yield parameter, *record


def _is_rare(parameter: click.Parameter) -> bool:
    """Return True if only `--help-all` shows the option. That includes click's own options, which every command has."""
    return parameter.rare if isinstance(parameter, Option) else True


def _left_out(options: int, examples: bool) -> str:
    return f" ({options} more options{' and more examples' if examples else ''})"
