"""Files of predictions, in every shape in which the harnesses of SWE-bench exchange them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interop.trajectories_kit import mini, predicted, swe_agent

from benchwright.catalog.benchmark import GradedTrial
from benchwright.catalog.containers.predictions import (
    Prediction,
    collect_predictions,
    load_predictions,
    read_predictions,
    write_predictions,
)
from benchwright.errors import UserError
from benchwright.records import Status

ONE = {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": "diff 1\n"}
TWO = {"instance_id": "a__b-2", "model_name_or_path": "m", "model_patch": None}


@pytest.mark.parametrize(
    "text",
    [
        f"{json.dumps(ONE)}\n\n{json.dumps(TWO)}\n",
        json.dumps([ONE, TWO], indent=2),
        json.dumps({"a__b-1": ONE, "a__b-2": TWO}),
        json.dumps({"a__b-1": "diff 1\n", "a__b-2": ""}),
        json.dumps(
            [{**ONE, "model_patch": "diff 1\n"}, {"instance_id": "a__b-2", "patch": "", "prefix": "p"}]
        ),
    ],
    ids=["lines", "list", "object", "plain patches", "as SWE-bench Pro names them"],
)
def test_every_official_shape_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    assert read_predictions(tmp_path / "file") == {"a__b-1": "diff 1\n", "a__b-2": ""}


def test_a_single_line_is_one_prediction(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps(ONE))
    assert read_predictions(tmp_path / "file") == {"a__b-1": "diff 1\n"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no JSON", "line 1 is not valid JSON"),
        (f"{json.dumps(ONE)}\n{{", "line 2 is not valid JSON"),
        ("3", "are not JSON lines or a list"),
        ("[3]", "entry 0 has no instance_id and model_patch"),
        ('[{"instance_id": "a"}]', "entry 0 has no instance_id and model_patch"),
        ('[{"instance_id": 1, "model_patch": ""}]', "entry 0 has no instance_id"),
        ('{"a": {"model_patch": 3}}', "entry 0 has no instance_id"),
        (json.dumps([ONE, ONE]), "two patches for a__b-1"),
    ],
)
def test_what_is_no_prediction_is_told_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(UserError, match=said) as raised:
        read_predictions(tmp_path / "file")
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_predictions(tmp_path / "nothing")


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, patches: dict[str, str]
) -> None:
    file = tmp_path_factory.getbasetemp() / "predictions.jsonl"
    assert write_predictions(file, (Prediction(name, "m", text) for name, text in patches.items())) == len(
        patches
    )
    if patches:
        assert read_predictions(file) == patches


def test_lines_are_written_as_the_official_harness_reads_them(tmp_path: Path) -> None:
    write_predictions(tmp_path / "file", [Prediction("a__b-1", "m", "diff 1\n")])
    assert (tmp_path / "file").read_text() == (
        '{"instance_id":"a__b-1","model_name_or_path":"m","model_patch":"diff 1\\n"}\n'
    )


def test_the_patches_of_a_run_are_those_of_its_first_repeat() -> None:
    def graded(sample: str, repeat: int, patch: str | None) -> GradedTrial:
        detail = {} if patch is None else {"model_patch": patch}
        return GradedTrial(sample, repeat, None, {}, Status.SCORED, 0.0, detail)

    run = [graded("a", 0, "1"), graded("b", 0, None), graded("a", 1, "2"), graded("b", 1, "3")]
    assert list(collect_predictions(run, "m")) == [Prediction("a", "m", "1"), Prediction("b", "m", "3")]


class TestAFolderOfAnAgent:
    @pytest.mark.parametrize("write", [mini, swe_agent])
    def test_has_patches_and_how_they_came_about(self, write: Callable[..., Path], tmp_path: Path) -> None:
        found = load_predictions(write(tmp_path / "out", "a__b-1", "diff 1\n"))
        assert found.patches == {"a__b-1": "diff 1\n"}
        assert found.foreign_trials["a__b-1"].messages
        assert f"those of {found.foreign_program}, as it wrote them down" in found.departure

    def test_says_in_its_list_what_was_submitted(self, tmp_path: Path) -> None:
        folder = predicted(mini(tmp_path / "out", "a__b-1", "an early patch"), "a__b-1", "the last patch")
        predicted(folder, "a__b-2", None)
        assert load_predictions(folder).patches == {"a__b-1": "the last patch", "a__b-2": ""}

    def test_may_have_a_list_alone(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        found = load_predictions(predicted(tmp_path / "out", "a__b-1", "diff"))
        assert (found.patches, found.foreign_trials, found.foreign_program) == ({"a__b-1": "diff"}, {}, "")

    def test_that_is_another_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"holds neither preds\.json nor trajectories"):
            load_predictions(tmp_path)
