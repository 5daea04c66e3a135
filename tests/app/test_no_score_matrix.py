"""Every door × runs in which nothing has a score: no door shows a number for one, and each tells the reason once."""

from __future__ import annotations

import csv
import html
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.no_score_kit import LIKE_A_SCORE, Unscored, scores_in, scores_in_json, text_of_page
from tests.web.web_kit import viewing

import benchwright
from benchwright import NoScore, RunUnfinished

REASON = "answered HTTP 400: refused for reason"

RUNS = (
    *("eval", "eval of many reasons", "eval of another model", "eval with a failing scorer"),
    *("run", "run of another model", "pack run", "load"),
)


@pytest.fixture(scope="module")
def unscored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Unscored]:
    program = Program(tmp_path_factory.mktemp("unscored"))
    try:
        yield Unscored(program)
    finally:
        program.end()


@pytest.mark.parametrize(
    "text",
    [
        *(
            "mean=0.000 std=0.000",
            "pass@1: 0.0%",
            "exact  [0.000, 0.524]",
            "accuracy 0.0000",
            "stem 0.0000 6",
        ),
        *("exact is 0.5", "+0.0 points [-100, +100]", "mean = 0", "0 points", "6 errors (100 %)"),
    ],
)
def test_what_this_file_looks_for_is_found(text: str) -> None:
    assert scores_in(text)


@pytest.mark.parametrize(
    "text", ["no score (11 of 11 failed)", "16/33 trials", "mean of these  95% interval", "in 0.3s, 4.5/s"]
)
def test_counts_times_and_headings_are_none_of_it(text: str) -> None:
    assert scores_in(text) == []


# The doors that run something


@pytest.mark.parametrize("door", RUNS)
def test_a_run_prints_no_number_for_it(unscored: Unscored, door: str) -> None:
    assert scores_in(unscored.said[door]) == []
    assert "no score" in unscored.said[door]


@pytest.mark.parametrize("door", ["eval", "run", "load", "eval with a failing scorer"])
def test_a_run_says_the_reason_once(unscored: Unscored, door: str) -> None:
    """Beside the lines of single trials, on both streams together."""
    lines = [line for line in unscored.said[door].splitlines() if not line.startswith("[")]
    reason = "the grader has no key" if "scorer" in door else REASON
    told = " ".join(lines)
    distinct = {line for line in lines if reason in line}
    assert told.count(reason) == max(1, sum("1 failed:" in line for line in distinct)), lines


def test_an_eval_says_how_many_of_how_many_failed_and_why(unscored: Unscored) -> None:
    assert (
        f"exact: no score ({unscored.trials('eval')} of {unscored.trials('eval')} failed: "
        in unscored.said["eval"]
    )
    assert "exact: no score (12 of 12 failed)" in unscored.said["eval of many reasons"]


def test_a_benchmark_has_no_breakdown_and_no_figure_of_its_own(unscored: Unscored) -> None:
    said = unscored.said["run"]
    assert "MMLU: no score (8 of 8 failed)" in said
    assert "By category" not in said
    assert "macro_subject" not in said


def test_the_card_of_a_pack_has_no_total(unscored: Unscored) -> None:
    card = (unscored.program.directory / "card.md").read_text()
    assert "| m | – | incomplete: 4 of 4 cells have no result |" in card
    assert scores_in(card) == []


# The doors that show a run


@pytest.mark.parametrize("door", RUNS)
def test_show_has_no_number_and_each_reason_once(unscored: Unscored, door: str) -> None:
    shown = unscored.show("show", unscored.runs[door])
    assert scores_in(shown) == []
    assert "no score" in shown
    if door in ("eval", "load"):
        assert shown.count(REASON) == 1


@pytest.mark.parametrize("door", RUNS)
def test_its_json_has_documented_zeros_and_else_null_with_the_reason_beside(
    unscored: Unscored, door: str
) -> None:
    document = unscored.json("show", unscored.runs[door])
    assert list(scores_in_json(document)) == []
    for score in document["targets"][0]["scores"]:
        assert (score["mean_scored"], score["low"], score["high"]) == (None, None, None)
        assert [score[name] for name in ("mean", "std", "min", "max")] == [0.0] * 4
        assert score["no_score"]["failed"] == score["n"]
        assert score["no_score"]["reasons"]
        assert "passes" not in score


def test_a_list_of_runs_says_no_score(unscored: Unscored) -> None:
    listed = unscored.show("runs", "--columns", "kind,score")
    assert scores_in(listed) == []
    assert listed.count("no score") == len(RUNS) - 1, "a pack has its total elsewhere"
    assert list(scores_in_json(unscored.json("runs"))) == []


