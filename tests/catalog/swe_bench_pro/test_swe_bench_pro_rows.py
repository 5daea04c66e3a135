"""The rows of SWE-bench Pro, and where their run scripts are found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.swe_bench_pro.pro_kit import CALCULATOR, GREETER, OWN_RUNNER, Data, official_pro, pro

from benchwright.catalog.containers.network_rules import SEALED_NETWORK_DEPARTURE
from benchwright.catalog.containers.sealing.commit_removal import HISTORY_DEPARTURE
from benchwright.catalog.swe_bench_pro.rows import parse_list_literal
from benchwright.data.errors import DatasetError
from benchwright.errors import UserError


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path)


def test_a_sample_is_an_instance_under_its_own_id(data: Data) -> None:
    calculator, greeter = data.samples()
    assert (calculator.id, greeter.id) == (CALCULATOR, GREETER)
    assert calculator.labels == {"repo": "shop/calculator", "language": "python"}
    assert greeter.content["fail_to_pass"] == ["it greets d'Artagnan by name"]
    assert greeter.content["run_script"] == OWN_RUNNER
    assert greeter.content["image"] == f"jefzda/sweap-images:{data.instances[1].row['dockerhub_tag']}"


def test_the_issue_is_statement_requirements_and_interface(data: Data) -> None:
    assert data.samples()[0].content["issue"] == (
        f"Something is wrong in {CALCULATOR}.\n\nRequirements:\nIt must be right.\n\n"
        "New interfaces introduced:\nNone."
    )


def test_texts_that_are_json_strings_are_read(data: Data) -> None:
    data.write({**data.instances[0].row, "problem_statement": r'"# Title\n\nIt is \"wrong\"."'})
    assert data.samples()[0].content["issue"].startswith('# Title\n\nIt is "wrong".\n\nRequirements:')


def test_lists_that_are_lists_already_are_taken(data: Data) -> None:
    data.write({**data.instances[0].row, "fail_to_pass": ["a", "b"]})
    assert data.samples()[0].content["fail_to_pass"] == ["a", "b"]


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_every_list_that_python_writes_is_read_again(names: list[str]) -> None:
    assert parse_list_literal("names", repr(names)) == names
    assert parse_list_literal("names", f"  {names!r}\n") == names


@pytest.mark.parametrize(
    "text",
    [
        "[open('{marker}', 'w').write('x')]",
        "__import__('os').system('touch {marker}')",
        "['a'] + [str(open('{marker}', 'w'))]",
        "[1, 2]",
        "'a'",
        "{'a'}",
        "['a'",
        "",
        "[" * 5000,
        "['\x00']",
    ],
)
def test_a_list_that_is_none_is_told_and_never_run(text: str, data: Data, tmp_path: Path) -> None:
    marker = tmp_path / "it was run"
    data.write({**data.instances[0].row, "pass_to_pass": text.replace("{marker}", str(marker))})
    with pytest.raises(DatasetError, match=f"{CALCULATOR}: `pass_to_pass` is not a list of strings"):
        data.samples()
    assert not marker.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("instance_id", "../../etc"),
        ("base_commit", "HEAD; rm -rf /"),
        ("base_commit", "--upload-pack=x"),
        ("dockerhub_tag", "a b"),
        ("dockerhub_tag", "x" * 129),
    ],
)
def test_what_names_paths_commits_and_images_must_be_such_a_name(field: str, value: str, data: Data) -> None:
    data.write({**data.instances[0].row, field: value})
    with pytest.raises(DatasetError, match=f"Row 0: `{field}` is invalid"):
        data.samples()


class TestOptions:
    def test_predictions_are_part_of_the_samples_and_no_checks_are_left(
        self, data: Data, tmp_path: Path
    ) -> None:
        file = tmp_path / "predictions.jsonl"
        file.write_text(json.dumps({"instance_id": GREETER, "model_patch": "diff"}))
        benchmark = pro(predictions=str(file))
        found = list(benchmark.samples(data.source))
        assert [sample.content["prediction"] for sample in found] == [None, "diff"]
        assert benchmark.departures == (
            "the patches come from a file; no model was asked",
            SEALED_NETWORK_DEPARTURE,
        )
        assert list(benchmark.checks(found[0])) == []

    def test_one_answer_departs_from_the_protocol_and_an_agent_does_not(self) -> None:
        assert pro().departures == (HISTORY_DEPARTURE, SEALED_NETWORK_DEPARTURE)
        assert official_pro().departures == ()
        assert pro(mode="patch").departures == (
            "one answer, shown only the issue, in place of an agent",
            SEALED_NETWORK_DEPARTURE,
        )

    @pytest.mark.parametrize(
        ("name", "value", "told"),
        [
            ("max_turns", "50", "50 answers at most in place of 250"),
            ("command_seconds", "60", "60 s for a command in place of 120"),
            ("test_seconds", "60", "60 s for the tests in place of 3600"),
            ("memory_gib", "8", "8 GiB of memory in place of 30"),
            ("network", "none", "no network in any container"),
        ],
    )
    def test_other_limits_than_the_official_ones_are_departures(
        self, name: str, value: str, told: str
    ) -> None:
        assert official_pro(**{name: value}).departures == (told,)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("mode", "magic"), ("network", "all"), ("memory_gib", "0"), ("test_seconds", "soon")),
            ("predictions", "/nowhere/predictions.json"),
        ],
    )
    def test_values_that_cannot_be_used_are_refused(self, name: str, value: str) -> None:
        with pytest.raises(UserError, match=r"--option|predictions /nowhere"):
            pro(**{name: value})


class TestRunScripts:
    def test_they_may_lie_beside_the_rows(self, data: Data) -> None:
        shutil.move(
            data.directory / "swe_bench_pro_scripts" / "run_scripts", data.directory / "swe_bench_pro"
        )
        assert len(data.samples()) == 2

    @pytest.mark.parametrize("folder", ["mine", "mine/run_scripts"])
    def test_they_can_be_named_as_a_checkout_or_by_themselves(self, folder: str, data: Data) -> None:
        shutil.move(data.directory / "swe_bench_pro_scripts", data.directory / "mine")
        assert len(data.samples(run_scripts=str(data.directory / folder))) == 2

    def test_without_any_it_is_said_how_to_get_them(self, data: Data) -> None:
        shutil.rmtree(data.directory / "swe_bench_pro_scripts")
        with pytest.raises(DatasetError, match=r"benchwright fetch swe_bench_pro\..*--option run_scripts="):
            data.samples()

    def test_a_directory_without_scripts_is_refused(self, data: Data, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"holds no \*/run_script\.sh"):
            data.samples(run_scripts=str(tmp_path / "swe_bench_pro"))

    def test_an_instance_without_its_parser_is_told(self, data: Data) -> None:
        (data.directory / "swe_bench_pro_scripts" / "run_scripts" / GREETER / "parser.py").unlink()
        with pytest.raises(DatasetError, match=rf"There is no .*{GREETER}/parser\.py"):
            data.samples()

    def test_the_environment_is_that_of_both_dockerfiles(self, data: Data) -> None:
        for kind, text in (
            ("base", "FROM x\nENV A=1 B='2 3'\nRUN echo ENV"),
            ("instance", "FROM y\n  ENV C=4\n"),
        ):
            file = (
                data.directory / f"swe_bench_pro_scripts/dockerfiles/{kind}_dockerfile/{GREETER}/Dockerfile"
            )
            file.parent.mkdir(parents=True)
            file.write_text(text)
        assert data.samples()[1].content["environment"] == ["export A=1 B='2 3'", "export C=4"]


def test_the_input_is_the_issue_and_the_target_the_patch(data: Data) -> None:
    for sample in data.samples():
        assert (sample.input, sample.target) == (sample.content["issue"], sample.content["patch"])
