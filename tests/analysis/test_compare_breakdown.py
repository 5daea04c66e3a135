"""Where B is better and where worse: differences by labels, and settings that differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.app.compare_kit import Made, two_runs, write_run

from benchwright.analysis.comparison.compare import compare
from benchwright.analysis.comparison.records import PairComparison, ScoreBreakdown, SettingDifference
from benchwright.records import Status, Target

GROUPS = ("history", "law", "physics")


def trials(values: Sequence[float]) -> list[Made]:
    """Samples that take turns in three groups."""
    return [Made(str(n), value, group=GROUPS[n % 3]) for n, value in enumerate(values)]


A = trials([1.0, 0.0, 1.0] * 8 + [1.0, 1.0, 0.0] * 4)
B = trials([1.0, 1.0, 0.0] * 7 + [0.0, 1.0, 1.0] * 5)


def pair_of(*references: str) -> PairComparison:
    (pair,) = compare(references).comparison.pairs
    return pair


def breakdown_of(*references: str) -> ScoreBreakdown:
    (found,) = pair_of(*references).breakdowns
    return found


def test_each_part_is_what_a_comparison_of_its_samples_alone_finds(tmp_path: Path) -> None:
    parts = {part.value: part for part in breakdown_of(*two_runs(tmp_path / "all", A, B)).parts}
    assert set(parts) == set(GROUPS)
    for group in GROUPS:
        alone = two_runs(tmp_path / group, *([one for one in side if one.group == group] for side in (A, B)))
        (score,) = pair_of(*alone).scores
        part = parts[group]
        assert (part.n, part.mean_a, part.mean_b) == (score.n, score.mean_a, score.mean_b)
        assert (part.difference, part.low, part.high) == (score.difference, score.low, score.high)


def test_the_parts_make_up_the_whole(tmp_path: Path) -> None:
    pair = pair_of(*two_runs(tmp_path, A, B))
    parts = pair.breakdowns[0].parts
    assert sum(part.n for part in parts) == pair.scores[0].n
    assert sum(part.n * part.difference for part in parts) == pytest.approx(
        pair.scores[0].n * pair.scores[0].difference
    )


def test_the_largest_loss_stands_first(tmp_path: Path) -> None:
    found = [part.difference for part in breakdown_of(*two_runs(tmp_path, A, B)).parts]
    assert found == sorted(found)


def test_a_failure_is_left_out_of_its_part_as_it_is_of_the_whole(tmp_path: Path) -> None:
    broken = [*B[:3], Made("3", group="history", failed=Status.PROVIDER_ERROR), *B[4:]]
    parts = {part.value: part.n for part in breakdown_of(*two_runs(tmp_path, A, broken)).parts}
    assert parts == {"history": 11, "law": 12, "physics": 12}


def test_a_label_that_names_every_sample_or_all_of_them_says_nothing(tmp_path: Path) -> None:
    for groups in ("uvwxyz", "aaaaaa"):
        side = [Made(group + str(n), 1.0, group=group) for n, group in enumerate(groups)]
        assert pair_of(*two_runs(tmp_path / groups, side, side)).breakdowns == []


def test_settings_that_differ_are_told_with_both_values(tmp_path: Path) -> None:
    warm = [Target("primary", "model", "http://127.0.0.1:9/v1", {"temperature": 1.0})]
    a = str(write_run(tmp_path / "a", A))
    b = str(write_run(tmp_path / "b", B, targets=warm))
    assert pair_of(a, b).settings == [SettingDifference("temperature", None, "1.0")]


class TestLowerIsBetter:
    """Imported runs may declare that a lower score is better: wins, losses and their order follow."""

    ORIGIN = {"format": "lm-eval", "program": "lm-eval", "scores": {"exact": {"lower_is_better": True}}}

    @pytest.fixture
    def pair(self, tmp_path: Path) -> PairComparison:
        return pair_of(
            *two_runs(tmp_path, A, B, kind="import", about={"origin": {"path": "x", **self.ORIGIN}})
        )

    def test_a_trial_is_won_if_its_score_went_down(self, pair: PairComparison) -> None:
        score = pair.scores[0]
        won, lost = score.won_and_lost_changes()
        assert all(change.b < change.a for change in won)
        assert all(change.b > change.a for change in lost)
        assert (len(won), len(lost)) == (score.wins, score.losses)

    def test_wins_and_losses_are_those_of_the_plain_score_the_other_way_round(
        self, pair: PairComparison, tmp_path: Path
    ) -> None:
        plain = pair_of(*two_runs(tmp_path / "plain", A, B)).scores[0]
        assert (pair.scores[0].wins, pair.scores[0].losses) == (plain.losses, plain.wins)

    def test_the_part_with_the_largest_loss_comes_first(self, pair: PairComparison) -> None:
        found = [part.difference for part in pair.breakdowns[0].parts]
        assert found == sorted(found, reverse=True)
