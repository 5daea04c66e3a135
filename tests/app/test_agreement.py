"""One verdict: what two doors show of a run is the same number, and it is the one worked out here by the plain rule.

The rule: of a trial the last attempt counts that was not cut off; no answer (refused, unparsed, at a limit) is worth
0; what failed has no score. Documented files count what failed as 0, and say so by their own names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import NamedTuple

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.known import known
from tests.rendered import as_text
from tests.web.web_kit import viewing

from benchwright.agents.cache.documents import output_document
from benchwright.agents.cache.runs import DocumentedRuns
from benchwright.analysis.comparison.compare import compare
from benchwright.analysis.comparison.records import ScoreComparison
from benchwright.analysis.export import load_run
from benchwright.analysis.run_list import list_runs
from benchwright.analysis.scores import mean_of, score_values_of
from benchwright.analysis.summary import summary_of
from benchwright.analysis.summary_records import RunSummary, ScoreSummary
from benchwright.app.report import ReportSettings, make_report
from benchwright.records import Status, Target
from benchwright.reports.summary import render_summary
from benchwright.runs.manifest import DataFile, read_manifest
from benchwright.runs.table import read_table

FAILURES = (Status.PROVIDER_ERROR, Status.EXECUTION_ERROR)
TWO = [Target(slot, slot, "http://127.0.0.1:9/v1") for slot in ("primary", "baseline")]


class Truth(NamedTuple):
    """What is true of one target by the plain rule: trials that count, how many failed, what each other is worth."""

    trials: int
    failed: int
    worth: list[float]

    @property
    def documented(self) -> list[float]:
        return [*self.worth, *[0.0] * self.failed]


def truth(trials: Sequence[Made], slot: str = "primary") -> Truth:
    """The rule in plain words, over the attempts in the order in which they ended."""
    counts: dict[tuple[str, int], Made] = {}
    for one in trials:
        if one.slot == slot and one.failed is not Status.CANCELLED:
            counts[one.sample, one.repeat] = one
    ended = list(counts.values())
    failed = sum(one.failed in FAILURES for one in ended)
    worth = [
        0.0 if one.failed is not None or one.value is None else one.value
        for one in ended
        if one.failed not in FAILURES
    ]
    return Truth(len(ended), failed, worth)


def plain() -> list[Made]:
    return made([1.0] * 11 + [0.0] * 5)


def refusals() -> list[Made]:
    return [*made([1.0] * 14), *(Made(f"{20 + n}", failed=Status.REFUSED) for n in range(6))]


def unparsed() -> list[Made]:
    return made([1.0, 0.0, None] * 7)


def failed() -> list[Made]:
    return [*made([1.0, 0.0] * 6), *(Made(f"{40 + n}", failed=FAILURES[n % 2]) for n in range(5))]


def cut_off() -> list[Made]:
    return [*made([1.0] * 9 + [0.0] * 3), *(Made(f"{50 + n}", failed=Status.CANCELLED) for n in range(5))]


def retried() -> list[Made]:
    return [
        *made([1.0] * 6 + [0.0] * 4),
        *(Made(f"{60 + n}", failed=Status.PROVIDER_ERROR) for n in range(4)),
        *(Made(f"{60 + n}", 1.0, attempt=1) for n in range(3)),
        Made("63", failed=Status.CANCELLED, attempt=1),
        Made("0", 0.0, attempt=1),
        Made("1", failed=Status.CANCELLED, attempt=1),
    ]


def repeated() -> list[Made]:
    return [Made(str(n), float((n + repeat) % 3 > 0), repeat) for n in range(12) for repeat in range(3)]


def grouped() -> list[Made]:
    return [Made(str(n), float(n % 5 > 1), group=f"g{n % 4}") for n in range(20)]


def graded() -> list[Made]:
    return [*made([0.1, 0.35, 0.8, 0.8, 1.0, 0.0]), Made("9", failed=Status.TRUNCATED)]


def graded_equal() -> list[Made]:
    return [*made([0.5] * 30), *(Made(f"{80 + n}", failed=FAILURES[n % 2]) for n in range(2))]


def equal_repeats_in_groups() -> list[Made]:
    return [Made(str(n), 0.8, repeat, group=f"g{n % 3}") for n in range(9) for repeat in range(2)]


def two_targets() -> list[Made]:
    """The primary refuses what the baseline gets right, and both fail sometimes."""
    trials = []
    for n in range(40):
        refuses = n % 4 == 0
        trials.append(
            Made(str(n), float(n % 3 > 0), failed=Status.REFUSED if refuses else None, slot="primary")
        )
        lost = FAILURES[0] if n % 13 == 0 else None
        trials.append(Made(str(n), float(n % 3 > 0 or refuses), failed=lost, slot="baseline"))
    return trials


def interrupted_twice() -> list[Made]:
    return [
        *made([1.0, 0.0, 1.0]),
        *(Made(f"{70 + n}", failed=Status.CANCELLED) for n in range(3)),
        *(Made(f"{70 + n}", failed=Status.CANCELLED, attempt=1) for n in range(2)),
        Made("72", 1.0, attempt=1),
        Made("70", 0.0, attempt=2),
    ]


KINDS: list[Callable[[], list[Made]]] = [
    *(plain, refusals, unparsed, failed, cut_off, retried, repeated, grouped, graded, graded_equal),
    *(equal_repeats_in_groups, two_targets, interrupted_twice),
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def trials(request: pytest.FixtureRequest) -> list[Made]:
    found: list[Made] = request.param()
    return found


@pytest.fixture
def run(trials: list[Made], tmp_path: Path) -> Path:
    return written(tmp_path / "home" / "runs" / "20260101T000000-agreement-00000000", trials)


def written(directory: Path, trials: Sequence[Made]) -> Path:
    slots = {one.slot for one in trials}
    rows = 1 + max(int(one.sample) for one in trials)
    return write_run(
        directory,
        trials,
        finished=not any(one.failed is Status.CANCELLED for one in trials),
        targets=[target for target in TWO if target.slot in slots],
        data=[DataFile("questions.jsonl", "0" * 32, rows)],
    )


def score_of(summary: RunSummary, slot: str) -> ScoreSummary:
    target = next(one for one in summary.targets if one.slot == slot)
    return next(one for one in target.scores if one.scorer == "exact")


def slots_in(trials: Sequence[Made]) -> list[str]:
    return sorted({one.slot for one in trials}, reverse=True)


def test_the_summary_is_the_plain_rule(run: Path, trials: list[Made]) -> None:
    summary = summary_of(run)
    for slot in slots_in(trials):
        true, told = truth(trials, slot), score_of(summary, slot)
        assert (told.n, told.n_scored) == (true.trials, len(true.worth))
        assert known(told.mean_scored) == pytest.approx(fmean(true.worth))
        assert told.mean == pytest.approx(fmean(true.documented))
        assert told.std == pytest.approx(pstdev(true.documented))
        if true.failed and max(true.worth) <= 1:
            assert told.bounds == pytest.approx(
                (sum(true.worth) / true.trials, (sum(true.worth) + true.failed) / true.trials)
            )
        else:
            assert told.bounds is None
        assert known(told.low) <= known(told.mean_scored) <= known(told.high)
        assert known(told.low) >= 0
        assert known(told.high) <= 1
        assert known(told.low) < known(told.high), "no finite number of trials leaves nothing open"
    assert summary.done == sum(truth(trials, slot).trials for slot in slots_in(trials))


def test_the_report_has_the_scores_of_the_summary(run: Path) -> None:
    summary = summary_of(run)
    report = make_report([str(run)], ReportSettings())
    assert {part.slot: part.scores for part in report.runs} == {
        target.slot: target.scores for target in summary.targets
    }
    assert {part.slot: (part.trials, part.statuses) for part in report.runs} == {
        target.slot: (target.trials, target.statuses) for target in summary.targets
    }


def test_compare_has_the_means_of_the_summary(run: Path, trials: list[Made], tmp_path: Path) -> None:
    other = written(tmp_path / "other", [Made(one.sample, 1.0) for one in plain()])
    comparison = compare([str(other), str(run)]).comparison
    score = score_of(summary_of(run), "primary")
    second = next(one for one in comparison.runs if one.run == run.name)
    assert second.trials == score.n
    assert (second.errors, second.no_answer) == (score.n - score.n_scored, score.no_answer)
    assert comparison.metrics["exact"] == pytest.approx(score.mean)
    assert comparison.metrics["exact.scored"] == pytest.approx(score.mean_scored)


def test_compare_of_a_run_with_its_baseline_is_the_line_of_the_eval(run: Path, trials: list[Made]) -> None:
    if len(slots_in(trials)) < 2:
        assert summary_of(run).differences == []
        return
    (line,) = summary_of(run).differences
    (score,) = compared(str(run)).scores
    for name in ("n", "difference", "wins", "losses", "ties", "method", "test", "low", "high", "p_value"):
        assert getattr(line, name) == getattr(score, name), name
    assert known(line.detectable) == pytest.approx(known(score.detectable))
    assert line.difference < 0, "a model that refuses what the other one knows is not better"


def compared(*references: str) -> Pair:
    comparison = compare(list(references)).comparison
    (pair,) = comparison.pairs
    return Pair(pair.scores)


class Pair(NamedTuple):
    scores: list[ScoreComparison]


def test_rows_that_are_exported_add_up_to_the_summary(run: Path, trials: list[Made]) -> None:
    summary, rows = summary_of(run), list(load_run(run).trials)
    for slot in slots_in(trials):
        own = [row for row in rows if row.slot == slot]
        score = score_of(summary, slot)
        failed = [row for row in own if row.status in ("provider_error", "execution_error", "grader_error")]
        worth = [row.scores.get("exact") or 0.0 for row in own if row not in failed]
        assert (len(own), len(worth)) == (score.n, score.n_scored)
        assert fmean(worth) == pytest.approx(known(score.mean_scored))


def test_the_documented_file_has_the_documented_figures_of_the_summary(run: Path, trials: list[Made]) -> None:
    manifest = read_manifest(run)
    document = output_document(DocumentedRuns(read_table(run), manifest), None)
    summary = summary_of(run)
    score = score_of(summary, "primary")
    figures = document["summary"]["eval_fns"]["exact"]
    assert (figures["mean"], figures["std"]) == (score.mean, score.std)
    assert (figures["min"], figures["max"]) == (score.min, score.max)
    assert {f"pass_at_{entry.k}": entry.pass_at_k for entry in score.passes} == {
        name: value for name, value in figures.items() if name.startswith("pass_at_")
    }
    assert document["summary"]["total_runs"] == summary.done


def test_the_list_of_runs_counts_the_same_trials(
    run: Path, trials: list[Made], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    (listed,) = list_runs()
    if listed.state != "finished":
        assert listed.done == summary_of(run).done


def test_a_part_of_a_run_has_its_mean_by_the_same_computation(run: Path, trials: list[Made]) -> None:
    manifest, table = read_manifest(run), read_table(run)
    whole = mean_of(score_values_of(manifest, table, "exact", table.counted_rows("primary")))
    score = score_of(summary_of(run), "primary")
    assert known(whole).mean == score.mean_scored
    assert known(known(whole).interval) == (score.low, score.high)


def test_the_viewer_shows_the_numbers_of_the_summary(run: Path, trials: list[Made], tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.home = tmp_path / "home"
    program.environment["BENCHWRIGHT_HOME"] = str(program.home)
    score = score_of(summary_of(run), "primary")
    with viewing(program) as viewer:
        page = viewer.get(f"/runs/{run.name}").text + viewer.get(f"/runs/{run.name}/figures").text
    program.end()
    for value in (score.mean_scored, score.low, score.high):
        assert f"{known(value):.3f}" in page, value


def test_the_terminal_tells_what_no_answer_and_what_was_cut_off_are_worth(tmp_path: Path) -> None:
    summary = summary_of(written(tmp_path / "run", [*refusals(), *cut_off()[-5:]]))
    text = as_text(render_summary(summary))
    assert "6 without an answer count as 0" in text
    assert "5 more were cut off and do not count" in text
    failures = as_text(render_summary(summary_of(written(tmp_path / "failed", failed()))))
    assert "between 0.353 and 0.647 if the failures had been scored" in failures
