"""One grammar of commands: an option is the same wherever it is, and its help says all of it on little room."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from benchwright.cli.command_help import FULL_HELP_KEY, LazyGroup
from benchwright.cli.main import cli

DOCUMENT = Path("docs/commands.md")
LINES = 48
"""Of `--help`: one and a half screens."""

UNITS = {"seconds": "SECONDS", "timeout": "SECONDS", "wait": "SECONDS", "duration": "SECONDS",
         "tokens": "TOKENS", "mb": "MIB", "memory": "MIB"}  # fmt: skip
"""The unit of a number by the last word of its option's name."""


class Found(NamedTuple):
    """A command with the words that call it."""

    words: tuple[str, ...]
    command: click.Command
    context: click.Context

    def options(self) -> list[click.Option]:
        return [each for each in self.command.params if isinstance(each, click.Option) and not each.hidden]

    def help(self, *, whole: bool = False) -> str:
        context = click.Context(
            self.command,
            info_name=self.context.info_name,
            parent=self.context.parent,
            terminal_width=80,
            help_option_names=["-h", "--help"],
        )
        context.meta[FULL_HELP_KEY] = whole
        return self.command.get_help(context)


def every_command(
    command: click.Command = cli, words: tuple[str, ...] = (), parent: click.Context | None = None
) -> Iterator[Found]:
    context = click.Context(command, info_name=words[-1] if words else "benchwright", parent=parent)
    yield Found(words, command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            if not below.hidden:
                yield from every_command(below, (*words, name), context)


ALL = list(every_command())
each_command = pytest.mark.parametrize("found", ALL, ids=lambda found: " ".join(found.words) or "benchwright")


def name_of(option: click.Option) -> str:
    return max(option.opts, key=len)


@each_command
def test_help_has_usage_and_examples_of_the_command_and_the_way_to_the_rest(found: Found) -> None:
    text = found.help()
    called = " ".join(("benchwright", *found.words))
    assert text.startswith(f"Usage: {called}")
    examples = text.partition("Examples:")[2]
    assert re.search(rf"^ +(benchwright|llm-bench|osmosis)\b.*{' '.join(found.words[-1:])}", examples, re.M)
    assert "\nmore: --help-all" in text


@each_command
def test_whatever_takes_a_key_takes_headers_and_certificates(found: Found) -> None:
    told = {name_of(option) for option in found.options()}
    if {"--api-key", "--base-url"} & told and found.words not in ((), ("simulate",)):
        assert {"--header", "--header-env", "--ca-file", "--client-cert", "--client-key"} <= told


@each_command
@pytest.mark.parametrize("whole", [False, True], ids=["help", "help-all"])
def test_help_fits_80_columns(found: Found, whole: bool) -> None:
    assert [line for line in found.help(whole=whole).splitlines() if len(line) > 80] == []


@each_command
def test_help_fits_a_screen_and_a_half(found: Found) -> None:
    assert len(found.help().splitlines()) <= LINES


@each_command
def test_help_all_has_every_option_and_more_than_help(found: Found) -> None:
    short, whole = found.help(), found.help(whole=True)
    told = re.findall(r"^  (?:-\w, )?(--[\w-]+)", whole, re.M)
    assert {name_of(option) for option in found.options()} <= set(told)
    assert set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", short, re.M)) < set(told)


@each_command
def test_options_stand_under_headings_and_those_of_output_are_last(found: Found) -> None:
    headings = re.findall(r"^(\w[\w ]*):$", found.help(whole=True), re.M)
    assert len(headings) == len(set(headings))
    assert headings[-1] == "Other"
    assert "Output" not in headings[:-2]


@each_command
def test_an_option_is_offered_under_one_name(found: Found) -> None:
    for option in found.options():
        long = [name for name in option.opts if name.startswith("--")]
        assert len(long) == 1, option.opts
        assert re.fullmatch(r"--[a-z][a-z0-9]*(-[a-z0-9]+)*", long[0])


@each_command
def test_numbers_have_a_unit(found: Found) -> None:
    for option in found.options():
        if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType):
            last = name_of(option).rpartition("-")[2]
            assert option.metavar, option.opts
            assert option.metavar == UNITS.get(last, option.metavar), option.opts


@each_command
def test_the_help_of_an_option_is_a_sentence_that_states_its_default(found: Found) -> None:
    for option in found.options():
        assert option.help, option.opts
        assert option.help.endswith("."), option.help
        default = option.get_default(found.context, call=False)
        if isinstance(default, str | int | float) and not isinstance(default, bool) and default != "":
            shown = f"{default:g}" if isinstance(default, float) else str(default)
            assert f"(default: {shown})" in option.help, option.opts


