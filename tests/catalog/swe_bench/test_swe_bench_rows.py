"""The rows of SWE-bench Verified, and the script that tests an instance."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import write_rows

from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers.network_rules import SEALED_NETWORK_DEPARTURE
from benchwright.catalog.containers.sealing.commit_removal import HISTORY_DEPARTURE
from benchwright.catalog.swe_bench.about import SWE_BENCH
from benchwright.catalog.swe_bench.benchmark import images_of, make
from benchwright.catalog.swe_bench.instance_script import (
    arguments_of_test_command,
    build_script,
    find_changed_files,
    official_image_name,
)
from benchwright.data.datasets import find_dataset
from benchwright.data.errors import DatasetError
from benchwright.errors import UserError
from benchwright.records import Sample

ROW: dict[str, Any] = {
    "repo": "pallets/flask",
    "instance_id": "pallets__flask-900003",
    "base_commit": "0" * 40,
    "patch": "diff --git a/flask.py b/flask.py\n--- a/flask.py\n+++ b/flask.py\n@@ -1 +1 @@\n-a\n+b\n",
    "test_patch": "diff --git a/tests/test_it.py b/tests/test_it.py\n"
    "--- a/tests/test_it.py\n+++ b/tests/test_it.py\n@@ -1 +1 @@\n-a\n+b\n",
    "problem_statement": "It is a, and should be b.",
    "hints_text": "",
    "created_at": "2026-01-01T00:00:00Z",
    "version": "2.3",
    "FAIL_TO_PASS": '["tests/test_it.py::test_b"]',
    "PASS_TO_PASS": "[]",
    "environment_setup_commit": "0" * 40,
    "difficulty": "<15 min fix",
}


def samples(path: Path, **options: str) -> list[Sample]:
    source = find_dataset(SWE_BENCH.dataset, path.parent, path=path, offline=True)
    return list(make(SWE_BENCH, Options(options)).samples(source))


def test_the_real_rows_are_read_under_their_own_ids_with_their_lists_of_tests(real_rows: Path) -> None:
    found = {sample.id: sample for sample in samples(real_rows / "swe_bench" / "sample.jsonl")}
    assert len(found) == 21
    flask = found["pallets__flask-5014"]
    assert flask.content["FAIL_TO_PASS"] == ["tests/test_blueprints.py::test_empty_name_not_allowed"]
    assert len(flask.content["PASS_TO_PASS"]) == 59
    assert flask.labels == {"repo": "pallets/flask", "difficulty": "<15 min fix", "version": "2.3"}


def test_each_real_row_has_its_tests_files_in_its_script_and_a_script_that_bash_can_read(
    real_rows: Path,
) -> None:
    for sample in samples(real_rows / "swe_bench" / "sample.jsonl"):
        text = build_script(sample.content)
        checked = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
        assert (sample.id, checked.returncode, checked.stderr) == (sample.id, 0, "")
        assert sample.content["base_commit"] in text


def test_lists_of_tests_may_be_lists(tmp_path: Path) -> None:
    row = ROW | {"FAIL_TO_PASS": ["a"], "PASS_TO_PASS": ["b", "c"]}
    (sample,) = samples(write_rows(tmp_path / "rows.jsonl", [row]))
    assert (sample.content["FAIL_TO_PASS"], sample.content["PASS_TO_PASS"]) == (["a"], ["b", "c"])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("repo", "somebody/else", "`repo` is none of SWE-bench Verified's"),
        ("instance_id", "a/../b", "`instance_id` cannot be part of an image's name"),
        ("base_commit", "HEAD; rm -rf /", "`base_commit` is not a commit"),
        ("FAIL_TO_PASS", "tests/test_it.py", "`FAIL_TO_PASS` is not a JSON list of strings"),
        ("PASS_TO_PASS", "[1]", "`PASS_TO_PASS` is not a JSON list of strings"),
        ("patch", None, "patch"),
    ],
)
def test_a_bad_row_is_told_with_its_number_and_field(
    tmp_path: Path, field: str, value: object, said: str
) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [ROW, ROW | {field: value}])
    with pytest.raises(DatasetError, match=r": Row 1: ") as error:
        samples(path)
    assert said in str(error.value)


def test_instances_of_one_version_of_a_project_have_images_of_one_family(tmp_path: Path) -> None:
    rows = [
        ROW | {"instance_id": f"pallets__flask-{number}", "version": version}
        for number, version in ((1, "2.3"), (2, "2.3"), (3, "2.2"))
    ]
    one, two, other = map(images_of, samples(write_rows(tmp_path / "test.jsonl", rows)))
    assert one.own_images == ("swebench/sweb.eval.x86_64.pallets_1776_flask-1:latest",)
    assert one.image_family == two.image_family != other.image_family


def test_the_official_images_name_the_instance() -> None:
    expected = "swebench/sweb.eval.x86_64.scikit-learn_1776_scikit-learn-13328:latest"
    assert official_image_name("scikit-learn__scikit-learn-13328") == expected


def test_the_script_does_what_the_official_one_does_in_its_order() -> None:
    (lines,) = [build_script(_content()).splitlines()]
    expected = [
        "#!/bin/bash",
        "set -uxo pipefail",
        "source /opt/miniconda3/bin/activate",
        "conda activate testbed",
        "cd /testbed",
        "python -m pip install -e .",
        f"git checkout {'0' * 40} tests/test_it.py",
        "git apply -v - <<'EOF_114329324912'",
        ": '>>>>> Start Test Output'",
        "pytest -rA tests/test_it.py",
        "SWEBENCH_TEST_EXIT_CODE=$?",
        ": '>>>>> End Test Output'",
        'echo ">>>>> Test Exit Code: $SWEBENCH_TEST_EXIT_CODE"',
        f"git checkout {'0' * 40} tests/test_it.py",
    ]
    places = [lines.index(line) for line in expected[:-1]]
    assert places == sorted(places)
    assert lines[-1] == expected[-1]


@pytest.mark.parametrize(
    ("repo", "version", "line"),
    [
        ("astropy/astropy", "1.3", "pytest -rA -vv -o console_output_style=classic --tb=no tests/test_it.py"),
        ("astropy/astropy", "5.1", "pytest -rA tests/test_it.py"),
        ("astropy/astropy", "5.1", "python -m pip install -e .[test] --verbose"),
        (
            "django/django",
            "4.0",
            "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 test_it",
        ),
        ("django/django", "1.9", "./tests/runtests.py --verbosity 2 test_it"),
        ("django/django", "2.2", "python setup.py install"),
        ("django/django", "3.2", "sed -i '/en_US.UTF-8/s/^# //g' /etc/locale.gen && locale-gen"),
        ("mwaskom/seaborn", "0.12", "pytest --no-header -rA tests/test_it.py"),
        ("psf/requests", "2.9", "python -m pip install ."),
        ("sphinx-doc/sphinx", "3.5", "tox --current-env -epy39 -v -- tests/test_it.py"),
        (
            "sympy/sympy",
            "1.12",
            "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose tests/test_it.py",
        ),
    ],
)
def test_the_commands_are_those_of_the_version(repo: str, version: str, line: str) -> None:
    assert line in build_script(_content() | {"repo": repo, "version": version}).splitlines()


def test_djangos_test_files_are_modules_and_files_that_are_no_tests_are_left_out() -> None:
    names = ("tests/forms_tests/tests/test_a.py", "django/b.py", "docs/c.txt", "tests/d/e.json")
    patch = "".join(f"diff --git a/{name} b/{name}\n" for name in names)
    assert arguments_of_test_command("django/django", patch) == ["forms_tests.tests.test_a", "django.b"]
    assert arguments_of_test_command("sympy/sympy", patch) == [
        "tests/forms_tests/tests/test_a.py",
        "django/b.py",
    ]


def test_the_changed_files_of_a_patch_are_what_git_says(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        return subprocess.check_output(["git", *who, *arguments], cwd=tmp_path, text=True)

    looks_like_headers = "-- a/other.py\n++ b/other.py\nx\n"
    git("init", "--quiet")
    for name in ("kept.py", "changed.py", "removed.py", "renamed.py"):
        (tmp_path / name).write_text(looks_like_headers + name)
    git("add", "--all")
    git("commit", "--quiet", "--message", "start")
    (tmp_path / "changed.py").write_text("x\n-- a/other.py\n")
    (tmp_path / "removed.py").unlink()
    (tmp_path / "renamed.py").rename(tmp_path / "anew.py")
    (tmp_path / "new.py").write_text(looks_like_headers)
    git("add", "--all")
    patch = git("diff", "--cached", "--find-renames")
    assert "rename from renamed.py" in patch
    assert sorted(find_changed_files(patch)) == ["changed.py", "removed.py", "renamed.py"]


def test_options_are_checked_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="mode"):
        make(SWE_BENCH, Options({"mode": "agnet"}))
    with pytest.raises(UserError, match="cannot be read"):
        make(SWE_BENCH, Options({"predictions": str(tmp_path / "none.jsonl")}))


def test_predictions_are_part_of_the_samples(tmp_path: Path) -> None:
    predictions = tmp_path / "predictions.jsonl"
    entry = {"instance_id": ROW["instance_id"], "model_name_or_path": "m", "model_patch": "a patch"}
    predictions.write_text(json.dumps(entry) + "\n")
    rows = write_rows(tmp_path / "rows.jsonl", [ROW, ROW | {"instance_id": "pallets__flask-900004"}])
    first, second = samples(rows, predictions=str(predictions))
    assert (first.content["prediction"], second.content["prediction"]) == ("a patch", None)


def test_what_departs_from_the_protocol_is_said(tmp_path: Path) -> None:
    assert make(SWE_BENCH, Options({})).departures == (HISTORY_DEPARTURE, SEALED_NETWORK_DEPARTURE)
    assert make(SWE_BENCH, Options(sealed=False)).departures == ()
    assert "in place of an agent" in make(SWE_BENCH, Options({"mode": "patch"})).departures[0]
    assert make(SWE_BENCH, Options({"max_turns": "30"})).departures[1] == "30 answers at most in place of 250"


def _content() -> dict[str, Any]:
    return {**ROW, "FAIL_TO_PASS": [], "PASS_TO_PASS": []}


def test_the_input_is_the_issue_and_the_target_the_patch(real_rows: Path) -> None:
    for sample in samples(real_rows / "swe_bench" / "sample.jsonl"):
        assert (sample.input, sample.target) == (sample.content["problem_statement"], sample.content["patch"])
