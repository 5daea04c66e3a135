"""Protocols that solve each sample several times: what repeats ask, what they come to, and what fewer are."""

from __future__ import annotations

import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import only_result
from tests.catalog.catalog_kit import samples
from tests.catalog.made_up_rows import COUNT, WRITERS
from tests.simulated import simulated_endpoint

from benchwright.catalog.gpqa_diamond.rows import right_letter

ALWAYS_C = [{"prompt": "Which particle is it", "answer": "Answer: C"}]


def fewer(program: Program) -> list[str]:
    """What the only result says of its repeats."""
    return [text for text in only_result(program)["protocol"]["departures"] if "repeat" in text]


async def test_a_letter_is_right_in_some_repeats_and_wrong_in_others(program: Program) -> None:
    path = program.directory / "data" / "gpqa_diamond"
    WRITERS["gpqa_diamond"](path)
    with simulated_endpoint("--policy=refusal", answers=ALWAYS_C) as url:
        ended = program.run("--base-url", url, "--model", "m", "run", "gpqa_diamond", "--n", "10")
    assert ended.returncode == 0, ended.stderr
    result = only_result(program)
    found = samples("gpqa_diamond", path)
    right = [right_letter(sample.content, repeat) == "C" for sample in found for repeat in range(10)]
    assert 0 < sum(right) < len(right)
    assert result["accuracy"] == pytest.approx(sum(right) / len(right))
    assert (result["num_samples"], len(result["sample_results"])) == (COUNT, COUNT * 10)
    assert fewer(program) == []


async def test_fewer_repeats_than_the_protocol_has_are_a_departure(program: Program) -> None:
    WRITERS["gpqa_diamond"](program.directory / "data" / "gpqa_diamond")
    with simulated_endpoint("--policy=refusal", answers=ALWAYS_C) as url:
        program.run("--base-url", url, "--model", "m", "run", "gpqa_diamond")
    assert fewer(program) == ["1 repeat of each sample, where published scores are means of 10 (--n 10)"]
