"""`--until`: as little is asked as the question needs, and the verdict depends on nothing but the answers."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import knowing, write_mmlu
from tests.app.decide_kit import SAMPLES, Decider, answers, deciding
from tests.app.pack_kit import Packs, scenario
from tests.matrix_server import matrix_server, rows

UNTIL = ("--until", "decided")
WASTED = 5 * 4
"""Trials beyond the decision at most: those in flight, and those that have overtaken a slow one on a busy machine."""


@pytest.fixture
def better(program: Program) -> Iterator[Decider]:
    with deciding(program, answers(0.2)) as decider:
        yield decider


def test_a_clear_difference_is_decided_early(better: Decider) -> None:
    summary = better.run(*UNTIL)
    decision = summary["decision"]
    assert summary["state"] == "decided"
    assert decision["verdict"] == "better"
    assert 0 < decision["low"] <= decision["difference"] <= decision["high"]
    assert (decision["error"], decision["margin"], decision["planned"]) == (0.05, 0, SAMPLES)
    used = decision["used"]
    assert used < 0.8 * SAMPLES
    asked = better.server.asked.total()
    assert 2 * used <= asked <= 2 * used + WASTED
    assert decision.get("beyond", 0) == asked - 2 * used
    assert decision["trials_saved"] == 2 * SAMPLES - asked
    assert decision["requests_saved"] == decision["trials_saved"]


def test_the_sentence_is_what_a_person_would_say(better: Decider) -> None:
    command = [word for word in better.command(*UNTIL) if word != "--json"]
    ended = better.program.run(*command, "-q", **better.environment)
    assert ended.returncode == 0, ended.stderr
    (verdict,) = [line for line in ended.stdout.splitlines() if line.startswith("new is better than old: +")]
    assert f"of {SAMPLES} samples." in verdict
    assert "new questions of this kind" in ended.stdout
    assert "Not asked:" in ended.stdout
    assert "p-value" not in ended.stdout


def test_a_worse_model_is_told_by_the_exit_code(program: Program) -> None:
    with deciding(program, answers(-0.25)) as decider:
        decision = decider.run(*UNTIL, code=3)["decision"]
    assert decision["verdict"] == "worse"
    assert decision["high"] < 0


def test_what_all_samples_do_not_decide_is_undecided(program: Program) -> None:
    with deciding(program, answers(0.0, samples=60, seed=3)) as decider:
        summary = decider.run(*UNTIL, code=5)
    decision = summary["decision"]
    assert (summary["state"], decision["verdict"], decision["used"]) == ("finished", "undecided", 60)
    assert decision["low"] < 0 < decision["high"]


def test_models_that_do_not_differ_are_equivalent_within_the_margin(program: Program) -> None:
    right = answers(0.0)
    right["new"] = right["old"]
    with deciding(program, right) as decider:
        decision = decider.run(*UNTIL, "--margin", "0.1")["decision"]
    assert decision["verdict"] == "equivalent"
    assert -0.1 < decision["low"] <= 0 <= decision["high"] < 0.1
    assert decision["used"] < SAMPLES


def test_not_worse_than_a_margin_is_a_question_of_its_own(program: Program) -> None:
    right = answers(0.0)
    right["new"] = right["old"]
    with deciding(program, right) as decider:
        decision = decider.run("--until", "not-worse", "--margin", "0.1")["decision"]
    assert (decision["goal"], decision["verdict"]) == ("not_worse", "not_worse")
    assert decision["low"] > -0.1


def test_no_fewer_samples_than_were_asked_for(better: Decider) -> None:
    decision = better.run(*UNTIL, "--at-least", "250")["decision"]
    assert decision["used"] >= 250


@pytest.mark.parametrize("concurrency", ["1", "16"])
def test_what_arrives_first_changes_nothing(program: Program, concurrency: str) -> None:
    """Wrong answers take much longer: by what has arrived, every model would look better than it is."""
    right = answers(0.2)
    with deciding(program, right) as decider:
        expected = decider.run(*UNTIL)["decision"]
        decider.server.delay = lambda model, number: 0.0 if right[model][number] else 0.02
        decision = decider.run(*UNTIL, "--fresh", "--concurrency", concurrency)["decision"]
    for name in ("verdict", "difference", "low", "high", "used", "order_seed"):
        assert decision[name] == expected[name]


def test_the_same_command_asks_nothing_and_a_plain_one_asks_the_rest(better: Decider) -> None:
    decision = better.run(*UNTIL)["decision"]
    asked = better.server.asked.total()
    again = better.run(*UNTIL)
    assert again["decision"] == decision
    assert better.server.asked.total() == asked

    whole = better.run()
    assert (whole["state"], better.server.asked.total()) == ("finished", 2 * SAMPLES)
    for name in ("verdict", "difference", "low", "high", "used"):
        assert whole["decision"][name] == decision[name]
    assert "trials_saved" not in whole["decision"]
    (difference,) = whole["differences"]
    assert difference["n"] == SAMPLES
    assert better.server.asked.most_common(1)[0][1] == 1, "nothing was asked twice"


def test_a_run_that_was_begun_without_a_question_can_be_given_one(better: Decider) -> None:
    whole = better.run()
    assert "decision" not in whole
    decision = better.run(*UNTIL)["decision"]
    assert decision["verdict"] == "better"
    assert decision["used"] < SAMPLES
    assert better.server.asked.total() == 2 * SAMPLES


def test_a_question_is_set_before_the_first_sample(better: Decider) -> None:
    better.run(*UNTIL)
    for other in (("--margin", "0.02"), ("--error", "0.1"), ("--decide-for", "these-samples")):
        assert "a question is set before the first sample" in better.refused(*UNTIL, *other)
    assert better.run(*UNTIL, "--margin", "0.02", "--fresh")["decision"]["margin"] == 0.02


def test_failures_favour_nobody(program: Program) -> None:
    """The old model fails where it was wrong: it might have been right there, so the new one is not better for it."""
    right = answers(0.2)
    with deciding(program, right) as decider:
        decided = decider.run(*UNTIL)["decision"]
        decider.server.failing["old"] = {number for number, score in enumerate(right["old"]) if not score}
        decision = decider.run(*UNTIL, "--fresh", code=5)["decision"]
    assert decided["verdict"] == "better"
    assert decision["verdict"] == "undecided"
    assert decision["low"] < 0


def failures_of(summary: dict[str, Any]) -> int:
    return sum(target["statuses"].get("provider_error", 0) for target in summary["targets"])


def test_failures_are_retried_when_that_is_asked_for(program: Program) -> None:
    """Half of the answers failed, so nothing was decided; some of them, asked again, are enough."""
    failing = set(range(0, SAMPLES, 2))
    with deciding(program, answers(0.25)) as decider:
        decider.server.failing["old"] = failing
        first = decider.run(*UNTIL, code=5)
        decider.server.failing.clear()
        retried = decider.run(*UNTIL, "--retry-failed")
        asked_again = {number for (_, number), times in decider.server.asked.items() if times == 2}
    assert (first["decision"]["verdict"], retried["decision"]["verdict"]) == ("undecided", "better")
    assert asked_again < failing
    assert failures_of(first) == len(failing)
    assert failures_of(retried) == len(failing) - len(asked_again)


def test_a_score_without_known_bounds_cannot_be_decided(better: Decider) -> None:
    better.program.write(
        "lengths.py", "def length(solution_str, ground_truth, extra_info=None):\n    return 7\n"
    )
    command = better.command(*UNTIL, "--eval-fn", "lengths:length")
    ended = better.program.run(*command, **better.environment)
    assert ended.returncode == 1
    assert "length' is 7, beyond 0 to 1" in ended.stderr
    assert better.server.asked.total() < 20


def test_several_models_share_the_error(program: Program) -> None:
    right = answers(0.2) | {"other": answers(-0.7)["new"]}
    with deciding(program, right) as decider:
        decision = decider.run(*UNTIL, code=3, models=("old", "new", "other"))["decision"]
    by_model = {one["model"]: one for one in decision["models"]}
    assert by_model["other"]["verdict"] == "worse"
    assert decision["verdict"] == "worse"
    assert {one["than"] for one in decision["models"]} == {"old"}
    assert min(one["error"] for one in decision["models"]) == 0.025
    assert "difference" not in decision


def test_the_baseline_is_what_is_compared_with(program: Program) -> None:
    with deciding(program, answers(0.2)) as decider:
        baseline = ("--baseline-model", "old", "--baseline-base-url", decider.server.base_url)
        decision = decider.run(*UNTIL, *baseline, models=("new",))["decision"]
    (one,) = decision["models"]
    assert (one["model"], one["than"], one["verdict"]) == ("new", "old", "better")


def test_repeats_and_groups_are_units(program: Program) -> None:
    right = answers(0.25)
    with deciding(program, right) as decider:
        lines = [
            json.dumps({**json.loads(line), "topic": f"topic {number // 3}"})
            for number, line in enumerate(rows(SAMPLES).splitlines())
        ]
        decider.program.write("rows.jsonl", "\n".join(lines) + "\n")
        decision = decider.run(*UNTIL, "--group-by", "topic", "--n", "2")["decision"]
        topics = {number // 3 for (_, number), times in decider.server.asked.items() if times == 2}
    assert decision["verdict"] == "better"
    assert decision["groups"] is True
    assert decision["used"] % 3 == 0
    assert len(topics) >= decision["used"] // 3


class TestAgainst:
    def test_only_the_new_model_is_asked(self, better: Decider) -> None:
        old = better.run(models=("old",))["run"]
        better.server.asked.clear()
        decision = better.run(*UNTIL, "--against", old, models=("new",))["decision"]
        assert decision["verdict"] == "better"
        (one,) = decision["models"]
        assert (one["model"], one["than"]) == ("new", "old")
        assert {model for model, _ in better.server.asked} == {"new"}
        assert decision["used"] <= better.server.asked.total() <= decision["used"] + WASTED

    def test_samples_are_paired_by_their_content(self, better: Decider) -> None:
        """The rows stand in another order in another file, with some that the old model never saw."""
        old = better.run(models=("old",))["run"]
        lines = rows(SAMPLES + 50).splitlines()
        better.program.write("turned.jsonl", "\n".join(reversed(lines)) + "\n")
        for right in better.server.right.values():
            right.extend([0.0] * 50)  # type: ignore[attr-defined]
        decision = better.run(*UNTIL, "--against", old, models=("new",), data="turned.jsonl")["decision"]
        assert (decision["verdict"], decision["planned"]) == ("better", SAMPLES)

    def test_a_file_of_results_will_do(self, better: Decider) -> None:
        better.run("-o", "old.json", models=("old",))
        file = better.program.directory / "old.json"
        document = json.loads(file.read_text())
        document.pop("run", None)
        file.write_text(json.dumps(document))
        decision = better.run(*UNTIL, "--against", "old.json", models=("new",))["decision"]
        assert decision["verdict"] == "better"

    def test_what_was_answered_before_stays_as_it_was(self, better: Decider) -> None:
        old = better.run(models=("old",))["run"]
        decision = better.run(*UNTIL, "--against", old, models=("new",))["decision"]
        runs = better.program.home / "runs"
        (runs / old).rename(runs.parent / "gone")
        assert better.run(*UNTIL, "--against", old, models=("new",))["decision"] == decision

    def test_other_models_on_the_same_samples_make_it_shorter(self, program: Program) -> None:
        right = answers(0.12, samples=400, seed=5)
        right |= {f"other {number}": answers(0.1, samples=400, seed=5)["old"] for number in range(2)}
        with deciding(program, right) as decider:
            old = decider.run(models=("old",))["run"]
            these = (*UNTIL, "--against", old, "--decide-for", "these-samples")
            alone = decider.run(*these, models=("new",))["decision"]
            for name in ("other 0", "other 1"):
                decider.run(models=(name,))
            helped = decider.run(*these, "--fresh", models=("new",))["decision"]
        assert "narrower" not in alone["models"][0]
        assert -1 < helped["models"][0]["narrower"] < 1
        assert alone["verdict"] == helped["verdict"] == "better"

    @pytest.mark.parametrize(
        ("against", "words"),
        [("nothing", "nothing"), ("rows.jsonl", "rows.jsonl"), ("{other}", "no sample in common")],
    )
    def test_what_cannot_be_compared_is_refused(self, better: Decider, against: str, words: str) -> None:
        better.program.write("other.jsonl", rows(20).replace("Question", "Riddle"))
        other = better.run(models=("old",), data="other.jsonl")["run"]
        told = better.refused(*UNTIL, "--against", against.format(other=other), models=("new",))
        assert "Traceback" not in told
        assert any(word in told for word in words.split("|"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--margin", "0.1"), "--margin needs --until"),
        (("--against", "x"), "--against needs --until"),
        (("--until", "not-worse"), "needs --margin"),
        (("--until", "decided", "--error", "0.7"), "error"),
        (("--until", "decided", "--decide-on", "exakt"), "Did you mean 'exact'?"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    better: Decider, options: tuple[str, ...], words: str
) -> None:
    assert words in better.refused(*options)


def test_one_model_has_nothing_to_be_compared_with(better: Decider) -> None:
    assert "a second --model, or --against RUN" in better.refused(*UNTIL, models=("new",))


class TestWhatOthersSay:
    def test_compare_gives_the_interval_that_holds_and_no_p_value(self, better: Decider) -> None:
        summary = better.run(*UNTIL)
        decision = summary["decision"]
        compared = json.loads(better.program.run("compare", summary["run"], "--json").stdout)
        (score,) = compared["pairs"][0]["scores"]
        assert score["difference"] == pytest.approx(decision["difference"])
        assert (score["low"], score["high"]) == pytest.approx((decision["low"], decision["high"]))
        assert (score["n"], score["verdict"]) == (decision["used"], "better")
        assert "p_value" not in score
        assert any("stopped early" in note for note in compared["pairs"][0]["notes"])

    def test_the_summary_has_no_test_of_a_fixed_number_of_samples(self, better: Decider) -> None:
        assert "differences" not in better.run(*UNTIL)

    def test_lists_say_that_it_is_decided(self, better: Decider) -> None:
        better.run(*UNTIL)
        runs = json.loads(better.program.run("runs", "--state", "decided", "--json").stdout)
        assert [run["state"] for run in runs["runs"]] == ["decided"]

    def test_a_report_shows_how_the_interval_closed(self, better: Decider) -> None:
        run = better.run(*UNTIL)["run"]
        ended = better.program.run("report", run, "-o", "report.html")
        assert ended.returncode == 0, ended.stderr
        page = (better.program.directory / "report.html").read_text()
        assert "is better than" in page
        assert "how the interval closed" in page


def test_a_benchmark_is_decided_by_its_accuracy(program: Program) -> None:
    path = write_mmlu(program, 80)
    with knowing("mmlu", path, 0.9) as good, knowing("mmlu", path, 0.2) as bad:
        models = (
            f'[[models]]\nmodel = "old"\nbase_url = "{bad}"\n[[models]]\nmodel = "new"\nbase_url = "{good}"\n'
        )
        program.write("models.toml", models)
        command = ["run", "mmlu", "--models", "models.toml", "--data-dir", str(path.parents[1]), "--json"]
        ended = program.run(*command, *UNTIL)
        again = program.run(*command, *UNTIL)
        whole = program.run(*command)
    assert (ended.returncode, again.returncode, whole.returncode) == (0, 0, 0), ended.stderr
    first, repeated = (json.loads(one.stdout)["benchmarks"][0] for one in (ended, again))
    decision = first["summary"]["decision"]
    assert (decision["verdict"], decision["models"][0]["score"]) == ("better", "accuracy")
    assert decision["used"] < 80
    assert first["path"] is None, "a result file is of all samples"
    assert repeated["summary"]["decision"] == decision
    assert [Path(one["path"]).name[:8] for one in json.loads(whole.stdout)["benchmarks"]] == [
        "mmlu_old",
        "mmlu_new",
    ]


@pytest.mark.parametrize(
    ("more", "score"), [((), "passed"), (("--decide-on", "score", "--margin", "1"), "score")]
)
def test_a_pack_is_decided_by_its_passes_or_its_score(
    program: Program, more: tuple[str, ...], score: str
) -> None:
    right = answers(0.5, samples=121)
    packs = Packs(program)
    pack = packs.pack("p", [scenario(f"S-{number:02}", expect=str(number)) for number in range(1, 121)])
    with matrix_server(right) as server:
        told = packs.run(pack, server.base_url, "--no-stream", *UNTIL, *more, models=("old", "new"))
    decision = told["decision"]
    assert (decision["verdict"], decision["models"][0]["score"]) == ("better", score)
    assert decision["used"] < 120
    assert decision["used"] * 2 <= server.asked.total() <= decision["used"] * 2 + 16
    width = 100 if score == "score" else 1
    assert width / 5 < decision["difference"] < width
    assert told.get("error") is None


def test_ten_kills_change_nothing_of_the_decision(program: Program, tmp_path: Path) -> None:
    right = answers(0.16, samples=400, seed=9)
    with deciding(program, right) as decider:
        expected = decider.run(*UNTIL)["decision"]
        decider.program.home.rename(tmp_path / "undisturbed")
        (tmp_path / "cache").rename(tmp_path / "undisturbed cache")
        decider.server.asked.clear()
        decider.server.delay = lambda model, number: 0.01
        for kill in range(10):
            _kill_under_way(decider, 40 * (kill + 1))
        decider.server.delay = lambda model, number: 0.0
        decision = decider.run(*UNTIL)["decision"]
    for name in ("verdict", "difference", "low", "high", "used", "order_seed"):
        assert decision[name] == expected[name]


def _kill_under_way(decider: Decider, requests: int) -> None:
    """Starts the command, and kills it once so many requests were made in all; it may have decided by then."""
    process = decider.program.start(*decider.command(*UNTIL), **decider.environment)
    while decider.server.asked.total() < requests and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
