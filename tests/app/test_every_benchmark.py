"""Every benchmark and variant, from the command line to its result file, against a model whose accuracy is known.

Those in containers have such tests in their own rooms, on images that these make.
"""

from __future__ import annotations

import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import only_result
from tests.catalog.made_up_rows import COUNT, WRITERS
from tests.catalog.played import scripts
from tests.simulated import simulated_endpoint

from benchwright.catalog.registry import list_abouts

NAMES = [about.full_name for about in list_abouts() if "containers" not in about.needs]

WRONG = (1,)
"""The samples that the model answers wrongly."""


@pytest.mark.parametrize("name", NAMES)
async def test_the_accuracy_is_exactly_that_of_the_model(name: str, program: Program) -> None:
    room = name.partition(":")[0]
    path = program.directory / "data" / room
    WRITERS[room](path)
    with simulated_endpoint("--policy=refusal", scripts=await scripts(name, path, WRONG)) as url:
        ended = program.run("--base-url", url, "--model", "m", "run", name, "--concurrency", "4")
    assert ended.returncode == 0, ended.stderr
    result = only_result(program)
    assert [sample["correct"] for sample in result["sample_results"]] == [True, False, True, True]
    assert result["accuracy"] == (COUNT - len(WRONG)) / COUNT
    assert result["num_samples"] == COUNT
    assert result["errors"] == 0
    for sample in result["sample_results"]:
        assert sample["metrics"]["ttft_seconds"] > 0, "tool calls and several turns are timed too"
    assert result["aggregated_metrics"]["total_requests"] >= COUNT
    assert result["aggregated_metrics"]["ttft_p50"] > 0


def test_there_are_made_up_rows_of_all() -> None:
    assert {name.partition(":")[0] for name in NAMES} == set(WRITERS)


async def test_a_simulated_users_requests_are_counted_apart(program: Program) -> None:
    path = program.directory / "data" / "tau_bench"
    WRITERS["tau_bench"](path)
    with simulated_endpoint("--policy=refusal", scripts=await scripts("tau_bench", path)) as url:
        program.run("--base-url", url, "--model", "m", "run", "tau_bench")
    result = only_result(program)
    assert result["other_roles"]["user"] >= COUNT
    asked = sum(len(sample["metrics"].get("per_turn", [0])) for sample in result["sample_results"])
    assert result["aggregated_metrics"]["total_requests"] == asked
