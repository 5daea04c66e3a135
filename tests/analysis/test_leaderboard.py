"""Leaderboards: who stands in which row and column, and what the data can tell of their order."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.compare_kit import STARTED, Made, made, paired_outcomes, write_run

from benchwright.analysis.comparison.compare import compare
from benchwright.analysis.leaderboard.board import BoardEntry, BoardOptions, build_leaderboard
from benchwright.analysis.leaderboard.records import BoardRow, Leaderboard, LeaderboardCell, TokenPrice
from benchwright.analysis.leaderboard.row_order import sort_board
from benchwright.analysis.quality_and_speed.pareto_fronts import FrontCandidate, ResourcesPerTrial, fronts
from benchwright.analysis.summary import summary_of
from benchwright.errors import UserError
from benchwright.records import Status, Target, TaskSpec
from benchwright.runs.manifest import DataFile

URL = "http://127.0.0.1:9/v1"


def run_of(
    place: Path,
    model: str,
    trials: Sequence[Made],
    task: str = "questions",
    name: str = "",
    **changes: Any,
) -> Path:
    """A run of a model over a dataset of this name."""
    wanted: dict[str, Any] = {
        "targets": [Target("primary", model, URL)],
        "task": TaskSpec(task, "1", f"solver of {task}"),
        "data": [DataFile(f"{task}.jsonl", f"{len(task):032}", len(trials))],
        **changes,
    }
    return write_run(place / (name or f"{task}-{model}"), trials, **wanted)


def board_of(*runs: Path, **wanted: Any) -> Leaderboard:
    return build_leaderboard([BoardEntry(run) for run in runs], BoardOptions(**wanted))


def row(board: Leaderboard, model: str) -> BoardRow:
    (found,) = (one for one in board.rows if one.title == model)
    return found


def cell(board: Leaderboard, model: str, column: int = 0) -> LeaderboardCell:
    found = row(board, model).cells[column]
    assert found is not None
    return found


def first(found: BoardRow) -> LeaderboardCell:
    """The cell of the first column that the row has a value of."""
    return next(one for one in found.cells if one is not None)


def ranked(board: Leaderboard) -> dict[str, tuple[int | None, str]]:
    return {found.title: (first(found).rank, first(found).standing) for found in board.rows}


class TestRanks:
    def test_who_is_better_by_the_test_of_compare_ranks_before(self, tmp_path: Path) -> None:
        worse, better = paired_outcomes(wins=30, losses=2, both=30, neither=18)
        runs = run_of(tmp_path, "small", made(worse)), run_of(tmp_path, "large", made(better))
        board = board_of(*runs)
        assert ranked(board) == {"large": (1, "best"), "small": (2, "behind")}
        (score,) = compare([str(one) for one in runs]).comparison.pairs[0].scores
        assert abs(board.pairs[0].difference) == pytest.approx(abs(score.difference))
        assert (board.pairs[0].p_value, board.pairs[0].test) == (score.p_value, score.test)

    def test_where_the_data_cannot_tell_the_rank_is_shared(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=5, losses=3, both=10, neither=10)
        board = board_of(run_of(tmp_path, "a", made(a)), run_of(tmp_path, "b", made(b)))
        assert ranked(board) == {"b": (1, "best"), "a": (1, "tied")}

    def test_a_pair_that_would_pass_alone_does_not_among_many(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=13, losses=4, both=20, neither=20)
        alone = board_of(run_of(tmp_path, "a", made(a)), run_of(tmp_path, "b", made(b)))
        assert [one.rank for one in (cell(alone, "b"), cell(alone, "a"))] == [1, 2]
        others = [run_of(tmp_path, f"like-{place}", made(a)) for place in range(4)]
        many = board_of(tmp_path / "questions-a", tmp_path / "questions-b", *others)
        assert many.tests == 15
        assert {one.rank for found in many.rows for one in found.cells if one is not None} == {1}

    def test_samples_that_differ_are_compared_without_pairing_and_that_is_said(self, tmp_path: Path) -> None:
        some = [Made(f"x{n}", float(n < 55)) for n in range(60)]
        others = [Made(f"y{n}", float(n < 20)) for n in range(60)]
        board = board_of(run_of(tmp_path, "a", some), run_of(tmp_path, "b", others))
        assert ranked(board) == {"a": (1, "best"), "b": (2, "behind")}
        assert (board.columns[0].pairs, board.columns[0].paired, board.columns[0].tests) == (1, 0, ["score"])

    def test_one_alone_has_no_rank(self, tmp_path: Path) -> None:
        assert cell(board_of(run_of(tmp_path, "a", made([1.0, 0.0]))), "a").rank is None

    @given(st.lists(st.sampled_from([0.0, 1.0]), min_size=24, max_size=24))
    def test_ranks_do_not_depend_on_the_order_of_the_runs(self, values: list[float]) -> None:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            parts = {model: values[8 * at : 8 * at + 8] * 6 for at, model in enumerate("abc")}
            runs = [run_of(place, model, made(part)) for model, part in parts.items()]
            assert ranked(board_of(*runs)).items() == ranked(board_of(*reversed(runs))).items()


class TestColumns:
    def test_a_model_that_did_several_tasks_has_one_row(self, tmp_path: Path) -> None:
        runs = [
            run_of(tmp_path, model, made([1.0, 0.0]), task) for model in "ab" for task in ("sums", "words")
        ]
        board = board_of(*runs)
        assert [column.name for column in board.columns] == ["eval sums", "eval words"]
        assert [found.title for found in board.rows] == ["a", "b"]
        assert all(one is not None for found in board.rows for one in found.cells)

    def test_data_that_differs_is_a_column_of_its_own(self, tmp_path: Path) -> None:
        other = [DataFile("questions.jsonl", "f" * 32, 2)]
        board = board_of(
            run_of(tmp_path, "a", made([1.0, 0.0])), run_of(tmp_path, "b", made([1.0, 1.0]), data=other)
        )
        assert [column.name for column in board.columns] == ["eval questions", "eval questions (2)"]
        assert "the data differs" in board.columns[1].apart
        assert board.pairs == []

    def test_of_one_task_all_scores_are_shown_and_of_several_thefirst(self, tmp_path: Path) -> None:
        both = [Made(str(n), own={"exact": 1.0, "style": n / 4}) for n in range(4)]
        sums = run_of(tmp_path, "a", both, "sums")
        assert [column.name for column in board_of(sums).columns] == ["exact", "style"]
        words = run_of(tmp_path, "a", both, "words")
        assert [column.score for column in board_of(sums, words).columns] == ["exact", "exact"]
        named = board_of(sums, words, scores=("style",))
        assert [column.score for column in named.columns] == ["style", "style"]

    def test_a_score_that_no_run_has_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="No run has the score 'taste': they have exact"):
            board_of(run_of(tmp_path, "a", made([1.0])), scores=("taste",))


class TestRows:
    def test_runs_that_meet_in_a_column_are_told_apart_by_what_was_typed(self, tmp_path: Path) -> None:
        runs = [
            run_of(
                tmp_path, "m", made([1.0, 0.0]), name=f"hot-{heat}", settings={"temperature": heat},
                targets=[Target("primary", "m", URL, {"temperature": heat})],
            )
            for heat in (0.0, 0.7)
        ]  # fmt: skip
        assert [found.title for found in board_of(*runs).rows] == [
            "m (temperature=0.0)",
            "m (temperature=0.7)",
        ]

    def test_of_equal_runs_the_newest_stays_with_the_others(self, tmp_path: Path) -> None:
        old = run_of(tmp_path, "m", made([1.0, 0.0]), name="old", created_at=STARTED - 5_000_000_000)
        new = run_of(tmp_path, "m", made([1.0, 1.0]), name="new")
        other = run_of(tmp_path, "m", made([1.0, 1.0]), "words")
        board = board_of(old, new, other)
        assert sorted(found.runs for found in board.rows) == [["new", "words-m"], ["old"]]
        assert all(found.detail.startswith("2027-01-15 ") for found in board.rows)

    def test_every_target_of_a_run_has_a_row(self, tmp_path: Path) -> None:
        targets = [Target("primary", "new", URL), Target("baseline", "old", URL)]
        trials = [Made(str(n), float(n < right), slot=slot)
                  for slot, right in (("primary", 9), ("baseline", 3)) for n in range(10)]  # fmt: skip
        run = run_of(tmp_path, "both", trials, targets=targets)
        board = board_of(run)
        assert {found.title: first(found).rank for found in board.rows} == {"new": 1, "old": 2}
        assert board.columns[0].paired == 1
        only = build_leaderboard([BoardEntry(run, "baseline")])
        assert [found.title for found in only.rows] == ["old"]

    def test_each_run_can_have_a_row(self, tmp_path: Path) -> None:
        runs = [run_of(tmp_path, "m", made([1.0]), task) for task in ("sums", "words")]
        assert len(board_of(*runs, group_by="run").rows) == 2


class TestFigures:
    def test_a_cell_has_the_figures_of_the_summary(self, tmp_path: Path) -> None:
        trials = [*made([1.0] * 7 + [0.0] * 3 + [None]), Made("lost", failed=Status.PROVIDER_ERROR)]
        run = run_of(tmp_path, "m", trials)
        found, target = cell(board_of(run), "m"), summary_of(run).targets[0]
        (score,) = target.scores
        assert (found.mean, found.low, found.high) == (score.mean_scored, score.low, score.high)
        assert (found.n, found.n_scored, found.failed) == (12, 11, 1)

    def test_what_a_row_took_is_the_sum_of_its_runs(self, tmp_path: Path) -> None:
        runs = [run_of(tmp_path, "m", made([1.0] * 4), task) for task in ("sums", "words")]
        found = row(board_of(*runs, prices={"m": TokenPrice(1.0, 10.0)}), "m")
        requests = [summary_of(run).targets[0].requests for run in runs]
        assert found.seconds == sum(one.wall_time_seconds for one in requests)
        assert (found.prompt_tokens, found.completion_tokens) == (80, 40)
        assert found.cost == pytest.approx((80 * 1.0 + 40 * 10.0) / 1e6)

    def test_a_run_of_several_models_says_that_its_time_is_that_of_all(self, tmp_path: Path) -> None:
        targets = [Target("primary", "new", URL), Target("baseline", "old", URL)]
        trials = [Made("1", slot="primary"), Made("1", slot="baseline")]
        board = board_of(run_of(tmp_path, "both", trials, targets=targets))
        assert board.notes == ["the time of 1 run of several models is that of all of them together"]

    def test_an_unfinished_run_is_told(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "cut", made([1.0]), finished=False)
        assert board_of(run).notes == ["cut is unfinished: only its finished trials count"]


class TestOrder:
    def test_rows_are_sorted_by_rank_or_by_a_column_or_by_a_figure(self, tmp_path: Path) -> None:
        runs = [
            run_of(tmp_path, "a", [*made([0.0] * 9), Made("x", failed=Status.PROVIDER_ERROR)], "sums"),
            run_of(tmp_path, "b", made([1.0] * 10), "sums"),
            run_of(tmp_path, "a", made([1.0, 0.0]), "words"),
            run_of(tmp_path, "b", made([0.0, 0.0]), "words"),
        ]
        board = board_of(*runs)
        order = {by: "".join(one.model for one in sort_board(board, by).rows)
                 for by in ("rank", "eval words", "failed", "model")}  # fmt: skip
        assert order == {"rank": "ba", "eval words": "ab", "failed": "ba", "model": "ab"}

    def test_an_order_that_there_is_not_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"There is no order 'tokns'.*tokens"):
            sort_board(board_of(run_of(tmp_path, "a", made([1.0]))), "tokns")


POINTS = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=2, max_size=12)


class TestFronts:
    @given(POINTS)
    def test_on_the_front_is_who_is_beaten_by_none_in_both(self, pairs: list[tuple[int, int]]) -> None:
        candidates = [
            FrontCandidate(str(place), float(mean), None, None, ResourcesPerTrial(seconds=float(seconds)))
            for place, (seconds, mean) in enumerate(pairs)
        ]
        (found,) = fronts("task", "score", candidates)
        kept = {(point.spent, point.mean) for point in found.points if point.on_front}
        unbeaten = {
            (one, mean)
            for one, mean in pairs
            if not any((a <= one and b > mean) or (a < one and b >= mean) for a, b in pairs)
        }
        assert kept == unbeaten

    def test_tokens_stand_for_cost_where_no_price_is_known(self) -> None:
        free = [FrontCandidate(one, 0.5, None, None, ResourcesPerTrial(1.0, 10.0)) for one in "ab"]
        priced = [FrontCandidate(one, 0.5, None, None, ResourcesPerTrial(1.0, 10.0, 0.1)) for one in "ab"]
        assert [found.spent for found in fronts("task", "score", free)] == ["seconds", "tokens"]
        assert [found.spent for found in fronts("task", "score", priced)] == ["seconds", "cost"]


def test_less_is_better_if_an_imported_score_says_so(tmp_path: Path) -> None:
    origin = {
        "format": "lm-eval",
        "program": "lm-eval",
        "path": "x",
        "scores": {"exact": {"lower_is_better": True}},
    }
    few, many = paired_outcomes(wins=30, losses=0, both=20, neither=10)
    runs = [
        run_of(tmp_path, name, trials, kind="import", about={"origin": origin})
        for name, trials in (("low", made(few)), ("high", made(many)))
    ]
    board = board_of(*runs)
    assert cell(board, "low").mean < cell(board, "high").mean  # type: ignore[operator]
    assert (cell(board, "low").rank, cell(board, "high").rank) == (1, 2)
    assert cell(board, "low").standing == "best"
    assert [one.title for one in board.rows] == ["low", "high"]
    assert [one.title for one in sort_board(board, board.columns[0].name).rows] == ["low", "high"]
    assert board.fronts[board.columns[0].name] == []
