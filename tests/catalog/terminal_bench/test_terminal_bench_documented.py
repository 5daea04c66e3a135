"""terminal_bench:documented: rows with three scripts, a model that says fenced commands, an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.containers.running import Played, bash, played, says
from tests.catalog.containers.workshop import WORKSHOP, tag_workshop
from tests.sandbox.docker.stand_ins import docker

from benchwright.catalog.benchmark import Benchmark, Options
from benchwright.catalog.terminal_bench.about import TERMINAL_BENCH_DOCUMENTED
from benchwright.catalog.terminal_bench.benchmark import make
from benchwright.catalog.terminal_bench.documented_variant import MAX_TURNS, find_commands
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.datasets import Source, find_dataset
from benchwright.data.errors import DatasetError
from benchwright.records import Status

COUNT = {
    "instruction": "Count the lines of /data/words into /data/count.",
    "setup_script": "mkdir /data && printf 'a\\nb\\nc\\n' > /data/words",
    "validation_script": '[ "$(cat /data/count)" = 3 ]',
    "solution_script": "wc -l < /data/words > /data/count",
}


def documented(**options: str) -> Benchmark:
    return make(TERMINAL_BENCH_DOCUMENTED, Options(options))


def source(directory: Path, *rows: Mapping[str, Any], name: str = "test.jsonl") -> Source:
    """The rows where the benchmark's data belongs."""
    write_rows(directory / TERMINAL_BENCH_DOCUMENTED.dataset.name / name, rows)
    return find_dataset(TERMINAL_BENCH_DOCUMENTED.dataset, directory, offline=True)


async def ran(directory: Path, row: Mapping[str, Any], *replies: str) -> Played:
    scripts = [says(row["instruction"], *replies)]
    return await played(documented(image=WORKSHOP), source(directory, row), directory, scripts)


@pytest.fixture
def ubuntu_image(workshop: str) -> Iterator[None]:
    """The documented image's name, for our stand-in."""
    if not tag_workshop("ubuntu:22.04"):
        pytest.skip("there is an ubuntu:22.04 on this machine already")
    yield
    docker("rmi", "ubuntu:22.04")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("```bash\nls -la\ncd /\n```", ["ls -la\ncd /"]),
        ("First:\n```bash\na\n```\nthen\n```bash\nb\n```", ["a", "b"]),
        ("$ ls\nand\n$ pwd", ["ls", "pwd"]),
        ("```bash\na\n```\n$ b", ["a"]),
        ("```python\nprint()\n```", []),
        ("It costs 5 $ a day.", []),
        ("```bash\n\n```", []),
        ("Done.", []),
    ],
)
def test_commands_are_fenced_or_prompted(text: str, commands: list[str]) -> None:
    assert find_commands(text) == commands


@pytest.mark.parametrize("name", ["test.jsonl", "train.jsonl", "tasks.jsonl"])
def test_rows_are_found_under_the_split_test_and_else_train(name: str, tmp_path: Path) -> None:
    (sample,) = documented().samples(source(tmp_path, COUNT, name=name))
    assert (sample.id, sample.content["instruction"]) == ("terminal_bench_0", COUNT["instruction"])


def test_a_row_without_a_validation_script_is_told(tmp_path: Path) -> None:
    row = {name: text for name, text in COUNT.items() if name != "validation_script"}
    with pytest.raises(DatasetError, match=r"Row 0: .*`validation_script`"):
        list(documented().samples(source(tmp_path, row)))


async def test_the_rows_own_solution_passes_in_the_documented_image(
    ubuntu_image: None, tmp_path: Path
) -> None:
    checked = await validate_benchmark(documented(), source(tmp_path, COUNT))
    assert (checked.checks, checked.failures) == (2, [])


async def test_a_model_solves_one_of_two_and_sees_what_its_commands_printed(
    workshop: str, tmp_path: Path
) -> None:
    other = {**COUNT, "instruction": "Count the words of /data/words into /data/count."}
    scripts = [
        says(COUNT["instruction"], bash("cd /data; cat words"), "$ wc -l < words > count\n$ ls", "Done."),
        says(other["instruction"], bash("echo 4 > /data/count; false"), "Done."),
    ]
    benchmark = documented(image=WORKSHOP)
    assert benchmark.departures == (f"the image {WORKSHOP} in place of ubuntu:22.04",)
    result = await played(benchmark, source(tmp_path, COUNT, other), tmp_path, scripts)
    assert result.values == {"terminal_bench_0": 1.0, "terminal_bench_1": 0.0}
    first = result.artifacts("terminal_bench_0")["commands"]
    assert [(one["command"], one.get("output", "")) for one in first] == [
        ("cd /data; cat words", "a\nb\nc\n"),
        ("wc -l < words > count", ""),
        ("ls", "count\nwords\n"),
    ]
    assert result.detail("terminal_bench_1")["validation_exit_code"] == 1


async def test_fifteen_turns_are_the_end_and_what_was_done_counts(workshop: str, tmp_path: Path) -> None:
    result = await ran(tmp_path, COUNT, bash(COUNT["solution_script"]))
    record = result.trials["terminal_bench_0"].record
    assert (record.status, len(record.requests)) == (Status.LIMIT, MAX_TURNS)
    assert result.values == {"terminal_bench_0": 1.0}


async def test_the_validation_is_not_there_while_the_model_works(workshop: str, tmp_path: Path) -> None:
    row = {**COUNT, "validation_script": "exit 0 # unmistakable-words"}
    look = "cat /proc/*/cmdline /dev/shm/.benchwright/* /tmp/* 2>/dev/null | grep -c unmistakable-w[o]rds"
    result = await ran(tmp_path, row, bash(look), "Done.")
    (command,) = result.artifacts("terminal_bench_0")["commands"]
    assert command["output"] == "0\n"


async def test_the_validation_begins_where_the_image_does(workshop: str, tmp_path: Path) -> None:
    row = {
        **COUNT,
        "setup_script": "pwd >/start; cd /tmp",
        "validation_script": '[ "$PWD" = "$(cat /start)" ]',
    }
    result = await ran(tmp_path, row, bash("mkdir /work; cd /work"), "Done.")
    assert result.values == {"terminal_bench_0": 1.0}


async def test_what_the_model_exports_is_not_there_in_the_validation(workshop: str, tmp_path: Path) -> None:
    row = {**COUNT, "validation_script": "words"}
    fake = "mkdir /fake; printf '#!/bin/sh\\n' >/fake/words; chmod +x /fake/words; export PATH=/fake:$PATH; words"
    result = await ran(tmp_path, row, bash(fake), "Done.")
    (command,) = result.artifacts("terminal_bench_0")["commands"]
    assert command["exit_code"] == 0
    assert result.values == {"terminal_bench_0": 0.0}
    assert result.detail("terminal_bench_0")["validation_exit_code"] == 127


async def test_a_task_that_cannot_be_set_up_is_an_error_and_no_model_is_asked(
    workshop: str, tmp_path: Path
) -> None:
    result = await ran(tmp_path, {**COUNT, "setup_script": "echo no such luck; exit 4"}, "Done.")
    record = result.trials["terminal_bench_0"].record
    assert (record.status, record.requests) == (Status.EXECUTION_ERROR, [])
    assert "the setup script failed: no such luck" in str(record.reason)


async def test_there_is_no_network(workshop: str, tmp_path: Path) -> None:
    result = await ran(tmp_path, COUNT, bash("ls /sys/class/net"), "Done.")
    (command,) = result.artifacts("terminal_bench_0")["commands"]
    assert command["output"] == "lo\n"