class TestTheSameEverywhere:
    @staticmethod
    def meanings() -> dict[str, set[tuple[object, ...]]]:
        found: dict[str, set[tuple[object, ...]]] = defaultdict(set)
        for each in ALL:
            for option in each.options():
                facts = (option.metavar, option.help, str(option.default), option.multiple, option.is_flag)
                found[name_of(option)].add((*facts, *option.opts))
        return found

    @staticmethod
    def documented() -> set[str]:
        """The options that are not the same everywhere, as the document says."""
        table = DOCUMENT.read_text().partition("These options are not the same everywhere:")[2]
        return set(re.findall(r"^\| `(--[\w-]+)` \|", table, re.M))

    def test_an_option_means_the_same_in_every_command_or_the_document_says_how_it_differs(self) -> None:
        below_root = {name for each in ALL if each.words for name in map(name_of, each.options())}
        several = {name for name, meanings in self.meanings().items() if len(meanings) > 1}
        assert several - self.documented() == set()
        assert self.documented() <= below_root

    def test_no_exception_is_documented_that_is_none(self) -> None:
        meanings = self.meanings()
        assert {name for name in self.documented() if len(meanings[name]) < 2} == set()


class TestVerbs:
    @pytest.mark.parametrize("group", ["runs", "pack", "cache"])
    def test_what_is_kept_is_listed_shown_and_deleted(self, group: str) -> None:
        (found,) = [each for each in ALL if each.words == (group,)]
        assert isinstance(found.command, click.Group)
        assert {"list", "show", "delete"} <= set(found.command.list_commands(found.context))

    def test_images_are_listed_and_deleted(self) -> None:
        (found,) = [each for each in ALL if each.words == ("images",)]
        assert isinstance(found.command, click.Group)
        assert {"list", "delete"} == set(found.command.list_commands(found.context))

    @pytest.mark.parametrize("group", ["runs", "pack", "cache", "images"])
    def test_deleting_asks_unless_told_not_to(self, group: str) -> None:
        (found,) = [each for each in ALL if each.words == (group, "delete")]
        (yes,) = [option for option in found.options() if "--yes" in option.opts]
        assert "-y" in yes.opts

    @pytest.mark.parametrize(
        "words", ["eval cache dir", "eval cache ls", "eval cache rm", "pack info", "pack uninstall"]
    )
    def test_old_verbs_are_understood_and_not_offered(self, words: str) -> None:
        command: click.Command = cli
        context = click.Context(cli, info_name="benchwright")
        for word in words.split():
            assert isinstance(command, click.Group)
            below = command.get_command(context, word)
            assert below is not None
            command, context = below, click.Context(below, info_name=word, parent=context)
        assert tuple(words.split()) not in {each.words for each in ALL}


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        ("eval", "--batch-size=3", "--concurrency=3"),
        ("bench", "--batch_size=3", "--concurrency=3"),
        ("run mmlu", "--batch-size=auto", "--concurrency=auto"),
        ("pack run p", "--batch_size=3", "--concurrency=3"),
        ("load", "--batch-size=1,2", "--concurrency=1,2"),
        ("eval", "--max-samples=3", "--limit=3"),
        ("test", "--max-samples=3", "--limit=3"),
        ("run mmlu", "--max-samples=3", "--limit=3"),
        ("validate", "--max-samples=3", "--limit=3"),
        ("test", "--agent=a:B", "--module=a:B"),
        ("eval", "--output-path=here", "--output-dir=here"),
        ("run mmlu", "--scrape-prometheus", "--metrics"),
        ("run mmlu", "--prometheus-url=http://x", "--metrics-url=http://x"),
        ("simulate", "--processes=2", "--workers=2"),
        ("runs", "--benchmark=mmlu", "--name=mmlu"),
    ],
)
def test_an_old_spelling_is_the_new_one(command: str, old: str, new: str) -> None:
    def parsed(spelling: str) -> dict[str, object]:
        context = click.Context(cli, info_name="benchwright")
        words = command.split()
        found = cli.get_command(context, words.pop(0))
        if isinstance(found, click.Group) and words:
            found = found.get_command(context, words.pop(0))
        assert found is not None
        return found.make_context("x", [*words, spelling]).params

    assert parsed(old) == parsed(new)


def test_every_command_stands_below_one_heading() -> None:
    assert isinstance(cli, LazyGroup)
    listed = [name for names in cli.headings.values() for name in names]
    assert sorted(listed) == sorted(cli.addresses)
