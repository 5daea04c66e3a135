"""A run with failures, looked at later: the limit on failures, lists, reports, pages, and the totals of packs."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.failing_doors import DONE, INCOMPLETE, STOPPED, evaluation, pack, run
from tests.app.failing_endpoint import endpoint
from tests.app.test_failure_matrix import raising_evaluation
from tests.web.web_kit import viewing


@pytest.mark.parametrize("most", ["2", "50%"])
def test_as_many_failures_as_are_allowed_are_none_too_many(program: Program, most: str) -> None:
    with endpoint(answers=2) as url:
        assert run(program, evaluation(program), url, "--max-failures", most).code == DONE


def test_a_number_of_failures_that_is_none_is_a_usage_error(program: Program) -> None:
    ended = run(program, evaluation(program), NOWHERE, "--max-failures", "few")
    assert (ended.code, "--max-failures" in ended.last) == (2, True)


def test_a_finished_run_with_failures_is_still_told_as_one(program: Program) -> None:
    command = evaluation(program)
    with endpoint(answers=2) as url:
        run(program, command, url)
        again = run(program, command, url)
    assert again.code == DONE
    assert "Warning: 2 of 4 runs failed." in again.last
    assert "benchwright retry " in again.last
    listed = program.run("runs", "--columns", "state,failed")
    assert listed.stdout.splitlines()[1].split() == ["finished", "2"]


def served(answers: int) -> AbstractContextManager[str]:
    return endpoint(answers=answers) if answers else nullcontext(NOWHERE)


@pytest.mark.parametrize(
    ("answers", "total", "remark"),
    [
        (0, "no score", "incomplete: 4 of 4 cells have no result"),
        (3, "70 pts", "incomplete: 1 of 4 cells have no result"),
        (4, "100 pts", "★★★ Good"),
    ],
)
def test_a_packs_total_over_missing_cells_is_never_rated(
    program: Program, answers: int, total: str, remark: str
) -> None:
    command = [*pack(program), "--csv", "cells.csv"]
    with served(answers) as url:
        ended = run(program, command, url, "--no-probe")
        card, cells = ((program.directory / name).read_text() for name in ("card.md", "cells.csv"))
        assert ended.code == (DONE if answers == 4 else STOPPED if not answers else INCOMPLETE)
        shown = program.run("show", program.only_run.name).stdout
    for text in (ended.out, shown):
        assert f"m: {total}  {remark}" in " ".join(text.split("\n"))
    assert f"| {total if answers else '–'} | {remark} |" in card
    assert card.count("error") == cells.count(",error,") == 4 - answers
    assert ("★" in card + ended.out) == (answers == 4)


def test_every_door_of_a_finished_run_tells_what_is_missing(program: Program) -> None:
    with endpoint() as url:
        run(program, [*raising_evaluation(program), "-o", "out.json"], url)
    written = json.loads((program.directory / "out.json").read_text())
    assert written["summary"]["failures"] == {"graders:raises: RuntimeError: the grader has no key": 4}
    sentence = "m has no score by graders:raises: the scorer failed in all 4 trials"
    name = program.only_run.name
    shown = program.run("show", name).stdout
    assert sentence in " ".join(shown.split())
    assert "raises: no score (4 of 4 failed: RuntimeError: the grader has no key)" in shown
    assert program.run("report", name, "-o", "report.html").returncode == DONE
    assert sentence in (program.directory / "report.html").read_text()
    with viewing(program) as viewer:
        assert sentence in viewer.get(f"/runs/{name}").text
        assert 'data-label="failed">4<' in viewer.get("/").text
