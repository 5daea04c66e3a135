"""What a page starts is a command that could be typed, with every setting in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.app.run_lookup.existing_runs import ExistingRun
from benchwright.cli.eval import bench
from benchwright.cli.pack_run import command as pack_run
from benchwright.cli.run import command as run
from benchwright.config import (
    BenchmarkSettings,
    EvalSettings,
    PackSettings,
    Settings,
    SettingsSection,
    sections_by_name,
)
from benchwright.errors import UserError
from benchwright.records import TaskSpec
from benchwright.runs.manifest import Manifest
from benchwright.web.command_line import SETTINGS_NOT_REPEATED, command_line_options, repeat_command

COMMANDS: list[tuple[click.Command, type[Settings], list[str]]] = [
    (bench, EvalSettings, []),
    (run, BenchmarkSettings, ["mmlu"]),
    (pack_run, PackSettings, ["pack"]),
]

KEYS = ("api_key", "baseline_api_key")
"""Never in a manifest, never in arguments."""

VALUES: dict[str, Any] = {
    "dataset": "rows.jsonl",
    "param": {"top_p": 0.5, "stop": "end"},
    "scorer_option": {"tolerance": "0.1"},
    "column": {"prompt": "question"},
    "where": {"category": "stem"},
    "option": {"judge_model": "big"},
    "decide_on": ["exact"],
    "eval_fn": ["rewards:right"],
    "scorer": ["exact", "mcq"],
    "plugin": ["own.py"],
    "model": ["a", "b"],
    "scenario": ["TC-01"],
    "stream": False,
    "probe": False,
    "seal": False,
    "max_failures": "2%",
    "shuffle": True,
    "recommended": True,
    "agent": ["codex"],
    "reuse": True,
    "rescore": True,
    "scrape_prometheus": True,
    "direct": True,
    "keep_verifiers": True,
    "skip_bad_rows": True,
    **{key: {"X-Team": "blue"} for key in ("headers", "judge_headers", "baseline_headers")},
    **{key: {"X-Token": "TOKEN"} for key in ("headers_env", "judge_headers_env", "baseline_headers_env")},
}


def value_of(name: str, kind: type[Settings]) -> Any:
    if name in VALUES:
        return VALUES[name]
    section = kind.model_fields[sections_by_name(kind)[name]].annotation
    annotation = cast("type[SettingsSection]", section).model_fields[name].annotation
    if get_origin(annotation) is Literal:
        return get_args(annotation)[-1]
    if get_origin(annotation) is Union and get_origin(first := get_args(annotation)[0]) is Literal:
        return get_args(first)[-1]
    return 3 if any(word in str(annotation) for word in ("int", "float")) else "-text"


@pytest.mark.parametrize(("command", "kind", "subject"), COMMANDS, ids=["eval", "benchmark", "pack"])
def test_every_setting_has_an_option_that_means_it(
    command: click.Command, kind: type[Settings], subject: list[str]
) -> None:
    names = [name for name in sections_by_name(kind) if name not in (*SETTINGS_NOT_REPEATED, *KEYS, "models")]
    given_settings = {name: value_of(name, kind) for name in names}
    parsed = command.make_context("command", [*subject, *command_line_options(given_settings)]).params
    for name, value in given_settings.items():
        if isinstance(value, dict):
            assert {one.partition("=")[0] for one in parsed[name]} == set(value)
        elif isinstance(value, list):
            assert [str(one) for one in parsed[name]] == value
        else:
            assert str(parsed[name]) == str(value) or float(parsed[name]) == value, name


def test_several_values_of_one_key_are_options_of_their_own() -> None:
    where = {"id": ["a_*", "b_1"], "category": "stem"}
    assert list(command_line_options({"where": where})) == [
        "--where=id=a_*",
        "--where=id=b_1",
        "--where=category=stem",
    ]


@given(value=st.text(min_size=1))
def test_no_value_is_taken_for_an_option(value: str) -> None:
    """Whatever is typed into the form for a model is the model."""
    parsed = run.make_context("run", ["mmlu", *command_line_options({"model": value})]).params
    assert parsed["model"] == (value,)
    assert parsed["benchmarks"] == ("mmlu",)


def like_one(directory: Path, changes: dict[str, Any], **settings: Any) -> list[str]:
    """The command of a run like one of several models."""
    task = TaskSpec("questions", "1", "f")
    manifest = Manifest(
        id="r", kind="eval", name="n", fingerprint="f", created_at=0, task=task, targets=[], settings=settings
    )
    return repeat_command(ExistingRun(directory, manifest, "finished"), changes)[0]


def test_several_models_are_tried_again_unless_another_is_named(tmp_path: Path) -> None:
    settings = {"model": "a", "models": [{"model": "a"}, {"model": "b"}]}
    assert like_one(tmp_path, {}, **settings) == ["bench", "--model=a", "--model=b"]
    assert like_one(tmp_path, {"model": "c"}, **settings) == ["bench", "--model=c"]
    assert like_one(tmp_path, {}, models=["a"]) == ["bench", "--model=a"], "as earlier versions wrote it"


def test_models_with_settings_of_their_own_cannot_be_options(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="from a terminal"):
        like_one(tmp_path, {}, models=[{"model": "a", "temperature": 1.0}])


def test_a_run_like_an_earlier_one_keeps_what_is_not_changed(tmp_path: Path) -> None:
    manifest = Manifest(
        id="r",
        kind="eval",
        name="n",
        fingerprint="f",
        created_at=0,
        task=TaskSpec("questions", "1", "f"),
        targets=[],
        settings={"model": "a", "dataset": "rows.jsonl", "scorer": ["exact"], "fresh": True, "seed": None},
        host={"directory": str(tmp_path)},
    )
    command, directory = repeat_command(ExistingRun(tmp_path, manifest, "finished"), {"model": "b", "n": 3})
    assert command == [
        "bench", "--model=b", "--dataset=rows.jsonl", "--scorer=exact", "--no-seed", "--n=3",
    ]  # fmt: skip
    assert directory == tmp_path
