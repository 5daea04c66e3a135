"""Adds a failing test to the tests of a passing step. If the score stays the same, it does not come from the tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from benchwright.catalog.containers.flags import Flag
from benchwright.catalog.containers.sealing.called_programs import read_test_texts
from benchwright.catalog.containers.sealing.canaries import (
    UNTESTED_PASS_FLAG,
    copy_with_changes,
    new_canary,
    select_python_tests,
    with_passing_test,
)
from benchwright.catalog.harbor.settings import Step

ScoreTests = Callable[[Path, Step, bool], Awaitable[float]]
"""A function that runs a step's tests and returns the score.

It takes the folder with the tests, the step, and True if the container is to contain the agent's work.
"""


def test_file_places(folder: Path, step: Step) -> list[str]:
    """Return the paths of a step's tests in its task's folder, including tests built into an image."""
    own = f"steps/{step.name}/tests" if step.name else "tests"
    return [name for name in dict.fromkeys(("run-tests.sh", *step.tests, own)) if (folder / name).exists()]


async def flag_untested_pass(folder: Path, step: Step, score: float, score_of: ScoreTests) -> list[Flag]:
    """Return a flag if a step's score stays the same when a failing test is added. Return nothing otherwise.

    Some tests compute their score by another rule, or run only tests that they name. Therefore the step is
    flagged only if the failing test lowers the score of a control: a container without the agent's work, with
    one passing test in place of the task's tests.

    Raises:
        EngineError: If a container cannot be started, or the engine does not respond.
    """
    places = test_file_places(folder, step)
    tests, canary = select_python_tests(read_test_texts(folder, places), places), new_canary()
    if not tests:
        return []
    step = msgspec.structs.replace(step, tests=tuple(place for place in places if place != "run-tests.sh"))

    async def score_with(texts: Mapping[str, str], with_work: bool) -> float:
        with copy_with_changes(folder, places, texts) as changed:
            return await score_of(changed, step, with_work)

    if await score_with({name: canary.add_to(text) for name, text in tests.items()}, True) < score:
        return []
    passing = {name: with_passing_test(text) for name, text in tests.items()}
    best = await score_with(passing, False)
    failing = {name: canary.add_to(text) for name, text in passing.items()}
    if not best or await score_with(failing, False) >= best:
        return []
    return [
        Flag(
            UNTESTED_PASS_FLAG, f"a test that fails was added to the tests, and the score is still {score:g}"
        )
    ]