COMPARED = {
    "two evals": ("eval", "eval of another model"),
    "two benchmarks": ("run", "run of another model"),
    "an eval alone": ("eval",),
    "a failing scorer alone": ("eval with a failing scorer",),
}


@pytest.mark.parametrize("what", COMPARED)
@pytest.mark.parametrize("details", [(), ("--details",)], ids=["brief", "details"])
def test_compare_has_no_figure_of_what_has_no_score(
    unscored: Unscored, what: str, details: tuple[str, ...]
) -> None:
    shown = unscored.show("compare", *map(unscored.reference, COMPARED[what]), *details)
    assert scores_in(shown) == []
    assert "no score" in shown
    document = unscored.json("compare", *map(unscored.reference, COMPARED[what]))
    assert [pair.get("scores", []) for pair in document["pairs"]] == [[]] * (len(COMPARED[what]) - 1)
    assert list(scores_in_json(document)) == []


def test_what_has_a_score_is_not_compared_with_what_has_none(unscored: Unscored) -> None:
    both = [unscored.runs["eval"], unscored.scored]
    shown = unscored.show("compare", *both)
    assert scores_in(shown) == []
    assert "'exact' is not compared: A has no score" in shown
    (pair,) = unscored.json("compare", *both)["pairs"]
    assert "scores" not in pair


def test_compare_of_result_files_has_neither_accuracy_nor_interval(unscored: Unscored) -> None:
    files = sorted(str(path) for path in (unscored.program.directory / "results").glob("*.json"))
    shown = unscored.show("compare", *files)
    assert scores_in(shown) == []
    rows = {line.split("│")[1].strip(): line for line in shown.splitlines() if line.startswith("│")}
    assert rows["Accuracy"].count("no score") == 2
    assert [rows[name].count(" – ") for name in ("95% CI", "95% CI (Wilson)")] == [2, 2]
    assert "mmlu of m: no score (8 of 8 failed" in shown


def test_compare_of_output_files_and_their_rules_decide_nothing(unscored: Unscored) -> None:
    assert scores_in(unscored.show("compare", "eval.json", "many.json")) == []
    ended = unscored.program.run("compare", unscored.runs["eval"], "--fail-if", "exact < 0.5")
    assert (ended.returncode, "there is nothing to decide" in ended.stderr) == (1, True)


@pytest.mark.parametrize("format", ["text", "markdown", "latex"])
def test_a_table_of_all_of_them_has_no_number(unscored: Unscored, format: str) -> None:
    form = [] if format == "text" else ["--format", format]
    shown = unscored.show("table", *unscored.runs.values(), *form)
    assert scores_in(shown) == []
    assert "no score" in shown
    reasons = Counter(re.findall(rf"{REASON}(?: \d+)?", " ".join(html.unescape(shown).split())))
    assert set(reasons.values()) == {1}


def test_a_table_for_programs_leaves_its_cells_empty(unscored: Unscored) -> None:
    text = unscored.show("table", *unscored.runs.values(), "--format", "csv")
    for row in csv.DictReader(text.splitlines()):
        assert [row[name] for name in row if name.endswith((" low", " high", " rank"))].count("") > 0
        assert {row[name.removesuffix(" low")] for name in row if name.endswith(" low")} == {""}
        assert row["cost_per_solved"] == ""
    assert list(scores_in_json(unscored.json("table", *unscored.runs.values()))) == []


@pytest.mark.parametrize("door", [*RUNS, "all", "files"])
def test_a_report_has_neither_numbers_nor_charts_of_it(unscored: Unscored, door: str) -> None:
    files = sorted(map(str, (unscored.program.directory / "results").glob("*.json")))
    runs = {"all": list(unscored.runs.values()), "files": files}.get(door) or [unscored.runs[door]]
    assert unscored.program.run("report", *runs, "-o", "report.html").returncode == 0
    page = (unscored.program.directory / "report.html").read_text()
    shown = text_of_page(page)
    assert ("has no result" if door == "pack run" else "no score") in shown
    assert door in ("load", "all") or scores_in(shown) == []
    assert "Repeats: pass@k" not in shown
    assert "Means of what was scored" not in shown


@pytest.mark.parametrize("door", RUNS)
def test_the_viewer_shows_no_number_for_it(unscored: Unscored, door: str) -> None:
    run = unscored.runs[door]
    with viewing(unscored.program) as viewer:
        shown = text_of_page(viewer.get(f"/runs/{run}").text)
    assert scores_in(shown) == []
    assert "no score" in shown


def test_the_viewers_other_pages_show_none_either(unscored: Unscored) -> None:
    a, b = unscored.runs["eval"], unscored.runs["eval of another model"]
    with viewing(unscored.program) as viewer:
        pages = ("/", f"/compare?a={a}&b={b}&part=result", f"/table?run={a}&run={b}&part=board")
        shown = [text_of_page(viewer.get(page).text) for page in pages]
    assert [scores_in(text) for text in shown] == [[], [], []]
    assert all("no score" in text for text in shown)


