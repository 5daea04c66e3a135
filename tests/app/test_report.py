"""`report`: what it tells is what `show` and `compare` tell, of every kind of run, bounded in size."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.benchmark_kit import knowing, write_mmlu
from tests.app.compare_kit import Made, made, two_runs, write_run
from tests.app.pack_kit import Packs
from tests.known import known
from tests.simulated import simulated_endpoint

from benchwright.analysis.comparison.compare import compare
from benchwright.analysis.report.records import Report
from benchwright.analysis.summary import summary_of
from benchwright.app.report import ReportSettings, make_report, write_report
from benchwright.errors import UserError
from benchwright.records import Status, Target
from benchwright.runs.journal import BODIES_FILE
from benchwright.runs.manifest import DataFile
from benchwright.runs.process_delays import LoopLag

MIXED = [
    Made("0", 1.0, group="sums", ttft=0.2, latency=2.0, span="an answer"),
    Made("1", 0.0, group="sums", ttft=0.4, latency=5.0),
    Made("2", None, group="words"),
    Made("3", failed=Status.PROVIDER_ERROR, group="words"),
]


def report_of(*references: str | Path, samples: int = 30, anyway: bool = False) -> Report:
    return make_report([str(one) for one in references], ReportSettings(samples=samples, anyway=anyway))


def text_of(path: Path) -> str:
    """The words of a page, without its markup."""
    body = path.read_text().partition("</head>")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


class TestOneRun:
    def test_scores_and_statuses_are_those_of_the_summary(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", MIXED)
        (part,), target = report_of(run).runs, summary_of(run).targets[0]
        assert part.scores == target.scores
        assert part.statuses == {"provider_error": 1, "scored": 2, "unparsed": 1}
        assert part.requests == target.requests

    def test_percentiles_are_those_of_the_summary(self, tmp_path: Path) -> None:
        run = write_run(
            tmp_path / "run", [Made(str(n), ttft=0.1 + n / 100, latency=1 + n) for n in range(50)]
        )
        ttft, latency = report_of(run).distributions
        requests = summary_of(run).targets[0].requests
        told = [one.value for one in (*ttft.curves[0].quantiles, *latency.curves[0].quantiles)]
        names = ("ttft_p50", "ttft_p95", "ttft_p99", "latency_p50", "latency_p95", "latency_p99")
        assert told == pytest.approx([getattr(requests, name) for name in names])

    def test_the_page_has_the_numbers_with_their_denominators(self, tmp_path: Path) -> None:
        ungrouped = [msgspec.structs.replace(trial, group=None) for trial in MIXED]
        run, page = write_run(tmp_path / "run", ungrouped), tmp_path / "report.html"
        write_report([str(run)], page, ReportSettings())
        text, (score,) = text_of(page), summary_of(run).targets[0].scores
        assert (score.mean_scored, score.n_scored, score.n) == (1 / 3, 3, 4)
        assert (
            f"3 of 4 0.333 [{known(score.low):.3f}, {known(score.high):.3f}] 0.250 [0.250, 0.500] 1 0" in text
        )
        assert "1 of 4 trials failed (25.0%). A failure is not a wrong answer" in text

    def test_groups_are_broken_down_as_the_summary_counts(self, tmp_path: Path) -> None:
        found = report_of(write_run(tmp_path / "run", MIXED)).breakdowns[0]
        assert (found.label, found.score) == ("group", "exact")
        rows = {row.name: row.marks[0] for row in found.rows}
        assert (rows["sums"].n, rows["sums"].total, rows["sums"].mean) == (2, 2, 0.5)
        assert (rows["words"].n, rows["words"].total, rows["words"].mean) == (1, 2, 0.0), (
            "no answer is 0, and a failure is left out"
        )
        assert rows["sums"].low is not None, "the trials of one group are independent of each other"

    def test_labels_are_broken_down_whichever_trials_have_them(self, tmp_path: Path) -> None:
        trials = [Made("0", 1.0, group="sums"), Made("1", 0.0), Made("2", 1.0, group="words"), Made("3", 1.0)]
        (found,) = [
            one for one in report_of(write_run(tmp_path / "run", trials)).breakdowns if one.label == "group"
        ]
        assert {row.name: row.marks[0].mean for row in found.rows} == {"sums": 1.0, "words": 1.0}

    def test_a_conversation_that_was_lost_is_told_and_the_others_are_shown(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", made([1.0, 0.0, 1.0]))
        bodies = run / BODIES_FILE
        first, _, third = bodies.read_bytes().splitlines()
        bodies.write_bytes(b"\n".join([first, b"x" * len(first), third]) + b"\n")
        (part,) = report_of(run).runs
        words = {
            talk.sample: "".join(piece.text for message in talk.messages for piece in message.pieces)
            for talk in part.conversations
        }
        assert words["1"] == "the conversation was lost"
        assert "question 0" in words["0"]
        assert "question 2" in words["2"]

    def test_a_part_of_each_kind_is_among_the_conversations(self, tmp_path: Path) -> None:
        more = [Made(f"more {number}") for number in range(40)]
        (part,) = report_of(write_run(tmp_path / "run", [*MIXED, *more])).runs
        kinds = [talk.selection_reason for talk in part.conversations]
        assert set(kinds) == {"failed", "no answer", "below 1", "slowest", "passed"}
        assert len(kinds) == 30
        assert kinds == sorted(kinds, key=["failed", "no answer", "below 1", "slowest", "passed"].index)

    def test_no_more_conversations_are_shown_than_asked_for(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", made([1.0, 0.0] * 20))
        assert len(report_of(run, samples=7).runs[0].conversations) == 7
        assert report_of(run, samples=0).runs[0].conversations == []

    def test_what_was_taken_over_from_another_run_is_not_timed(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", made([1.0] * 5, reused=True))
        report = report_of(run)
        assert report.distributions == []
        assert report.runs[0].waterfalls == []
        assert report.runs[0].by_latency == []

    def test_latency_bins_have_all_trials_between_them(self, tmp_path: Path) -> None:
        trials = [Made(str(n), float(n < 100), latency=1 + n / 100) for n in range(200)]
        (found,) = report_of(write_run(tmp_path / "run", trials)).runs[0].by_latency
        assert sum(one.mark.n for one in found.bins) == found.n == 200
        assert [one.mark.mean for one in found.bins] == [1.0] * 4 + [0.0] * 4
        assert found.bins[0].low == pytest.approx(1.0)

    def test_the_slowest_trials_have_a_waterfall_of_their_own(self, tmp_path: Path) -> None:
        trials = [Made(str(n), latency=1 + n / 100) for n in range(100)]
        spread, slow = report_of(write_run(tmp_path / "run", trials)).runs[0].waterfalls
        assert (len(spread.trials), len(slow.trials)) == (40, 20)
        assert [trial.sample for trial in slow.trials] == [str(n) for n in range(99, 79, -1)]
        assert [segment.kind for segment in slow.trials[0].segments] == ["first token", "generation"]
        assert slow.trials[0].length == pytest.approx(1.99)

    def test_the_size_does_not_grow_with_the_trials(self, tmp_path: Path) -> None:
        sizes = [
            write_report(
                [str(write_run(tmp_path / str(n), made([1.0, 0.0] * (n // 2))))],
                tmp_path / f"{n}.html",
                ReportSettings(samples=5),
            )
            for n in (1_000, 5_000)
        ]
        assert sizes[1] < sizes[0] * 1.1 < 300_000

    def test_a_run_of_which_nothing_is_done_yet_has_a_report(self, tmp_path: Path) -> None:
        run, page = write_run(tmp_path / "run", [], finished=False), tmp_path / "report.html"
        write_report([str(run)], page, ReportSettings())
        assert "This run is unfinished: 0 of" in text_of(page)
        assert "0 of 0 no score –" in text_of(page)

    def test_its_own_word_replaces_the_title(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", made([1.0]))
        assert report_of(run).title == "eval questions: model"
        assert make_report([str(run)], ReportSettings(title="Prompt 3")).title == "Prompt 3"


class TestBanners:
    def test_what_is_true_is_told(self, tmp_path: Path) -> None:
        trials = made([1.0, 1.0], simulated=True)
        about = {
            "benchmark": "mmlu",
            "breakdowns": [],
            "departures": ["only some of the samples"],
        }
        run = write_run(tmp_path / "run", trials, finished=False, kind="benchmark", about=about)
        text = " ".join(report_of(run).runs[0].banners)
        assert "Simulated" in text
        assert "not comparable to published ones: only some of the samples" in text
        assert "unfinished: 2 of 2 trials are done" in text

    def test_a_client_too_busy_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LoopLag, "spoils_timings", True)
        (banner,) = report_of(write_run(tmp_path / "run", made([1.0]))).runs[0].banners
        assert banner.startswith(
            "Timings invalid: the client was too busy (loop lag p99 0.0 ms, longest 0 ms)."
        )

    def test_a_plain_run_has_none(self, tmp_path: Path) -> None:
        assert report_of(write_run(tmp_path / "run", made([1.0]))).runs[0].banners == []


class TestSeveral:
    def test_the_comparison_is_that_of_compare(self, tmp_path: Path) -> None:
        paths = two_runs(tmp_path, made([0.0] * 10 + [1.0] * 10), made([1.0] * 18 + [0.0] * 2))
        assert report_of(*paths).comparison == compare(paths).comparison

    def test_changed_samples_come_with_both_conversations(self, tmp_path: Path) -> None:
        paths = two_runs(tmp_path, made([0.0, 1.0, 1.0]), made([1.0, 0.0, 1.0]))
        (flips,) = report_of(*paths).flips
        assert (flips.won, flips.lost) == (1, 1)
        assert [(flip.change.sample, flip.won) for flip in flips.flips] == [("1", False), ("0", True)]
        for flip in flips.flips:
            assert flip.a is not None
            assert flip.b is not None
            assert flip.a.sample == flip.b.sample == flip.change.sample

    def test_other_data_are_not_taken_for_the_same_samples(self, tmp_path: Path) -> None:
        a = write_run(tmp_path / "a", [Made("0", 0.0, asked="one"), Made("1", 1.0, asked="two")])
        other = [DataFile("questions.jsonl", "f" * 32, 2)]
        b = write_run(tmp_path / "b", [Made("1", 1.0, asked="one"), Made("0", 1.0, asked="two")], data=other)
        (flips,) = report_of(a, b, anyway=True).flips
        (flip,) = flips.flips
        assert flip.a is not None
        assert flip.b is None
        assert "The data differ" in flips.note

    def test_what_is_not_comparable_is_told_and_nothing_compared(self, tmp_path: Path) -> None:
        a = write_run(tmp_path / "a", made([1.0]))
        b = write_run(tmp_path / "b", made([1.0]), data=[DataFile("other.jsonl", "1" * 32, 1)])
        page = tmp_path / "report.html"
        write_report([str(a), str(b)], page, ReportSettings())
        assert "NOT COMPARED" in text_of(page)

    def test_a_run_with_a_baseline_is_compared_within_itself(self, tmp_path: Path) -> None:
        targets = [Target("primary", "new", "http://h/v1"), Target("baseline", "old", "http://h/v1")]
        trials = [*made([1.0, 1.0]), *made([0.0, 1.0], slot="baseline")]
        report = report_of(write_run(tmp_path / "run", trials, targets=targets))
        assert [(run.letter, run.model, run.trials) for run in report.runs] == [
            ("A", "old", 2),
            ("B", "new", 2),
        ]
        assert report.title == "eval questions: old and new"
        assert [fact.values for fact in report.facts if fact.name == "model"] == [["old", "new"]]

    def test_three_runs_are_each_compared_with_the_first(self, tmp_path: Path) -> None:
        runs = [write_run(tmp_path / name, made([float(name == "c")] * 20)) for name in "abc"]
        report = report_of(*runs, samples=4)
        assert [run.letter for run in report.runs] == ["A", "B", "C"]
        (flips,) = report.flips
        assert (flips.a, flips.b, flips.won, len(flips.flips)) == ("A", "C", 20, 4)
        assert flips.note == "4 of 20 are shown, the largest changes first."
        assert [len(curve.curves) for curve in report.distributions] == [3, 3]


class TestProvenance:
    def test_of_the_endpoint_only_the_host_is_told(self, tmp_path: Path) -> None:
        address = "https://me:hunter2secret@models.example:8443/team-path/v1?key=abc"
        run = write_run(
            tmp_path / "run",
            made([1.0]),
            targets=[Target("primary", "model", address)],
            settings={
                "base_url": address,
                "judge_base_url": address,
                "dataset": "/home/me/private/rows.jsonl",
            },
        )
        page = tmp_path / "report.html"
        write_report([str(run)], page, ReportSettings())
        content = page.read_text()
        assert "models.example:8443" in content
        assert "…/rows.jsonl" in content
        for hidden in ("hunter2secret", "team-path", "key=abc", "/home/me"):
            assert hidden not in content


class TestFiles:
    def test_a_documented_file_has_the_chapters_that_it_can_fill(self, tmp_path: Path) -> None:
        samples = [{"id": str(n), "correct": n % 2 == 0, "predicted": "B"} for n in range(10)]
        file = tmp_path / "other.json"
        file.write_text(json.dumps({"benchmark": "mmlu", "model": "m", "sample_results": samples}))
        report = report_of(file)
        (part,) = report.runs
        assert [(score.scorer, score.n_scored, score.mean_scored) for score in part.scores] == [
            ("accuracy", 10, 0.5),
            ("score", 10, 0.5),
        ]
        assert part.banners[0].startswith("From a result file: conversations")
        assert part.conversations == []
        assert part.waterfalls == []
        assert report.breakdowns == []
        page = tmp_path / "report.html"
        write_report([str(file)], page, ReportSettings())
        assert "Nothing was timed." in text_of(page)

    def test_the_results_of_an_eval_are_taken_with_both_models(self, tmp_path: Path) -> None:
        runs = [
            {"run_index": 0, "success": True, "scores": {"exact": score}, "model_tag": tag}
            for tag, score in (("primary", 1.0), ("baseline", 0.0))
        ]
        rows = [{"row_index": number, "runs": runs} for number in range(8)]
        config = {"model": "new", "baseline_model": "old", "dataset": "rows.jsonl", "n_runs": 1}
        file = tmp_path / "eval.json"
        file.write_text(json.dumps({"config": config, "rows": rows}))
        report = report_of(file)
        assert [(run.letter, run.model, run.scores[0].mean) for run in report.runs] == [
            ("A", "old", 0.0),
            ("B", "new", 1.0),
        ]
        (flips,) = report.flips
        assert (flips.won, flips.flips[0].a, flips.flips[0].b) == (8, None, None)


class TestCommand:
    @pytest.fixture
    def run(self, program: Program) -> str:
        return str(write_run(program.home / "runs" / "20270115T080000-questions", made([1.0, 0.0])))

    def test_it_writes_report_html_unless_told_otherwise(self, program: Program, run: str) -> None:
        ended = program.run("report", "20270115")
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr.startswith("report.html (0.")
        assert (program.directory / "report.html").read_text().startswith("<!doctype html>")

    def test_a_report_is_replaced_and_another_file_is_not(self, program: Program, run: str) -> None:
        for _ in range(2):
            assert program.run("report", run, "-o", "out.html").returncode == 0
        program.write("notes.html", "<p>mine")
        ended = program.run("report", run, "-o", "notes.html")
        assert ended.returncode == 1
        assert "exists and is not a report" in one_line_of(ended.stderr)
        assert (program.directory / "notes.html").read_text() == "<p>mine"

    def test_a_run_that_is_none_is_told_with_the_nearest(self, program: Program, run: str) -> None:
        ended = program.run("report", "20270115T080000-question5")
        assert ended.returncode == 1
        assert "Did you mean '20270115T080000-questions'?" in one_line_of(ended.stderr)
        assert not (program.directory / "report.html").exists()

    def test_a_directory_is_no_place_for_it(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", made([1.0]))
        with pytest.raises(UserError, match="is a directory"):
            write_report([str(run)], tmp_path, ReportSettings())

    def test_a_benchmark_is_broken_down_by_its_own_labels(self, program: Program) -> None:
        path = write_mmlu(program, 12)
        with knowing("mmlu", path, 0.5) as url:
            ended = program.run("--base-url", url, "--model", "m", "run", "mmlu")
        assert ended.returncode == 0, ended.stderr
        report = report_of(program.only_run)
        labels = [found.label for found in report.breakdowns]
        assert labels[:2] == ["category", "subject"]
        assert [row.name for row in report.breakdowns[1].rows] == sorted(
            ["anatomy", "astronomy", "virology", "marketing"]
        )
        spans = [
            piece.text
            for talk in report.runs[0].conversations
            for message in talk.messages
            for piece in message.pieces
            if piece.kind == "span"
        ]
        assert len(spans) == len(report.runs[0].conversations)
        assert set(spans) <= set("ABCD")

    def test_a_pack_comes_with_its_own_score(self, program: Program) -> None:
        packs = Packs(program)
        with simulated_endpoint() as url:
            packs.run(packs.pack("mixed"), url)
        (part,) = report_of(program.only_run).runs
        assert part.own_score is not None
        assert part.own_score.total == "65 pts"
        assert part.own_score.categories == [
            ("Category A", "75 pts", "0.6"),
            ("Category B", "50 pts", "0.4"),
        ]
        assert all(talk.result for talk in part.conversations)


class TestSharedPlots:
    def test_quality_stands_against_speed_and_tokens(self, tmp_path: Path) -> None:
        quick = made([1.0] * 5 + [0.0] * 5, latency=1.0)
        slow = made([1.0] * 9 + [0.0], latency=3.0)
        report = report_of(*two_runs(tmp_path, quick, slow))
        seconds, tokens = report.fronts
        assert [(point.letter, point.spent, point.on_front) for point in seconds.points] == [
            ("A", 1.0, True),
            ("B", 3.0, True),
        ]
        assert [point.spent for point in tokens.points] == [15.0, 15.0]
        assert [point.letter for point in tokens.points if point.on_front] == ["B"]

    def test_the_page_draws_them(self, tmp_path: Path) -> None:
        a, b = two_runs(tmp_path, made([1.0, 0.0]), made([1.0, 1.0]))
        page = tmp_path / "report.html"
        write_report([a, b], page, ReportSettings())
        assert "exact against speed" in text_of(page)
        assert page.read_text().count('class="front"') == 2

    def test_a_run_alone_has_none(self, tmp_path: Path) -> None:
        assert report_of(write_run(tmp_path / "run", MIXED)).fronts == []
