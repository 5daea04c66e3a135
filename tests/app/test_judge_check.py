"""`benchwright judge check`: a judge is asked again with one thing changed, and its verdicts are compared in pairs."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.judge_kit import JudgeServer, judge_server, judging, write_questions


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeServer]:
    with judge_server() as server:
        yield server


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory, judge: JudgeServer) -> Program:
    """60 answers of which 42 are right, and 48 by the judge."""
    program = Program(tmp_path_factory.mktemp("checked"))
    write_questions(program, 60)
    assert program.run(*judging(judge.base_url)).returncode == 0
    return program


@pytest.fixture(scope="module")
def found(checked: Program) -> dict[str, Any]:
    return check(checked, "--second-judge", "strict-judge")


def check(program: Program, *more: str) -> dict[str, Any]:
    ended = program.run("judge", "check", program.only_run.name, "-q", "--json", *more)
    assert ended.returncode == 0, ended.stderr
    content: dict[str, Any] = json.loads(ended.stdout)
    return content


def flips(found: dict[str, Any]) -> dict[str, tuple[int, int, int]]:
    return {one["name"]: (one["n"], one["to_right"], one["to_wrong"]) for one in found["experiments"]}


def test_flips_are_counted_both_ways(found: dict[str, Any]) -> None:
    """The judge is constant and sees no order; it lets all long answers pass, and the strict one no wrong answer."""
    assert flips(found) == {
        "asked again (1)": (60, 0, 0),
        "asked again (2)": (60, 0, 0),
        "answer first": (60, 0, 0),
        "longer answer": (60, 12, 0),
        "second judge": (60, 0, 6),
    }


def test_the_p_value_is_that_of_the_exact_test(found: dict[str, Any]) -> None:
    longer = next(one for one in found["experiments"] if one["name"] == "longer answer")
    assert longer["p_value"] == pytest.approx(2 * 0.5**12)
    assert longer["agreement"][0] == 48 / 60


def test_the_answer_stands_first_where_order_is_tested(judge: JudgeServer, found: dict[str, Any]) -> None:
    texts = {body["messages"][1]["content"] for body in judge.judged}
    assert sum(text.index("<<ANSWER") < text.index("<<REFERENCE") for text in texts) == 60


def test_what_was_asked_is_not_asked_again(
    checked: Program, judge: JudgeServer, found: dict[str, Any]
) -> None:
    before = len(judge.judged)
    assert check(checked, "--second-judge", "strict-judge") == found
    assert len(judge.judged) == before


@pytest.mark.usefixtures("found")
def test_progress_is_that_of_each_judge_alone(checked: Program, tmp_path: Path) -> None:
    shutil.copytree(checked.directory, tmp_path, dirs_exist_ok=True)
    program = Program(tmp_path)
    command = ("judge", "check", program.only_run.name, "-n", "50", "--second-judge", "lenient-judge")
    told = program.run(*command).stderr
    assert "(200/200 runs completed)" in told, "of 240 that the first judge was asked"
    assert "Asking lenient-judge 50 times" in told
    assert "[50/50]" in told


def test_a_person_reads_what_moves_verdicts(checked: Program, found: dict[str, Any]) -> None:
    ended = checked.run("judge", "check", checked.only_run.name, "-q")
    assert "The length of an answer moves verdicts: 12 to right, 0 to wrong." in ended.stdout
    assert "Not tested: second judge: none was given (--second-judge)." in ended.stdout


def test_requests_of_a_check_are_kept_with_their_times(checked: Program, found: dict[str, Any]) -> None:
    lines = (checked.only_run / "judge" / "trials.jsonl").read_text().splitlines()
    scores = [json.loads(line) for line in lines if '"type":"score"' in line]
    assert len(scores) == 5 * 60
    assert all(score["requests"][0]["total"] > 0 for score in scores)


def test_a_run_without_a_judge_is_refused(program: Program, echo: str) -> None:
    assert program.run(*program.evaluating(program.rows(2), echo)).returncode == 0
    for command in (["sample"], ["check", "-q"]):
        ended = program.run("judge", command[0], program.only_run.name, *command[1:])
        assert ended.returncode == 1
        assert "judge" in one_line_of(ended.stderr)


def test_a_run_whose_rows_changed_is_refused(checked: Program, tmp_path: Path, judge: JudgeServer) -> None:
    rows = checked.directory / "rows.jsonl"
    kept = shutil.copy(rows, tmp_path)
    try:
        write_questions(checked, 59)
        ended = checked.run("judge", "check", checked.only_run.name, "-q")
    finally:
        shutil.copy(kept, rows)
    assert ended.returncode == 1
    assert "its data or its configuration has changed" in one_line_of(ended.stderr)


def test_an_interrupted_check_goes_on_where_it_was(tmp_path: Path, judge: JudgeServer) -> None:
    program = Program(tmp_path)
    write_questions(program, 30)
    assert program.run(*judging(judge.base_url)).returncode == 0
    before = len(judge.judged)
    judge.seconds = 0.05
    process = program.start("judge", "check", program.only_run.name, "-q")
    while len(judge.judged) - before < 20:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    judge.seconds = 0.0
    assert process.returncode == 130
    assert "Re-run the same command to resume" in err
    asked = len(judge.judged) - before
    assert asked < 120
    found = check(program)
    assert [one["n"] for one in found["experiments"]] == [30] * 4
    assert len(judge.judged) - before == 120
    program.end()