# The doors that write a run down


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_exported_trials_have_an_empty_score(unscored: Unscored, form: str) -> None:
    unscored.show("export", unscored.runs["eval"], "--format", form, "-o", f"trials.{form}")
    text = (unscored.program.directory / f"trials.{form}").read_text()
    rows: list[dict[str, Any]] = (
        list(csv.DictReader(text.splitlines()))
        if form == "csv"
        else [json.loads(one) for one in text.splitlines()]
    )
    assert {row["score.exact"] for row in rows} == {"" if form == "csv" else None}


def test_an_exported_log_has_no_metric(unscored: Unscored) -> None:
    run = unscored.runs["eval"]
    unscored.show("export", run, "--format", "inspect", "-o", "logs")
    with zipfile.ZipFile(unscored.program.directory / "logs" / f"{run}.eval") as log:
        (score,) = json.loads(log.read("header.json"))["results"]["scores"]
    assert (score["metrics"], score["metadata"]["no_score"][:9]) == ({}, "no score ")


@pytest.mark.parametrize(("form", "door"), [("eee", "eval"), ("lm-eval", "eval"), ("lm-eval", "run")])
def test_formats_of_scores_are_refused(unscored: Unscored, form: str, door: str) -> None:
    ended = unscored.program.run("export", unscored.runs[door], "--format", form, "-o", f"x-{form}")
    assert (ended.returncode, "has no score" in ended.stderr) == (1, True)


def test_documented_files_keep_their_zeros_and_say_beside_them_what_they_are(unscored: Unscored) -> None:
    (path, _) = sorted((unscored.program.directory / "results").glob("*.json"))
    result = json.loads(path.read_text())
    assert (result["accuracy"], result["score"]) == (0.0, 0.0)
    assert (result["mean_scored"], result["interval"], result["n_scored"]) == (None, None, 0)
    assert result["no_score"]["failed"] == 8
    assert {(part["mean"], part["no_score"]["failed"] > 0) for part in result["breakdowns"]} == {(None, True)}
    out = json.loads((unscored.program.directory / "many.json").read_text())
    assert out["summary"]["eval_fns"]["exact"] | {"pass_at_1": 0.0} == {
        "mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0, "pass_at_1": 0.0,
    }  # fmt: skip


# Python


def test_from_python_it_is_no_number_that_anything_takes_for_one(
    unscored: Unscored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(unscored.program.home))
    run = unscored.program.home / "runs" / unscored.runs["eval"]
    (listed,) = (one for one in benchwright.runs() if one.id == unscored.runs["eval"])
    metrics = benchwright.compare(run).metrics
    for value in (listed.targets[0].scores[0].mean_scored, metrics["exact"], metrics["exact.scored"]):
        assert isinstance(value, NoScore)
        for use in (
            float,
            bool,
            json.dumps,
            lambda one: one + 1,
            lambda one: one < 1,
            lambda one: f"{one:.3f}",
        ):
            with pytest.raises(TypeError):
                use(value)  # type: ignore[arg-type]
        assert LIKE_A_SCORE.search(value.brief) is None
    assert {trial.scores.get("exact") for trial in benchwright.load_run(run).trials} == {None}


def test_an_evaluation_whose_scorer_always_fails_has_no_mean(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.app.failing_endpoint import endpoint

    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))

    def fails(answer: str) -> float:
        raise RuntimeError("the grader has no key")

    rows = [{"prompt": f"word{number}", "answer": "x"} for number in range(3)]
    with endpoint() as url:
        result = benchwright.evaluate(rows, "m", scorer=fails, base_url=url, stream=False)
    score = result.summary.targets[0].scores[0]
    assert (
        score.mean == score.mean_scored == score.low == NoScore(3, {"RuntimeError: the grader has no key": 3})
    )
    assert scores_in(str(result)) == []
    assert "no score (3 of 3 failed: RuntimeError: the grader has no key)" in str(result)


def test_a_benchmark_of_refused_requests_has_no_accuracy(
    unscored: Unscored, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.app.no_score_kit import refusing

    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
    monkeypatch.chdir(unscored.program.directory)
    with refusing(alike=False) as url:
        result = benchwright.run_benchmark(
            "mmlu", "m", base_url=url, retries=0, stream=False, output_dir=tmp_path / "results"
        )
        assert isinstance(result.accuracy, NoScore)
        assert scores_in(str(result)) == []
        assert repr(result).endswith(": m no score>")
    with refusing() as url, pytest.raises(RunUnfinished):
        benchwright.run_benchmark("mmlu", "m", base_url=url, retries=0, stream=False, fresh=True)
