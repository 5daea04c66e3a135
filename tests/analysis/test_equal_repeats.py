"""Repeats that are not repeats: a run says so where all repeats of a sample got the same answer although sampled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.app.compare_kit import Made, write_run

from benchwright.analysis.equal_repeats import MAX_CHECKED_SAMPLES, EqualRepeats
from benchwright.analysis.summary import summary_of
from benchwright.records import Status, Target
from benchwright.runs.journal import BODIES_FILE


def repeated(samples: int, repeats: int = 2, **more: Any) -> list[Made]:
    """Trials of which all repeats of a sample have its answer."""
    return [
        Made(str(sample), repeat=repeat, answer=f"answer {sample}", **more)
        for repeat in range(repeats)
        for sample in range(samples)
    ]


def found(directory: Path, trials: list[Made], temperature: float | None = 0.8) -> EqualRepeats | None:
    settings = {} if temperature is None else {"temperature": temperature}
    target = Target("primary", "model", "http://127.0.0.1:9/v1", settings)
    return summary_of(write_run(directory / "run", trials, targets=[target])).targets[0].equal_repeats


def test_a_run_whose_repeats_are_all_equal_says_so(tmp_path: Path) -> None:
    assert found(tmp_path, repeated(5, 3)) == EqualRepeats(5, 0.8)


def test_one_repeat_with_another_answer_settles_that_answers_are_drawn(tmp_path: Path) -> None:
    other = Made("4", repeat=2, answer="another")
    assert found(tmp_path, [*repeated(5, 2), *repeated(4, 3)[8:], other]) is None


@pytest.mark.parametrize("temperature", [0, 0.0, None])
def test_without_a_temperature_above_0_equal_repeats_are_as_they_should_be(
    tmp_path: Path, temperature: float | None
) -> None:
    assert found(tmp_path, repeated(5), temperature) is None


def test_four_samples_are_too_few_to_tell(tmp_path: Path) -> None:
    assert found(tmp_path, repeated(4)) is None


def test_a_repeat_that_failed_has_no_answer_to_compare(tmp_path: Path) -> None:
    failed = [Made(str(sample), repeat=1, failed=Status.PROVIDER_ERROR) for sample in range(5)]
    assert found(tmp_path, [*repeated(5, 1), *failed]) is None
    one_failed = [*repeated(6), Made("0", repeat=2, failed=Status.PROVIDER_ERROR)]
    assert found(tmp_path / "other", one_failed) == EqualRepeats(6, 0.8)


def test_only_the_first_samples_are_looked_at(tmp_path: Path) -> None:
    beyond = Made(str(MAX_CHECKED_SAMPLES + 10), repeat=2, answer="another")
    assert found(tmp_path, [*repeated(MAX_CHECKED_SAMPLES + 20), beyond]) == EqualRepeats(
        MAX_CHECKED_SAMPLES, 0.8
    )


def test_a_conversation_that_was_damaged_settles_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, repeated(5)) is not None
    bodies = tmp_path / "run" / BODIES_FILE
    bodies.write_bytes(bytes(len(bodies.read_bytes())))
    assert summary_of(tmp_path / "run").targets[0].equal_repeats is None
