"""ARC-AGI: one request for each test input, two attempts, and exact grids."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated
from tests.catalog.conversations import Talk, figures, graded, solved

from benchwright.catalog.arc_agi.grid_parser import read_grid
from benchwright.data.errors import DatasetError
from benchwright.engine.protocols import Score
from benchwright.records import Sample, Status

PAIR = {"input": [[1, 2]], "output": [[2], [1]]}
OTHER = {"input": [[3, 4]], "output": [[4], [3]]}
RIGHT, WRONG = "[[2], [1]]", "[[2], [2]]"


def task_of(*tests: dict[str, Any]) -> Sample:
    return Sample("t", {"train": [PAIR], "test": list(tests)})


async def played(
    sample: Sample, replies: list[str], settings: dict[str, Any] | None = None
) -> tuple[Talk, Score]:
    talk, task = Talk(replies, settings=settings), benchmark("arc_agi_2")
    outcome = await solved(task, sample, talk)
    return talk, await task.scorers[0].score(sample, outcome, talk)


@pytest.mark.parametrize(("name", "tasks"), [("arc_agi_1", 4), ("arc_agi_2", 8)])
async def test_real_tasks_pass_with_their_solutions_and_fail_with_any_other(
    name: str, tasks: int, real_rows: Path
) -> None:
    result = await validated(name, real_rows / "arc_agi" / name)
    assert (result.samples, result.failures) == (tasks, [])


async def test_the_prompt_is_that_of_the_authors_harness() -> None:
    talk, _ = await played(task_of(OTHER), [RIGHT, RIGHT])
    ((message,), *_) = [messages for _, messages, _ in talk.asked]
    assert message["content"].startswith("You are participating in a puzzle solving competition.")
    assert message["content"].endswith(
        "--Training Examples--\n--Example 0-- \n\n INPUT: \n\n[[1, 2]]\n\nOUTPUT: \n\n[[2], [1]]\n\n\n"
        "--End of Training Examples--\n\n--Test Input--\n[[3, 4]]\n--End of Test Input--\n\nYour response:"
    )


async def test_each_input_is_asked_alone_and_twice_whatever_came_first() -> None:
    talk, score = await played(task_of(PAIR, OTHER), [RIGHT, RIGHT, WRONG, "[[4], [3]]"])
    asked = [messages[0]["content"].partition("--Test Input--\n")[2][:8] for _, messages, _ in talk.asked]
    assert asked == ["[[1, 2]]"] * 2 + ["[[3, 4]]"] * 2
    assert all(len(messages) == 1 for _, messages, _ in talk.asked), "an attempt is not told of the other"
    assert score.value == 1.0


async def test_the_score_is_the_share_of_solved_inputs() -> None:
    _, score = await played(task_of(PAIR, OTHER), [WRONG, RIGHT, WRONG, WRONG])
    assert (score.value, score.explanation) == (0.5, "1 of 2 test inputs solved.")
    assert score.detail is not None
    assert (score.detail["correct"], score.detail["solved"]) == (False, [True, False])


async def test_an_attempt_without_a_grid_is_made_once_more() -> None:
    talk, score = await played(task_of(PAIR), ["Hm.", RIGHT, WRONG])
    assert (len(talk.asked), score.value) == (3, 1.0)
    talk, score = await played(task_of(PAIR), ["Hm."] * 4)
    assert (len(talk.asked), score.value, score.status) == (4, None, Status.UNPARSED)
    assert score.detail is not None
    assert score.detail["unreadable"] == 2


async def test_attempts_have_seeds_of_their_own_and_the_first_has_the_runs() -> None:
    talk, _ = await played(task_of(PAIR), ["Hm.", RIGHT, WRONG], {"seed": 42})
    seeds = [params["seed"] for _, _, params in talk.asked]
    assert seeds[0] == 42
    assert len(set(seeds)) == 3
    talk, _ = await played(task_of(PAIR), [RIGHT, RIGHT])
    assert [params for _, _, params in talk.asked] == [{}, {}], "without a seed none is sent"


@pytest.mark.parametrize(
    ("answer", "grid"),
    [
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("Not [[0]], but:\n```json\n[[1]]\n```", [[1]]),
        ("\\boxed{[[1]]} or [[2]]", [[1]]),
        ("\\boxed{one} [[2]]", [[2]]),
        ("\\boxed{[]} [[2]]", []),
        ('[["1", 2.0], [true, "3.0"]]', [[1, 2], [1, 3]]),
        ("[[1], []]", [[1], []]),
        ("[[1]] (see [1])", None),
        ('{"output": [[1]]}', None),
        ("[[1]]]", None),
        ("[[1.5]]", None),
        ("[[null]]", None),
        ('[["a"]]', None),
        ("[1, 2]", None),
        ("[]", None),
        ("[[1,]]", None),
        ("1 2\n3 4", None),
        ("", None),
    ],
)
def test_the_grid_is_read_as_the_authors_harness_reads_it(answer: str, grid: list[list[int]] | None) -> None:
    assert read_grid(answer) == grid


@pytest.mark.parametrize(
    "answer",
    [
        "[" * 500_000,
        "]" * 500_000,
        "[" * 300_000 + "]" * 300_000,
        "\\boxed{" * 100_000,
        "[[" + "9" * 500_000 + "]]",
    ],
    ids=["open", "closed", "nested", "boxes", "digits"],
)
def test_a_megabyte_is_read_in_linear_time(answer: str) -> None:
    before = time.process_time()
    assert read_grid(answer) is None
    assert time.process_time() - before < 2.0


def test_figures_count_tasks_and_inputs() -> None:
    scores = [
        graded(1.0, {"solved": [True]}),
        graded(0.5, {"solved": [True, False]}),
        graded(None, {"solved": [False]}),
    ]
    assert figures(benchmark("arc_agi_1"), scores) == {"all_inputs": pytest.approx(1 / 3), "test_inputs": 0.5}


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({"train": [PAIR], "test": []}, r"length >= 1 - at `\$.test`"),
        ({"train": [PAIR], "test": [{"input": [[10]], "output": [[1]]}]}, r"`\$.test\[0\].input\[0\]\[0\]`"),
        ({"train": [PAIR], "test": [{"input": [[1]]}]}, "`output`"),
    ],
)
def test_a_file_that_is_no_task_is_told_by_its_name_and_field(
    tmp_path: Path, written: dict[str, Any], complaint: str
) -> None:
    path = tmp_path / "evaluation" / "0a.json"
    path.parent.mkdir()
    path.write_text(json.dumps(written))
    with pytest.raises(DatasetError, match=rf"0a\.json: .*{complaint}"):
        list(benchmark("arc_agi_1").samples(source("arc_agi_1", tmp_path)))


def test_a_task_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "data" / "evaluation" / "0a.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"train": [PAIR], "test": [PAIR, OTHER], "name": "0a"}))
    (sample,) = samples("arc_agi_2", tmp_path)
    assert (sample.id, sample.labels) == ("0a", {"test_inputs": "2"})
