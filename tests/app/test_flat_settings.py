"""Settings are sections inside and flat outside: names, dumps and errors are those of the options."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.app.flat_settings import FRONT_DOORS, JUDGE

from benchwright.app.manifests import _plain_settings
from benchwright.config import EvalSettings

KEPT: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("flat_settings.json").read_text(encoding="utf-8")
)
"""What every front door dumped before its settings had sections."""

CONVERTED = {"models", "option", "synthetic_input", "synthetic_output"}
"""Names whose values are converted before they are checked; benchmarks convert judges into options, too."""

each = pytest.mark.parametrize("door", FRONT_DOORS)


def made(door: str) -> Any:
    kind, given = FRONT_DOORS[door]
    return kind(**given)


@each
def test_defaults_dump_as_flat_names(door: str) -> None:
    assert FRONT_DOORS[door][0]().model_dump(mode="json") == KEPT[door]["defaults"]


@each
def test_given_values_dump_under_the_names_they_were_given_by(door: str) -> None:
    assert made(door).model_dump(mode="json") == KEPT[door]["given"]


@each
def test_a_manifest_has_what_differs_from_the_defaults_without_keys(door: str) -> None:
    assert _plain_settings(made(door)) == KEPT[door]["manifest"]
    assert _plain_settings(FRONT_DOORS[door][0]()) == {}


@each
def test_a_name_belongs_to_one_section_and_is_no_section(door: str) -> None:
    kind, given = FRONT_DOORS[door]
    sections = [kind.model_fields[name] for name in kind.model_fields.keys() - kind.OPTIONLESS_SECTIONS]
    names = [name for section in sections for name in section.annotation.model_fields]
    assert sorted(names) == sorted({*given, "model"})
    assert not kind.model_fields.keys() & set(names)


@each
def test_a_section_is_not_given_as_a_whole(door: str) -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        FRONT_DOORS[door][0](limits={"timeout": 3})


@each
def test_a_dump_makes_equal_settings_again(door: str) -> None:
    settings = made(door)
    again = type(settings)(**settings.model_dump())
    assert again == settings
    assert again != type(settings)()


@each
def test_a_worker_process_gets_equal_settings(door: str) -> None:
    settings = made(door)
    assert pickle.loads(pickle.dumps(settings)) == settings


@each
def test_a_copy_takes_updates_by_flat_names(door: str) -> None:
    copy = made(door).model_copy(update={"timeout": 1.5, "name": "other"})
    assert copy.model_dump(mode="json") == {**KEPT[door]["given"], "timeout": 1.5, "name": "other"}


@each
def test_an_unknown_name_is_refused_by_that_name(door: str) -> None:
    with pytest.raises(ValidationError) as refused:
        FRONT_DOORS[door][0](tiemout=3)
    assert [(error["type"], error["loc"]) for error in refused.value.errors()] == [
        ("extra_forbidden", ("tiemout",))
    ]


@each
def test_an_invalid_value_is_reported_by_its_flat_name(door: str) -> None:
    kind, given = FRONT_DOORS[door]
    for name in given.keys() - CONVERTED - JUDGE.keys():
        with pytest.raises(ValidationError) as refused:
            kind(**{name: object()})
        assert {error["loc"][0] for error in refused.value.errors()} == {name}


def test_a_value_inside_another_is_reported_by_its_whole_place() -> None:
    with pytest.raises(ValidationError) as refused:
        EvalSettings(models=[{"model": "a", "max_tokens": -1}])
    assert refused.value.errors()[0]["loc"] == ("models", 0, "max_tokens")
