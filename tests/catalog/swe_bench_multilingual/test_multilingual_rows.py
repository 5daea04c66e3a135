"""The rows of SWE-bench Multilingual, and the script that tests an instance."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.swe_bench_multilingual.multilingual_kit import row

from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers.network_rules import SEALED_NETWORK_DEPARTURE
from benchwright.catalog.containers.sealing.commit_removal import HISTORY_DEPARTURE
from benchwright.catalog.swe_bench_multilingual.about import SWE_BENCH_MULTILINGUAL
from benchwright.catalog.swe_bench_multilingual.benchmark import make
from benchwright.catalog.swe_bench_multilingual.edition import (
    MULTILINGUAL_EDITION,
    UNFILTERED_NETWORK_DEPARTURE,
)
from benchwright.catalog.swe_bench_multilingual.projects import PROJECT_LANGUAGES
from benchwright.catalog.swe_bench_multilingual.scripts import build_instance_script, find_test_programs
from benchwright.data.datasets import find_dataset
from benchwright.data.errors import DatasetError
from benchwright.records import Sample

TEST_PATCH = """\
diff --git a/tests/sums.sh b/tests/sums.sh
--- a/tests/sums.sh
+++ b/tests/sums.sh
@@ -1 +1 @@
-a
+b
"""


def samples(path: Path) -> list[Sample]:
    source = find_dataset(SWE_BENCH_MULTILINGUAL.dataset, path.parent, path=path, offline=True)
    return list(make(SWE_BENCH_MULTILINGUAL, Options()).samples(source))


def test_a_row_brings_its_image_script_and_reader_and_has_the_language_of_its_project(tmp_path: Path) -> None:
    (sample,) = samples(write_rows(tmp_path / "test.jsonl", [row(1, test_patch=TEST_PATCH)]))
    assert sample.labels == {"language": "C", "repo": "redis/redis"}
    assert sample.content["image"] == "swebench/sweb.eval.x86_64.redis_1776_redis-1:latest"
    assert sample.content["FAIL_TO_PASS"] == ["HALF of 8"]
    assert (sample.input, sample.target) == (sample.content["problem_statement"], sample.content["patch"])


def test_lists_of_tests_may_be_json_as_in_older_revisions(tmp_path: Path) -> None:
    (sample,) = samples(write_rows(tmp_path / "test.jsonl", [row(1, FAIL_TO_PASS='["a [b"]')]))
    assert sample.content["FAIL_TO_PASS"] == ["a [b"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("repo", "somebody/else", "`repo` is none of SWE-bench Multilingual's"),
        ("base_commit", "HEAD; rm -rf /", "`base_commit` is not a commit"),
        ("instance_id", "a/../b", "`instance_id` cannot be part of an image's name"),
        (
            "image",
            "somebody/else:latest",
            "`image` is not the official one, swebench/sweb.eval.x86_64.redis_1776_redis-2",
        ),
        ("eval_script", "", "`eval_script` is missing: the row is of a revision before swebench 5.0"),
        ("eval_script", "make check", "`eval_script` does not print the marks"),
        ("log_parser", "parse_log_pytest", "`log_parser` is unknown for redis__redis-2: 'parse_log_pytest'"),
        ("log_parser", "parse_log_jekyll", "`log_parser` is unknown for redis__redis-2"),
        ("eval_type", "fail_only", "`eval_type` is not pass_and_fail"),
        ("PASS_TO_PASS", "tests", "`PASS_TO_PASS` is not a JSON list of strings"),
    ],
)
def test_a_bad_row_is_reported_with_its_number_and_field(
    tmp_path: Path, field: str, value: str, said: str
) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [row(1), row(2, **{field: value})])
    with pytest.raises(DatasetError, match=r": Row 1: ") as error:
        samples(path)
    assert said in str(error.value)


def test_the_script_is_that_of_the_row_and_says_how_the_last_test_command_ended() -> None:
    given = row(1, test_patch=TEST_PATCH)
    lines = build_instance_script(given).splitlines()
    start = lines.index(": '>>>>> Start Test Output'")
    assert lines[start:] == [
        ": '>>>>> Start Test Output'",
        "TERM=dumb ./runtest --durable --single unit/sums",
        "SWEBENCH_TEST_EXIT_CODE=$?",
        ": '>>>>> End Test Output'",
        'echo ">>>>> Test Exit Code: $SWEBENCH_TEST_EXIT_CODE"',
        f"git checkout {'0' * 40} tests/sums.sh",
    ]
    assert lines[:start] == given["eval_script"].splitlines()[:start]
    checked = subprocess.run(
        ["bash", "-n"], input=build_instance_script(given), text=True, capture_output=True
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_files_that_the_script_starts_tests_with_are_known() -> None:
    commands = [
        "cd tests && PYTHON=python3 ../ports/unix/micropython ./run-tests.py -i 'a b'",
        "/bin/true",
        "(echo 'text that goes on",
        "here')",
    ]
    given = row(1)
    given["eval_script"] = given["eval_script"].replace("TERM=dumb ./runtest", "\n".join(commands))
    assert {"tests/run-tests.py", "ports/unix/micropython"} <= set(find_test_programs(given))
    assert not any(path.startswith(("/", "..")) for path in find_test_programs(given))
    assert "runtest" in find_test_programs(row(1))


def test_41_projects_are_of_nine_languages_as_the_authors_count_them() -> None:
    assert Counter(PROJECT_LANGUAGES.values()) == {
        "C": 4,
        "C++": 2,
        "Go": 5,
        "Java": 6,
        "JavaScript/TypeScript": 7,
        "PHP": 4,
        "Ruby": 6,
        "Rust": 7,
    }


@pytest.mark.parametrize(
    ("repo", "whole"), [("google/gson", True), ("axios/axios", True), ("redis/redis", False)]
)
def test_a_proxy_is_kept_from_tests_that_it_would_break(repo: str, whole: bool) -> None:
    assert MULTILINGUAL_EDITION.has_unfiltered_network({"repo": repo}) is whole


def test_what_departs_from_the_protocol_is_said() -> None:
    def departures(*, sealed: bool = True, **options: str) -> list[str]:
        return list(make(SWE_BENCH_MULTILINGUAL, Options(options, sealed=sealed)).departures)

    assert departures() == [HISTORY_DEPARTURE, SEALED_NETWORK_DEPARTURE, UNFILTERED_NETWORK_DEPARTURE]
    assert departures(sealed=False) == []
    assert departures(network="open")[-1] != UNFILTERED_NETWORK_DEPARTURE
    assert departures(sealed=False, memory_gib="8") == ["8 GiB of memory in place of 16"]
