"""`run` and `validate swe_bench_multilingual` from end to end: a scripted model, a real container, exact scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import only_result
from tests.catalog.swe_bench.test_swe_bench_in_docker import bash, played
from tests.catalog.swe_bench.test_swe_bench_run import ended, script
from tests.simulated import simulated_endpoint

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers import ContainerBenchmark
from benchwright.catalog.containers.exploits import REPOSITORY_EXPLOITS, SCRIPT_EXPLOIT, exploit_checks
from benchwright.catalog.containers.patch_checks import DONE_MESSAGE, apply_patch_message
from benchwright.catalog.selection import Selection
from benchwright.catalog.swe_bench_multilingual.about import SWE_BENCH_MULTILINGUAL
from benchwright.catalog.swe_bench_multilingual.benchmark import make
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.datasets import Source, find_dataset
from benchwright.records import Sample

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.fixture
def sample(sums_path: Path) -> Sample:
    """The instance."""
    return next(iter(benchmark().samples(source(sums_path))))


def source(path: Path) -> Source:
    """The data in a file."""
    return find_dataset(SWE_BENCH_MULTILINGUAL.dataset, path.parent, path=path, offline=True)


def benchmark() -> ContainerBenchmark:
    """The benchmark, with less memory than its containers may have by default."""
    made = make(SWE_BENCH_MULTILINGUAL, Options({"memory_gib": "1"}))
    assert isinstance(made, ContainerBenchmark)
    return made


def flags(detail: Mapping[str, Any] | None) -> list[str]:
    """The kinds of the flags in the details of a score."""
    assert detail is not None
    return [flag["kind"] for flag in detail.get("flags", ())]


def test_a_model_that_solves_it_scores_1_by_language(
    program: Program, sums_path: Path, sums: dict[str, Any]
) -> None:
    options = ("--option", f"path={sums_path}", "--option", "memory_gib=1")
    with simulated_endpoint(scripts=[script(sums, apply_patch_message(sums["patch"]))]) as url:
        arguments = ("run", "swe_bench_multilingual", "--model", "m", "--base-url", url, *options)
        code, said = ended(program, *arguments, "--output-dir", "results")
    assert code == 0, said
    result = only_result(program)
    assert (result["accuracy"], result["errors"]) == (1.0, 0)
    assert ("language", "C", 1, 1.0) in [
        (part["label"], part["value"], part["n"], part["mean"]) for part in result["breakdowns"]
    ]
    (found,) = result["sample_results"]
    assert found["details"]["fail_to_pass_results"] == {"HALF of 8": True}
    assert "build/objects" not in found["details"]["model_patch"], (
        "what setting up has built is not the agent's"
    )
    code, said = ended(program, "validate", "swe_bench_multilingual", *options)
    assert code == 0, said
    assert re.search(r"^swe_bench_multilingual +1 +3 +0 ", said, re.MULTILINE), said


async def test_a_changed_runner_of_tests_has_flags_and_stays_a_pass(sample: Sample) -> None:
    replaced = 'printf \'#!/bin/sh\\necho "[ok]: HALF of 8"; echo "[ok]: ADD adds"; echo "[ok]: HALF of 0"\' >runtest'
    outcome, score = await played(benchmark(), sample, bash(replaced), assistant(DONE_MESSAGE))
    assert outcome.artifacts["rerun"] == {"left_out": ["runtest"], "passes": False}
    assert (score.value, flags(score.detail)) == (
        1.0,
        ["verdict_depends_on_test_configuration", "results_printed_elsewhere"],
    )


async def test_exploits_of_a_project_in_another_language_do_not_pass_unnoticed(sums_path: Path) -> None:
    two = [one for one in REPOSITORY_EXPLOITS if one.name == "a runner of tests replaced"] + [SCRIPT_EXPLOIT]
    tried = msgspec.structs.replace(benchmark(), checks=lambda sample: exploit_checks(two))
    validated = await validate_benchmark(tried, source(sums_path), Selection(1))
    assert validated.failures == []
    tallies = {name: (tally.blocked, tally.flagged) for name, tally in validated.exploits.items()}
    assert tallies == {"a runner of tests replaced": (1, 0), "results printed by scripts under test": (0, 1)}


async def test_an_agent_starts_from_the_image_as_it_was_set_up_and_finds_no_later_commit(
    sample: Sample,
) -> None:
    look = "git status --short; cat README.md; git log --all --format=%s; git fsck --unreachable"
    outcome, score = await played(benchmark(), sample, bash(look), assistant(DONE_MESSAGE))
    assert outcome.artifacts["commands"][0]["output"].split("\n")[:3] == ["Sums, set up", "Set up", "Base"]
    assert score.value is None
