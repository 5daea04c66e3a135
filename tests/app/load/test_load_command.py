"""`benchwright load` as its user runs it, against servers whose every answer is known."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import msgspec
import pytest
from tests.app.app_kit import Program, one_line_of, trials
from tests.app.benchmark_kit import knowing, write_mmlu
from tests.app.load.load_kit import key, measure, prompts, rate, runs_of, scripted_server
from tests.known import known
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.records import LoadReport
from benchwright.runs.manifest import read_manifest

ROWS = 20
CORRECT = 14


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, LoadReport]:
    """Twenty rows by a model of 4 slots that knows 14 of them, at three concurrencies, each row asked twice."""
    program = Program(tmp_path_factory.mktemp("closed"))
    rows = program.rows(ROWS)
    with simulated_endpoint(
        "--slots", "4", "--first-token", "100", "--accuracy", "0.7", answers=key(ROWS)
    ) as url:
        report = measure(
            program,
            url,
            "--dataset",
            rows,
            "--scorer",
            "exact",
            "--concurrency",
            "1,4,12",
            "--requests",
            "40",
        )
    return program, report


class TestClosedLoop:
    def test_each_level_is_an_ordinary_run_of_all_its_requests(
        self, closed: tuple[Program, LoadReport]
    ) -> None:
        program, report = closed
        assert [level.level.concurrency for level in report.levels] == [1, 4, 12]
        for level, run in zip(report.levels, runs_of(program, report), strict=True):
            manifest = read_manifest(run)
            assert manifest.kind == "eval"
            assert manifest.concurrency == level.level.concurrency
            assert manifest.about["load"]["id"] == report.id
            assert (level.state, level.requests, len(trials(run))) == ("finished", 40, 40)

    def test_accuracy_is_exact_at_each_level_and_respects_that_rows_came_twice(
        self, closed: tuple[Program, LoadReport]
    ) -> None:
        _, report = closed
        for level in report.levels:
            judged = level.judged
            assert judged is not None
            assert (judged.correct, judged.n) == (2 * CORRECT, 2 * ROWS)
            assert judged.accuracy == CORRECT / ROWS
            assert known(judged.low) < judged.accuracy < known(judged.high)

    def test_more_in_flight_than_slots_buys_latency_and_no_answers(
        self, closed: tuple[Program, LoadReport]
    ) -> None:
        one, four, twelve = closed[1].levels
        assert one.latency is not None
        assert twelve.latency is not None
        assert rate(four) > 2 * rate(one)
        assert rate(twelve) < 1.5 * rate(four)
        assert one.latency.p50.value < 0.2 < twelve.latency.p50.value
        assert [level.in_flight for level in (one, four, twelve)] == [1, 4, 12]

    def test_warm_up_is_as_many_as_are_in_flight(self, closed: tuple[Program, LoadReport]) -> None:
        assert [level.counted for level in closed[1].levels] == [39, 36, 28]

    def test_show_compare_and_runs_know_the_levels(self, closed: tuple[Program, LoadReport]) -> None:
        program, report = closed
        names = [level.run for level in report.levels]
        shown = json.loads(program.run("show", names[0], "--json").stdout)
        assert shown["targets"][0]["scores"][0]["mean"] == CORRECT / ROWS
        compared = json.loads(program.run("compare", *names, "--json").stdout)
        (table,) = compared["by_concurrency"]
        assert [row["concurrency"] for row in table["rows"]] == [1, 4, 12]
        listed = json.loads(program.run("runs", "--tag", report.id, "--json").stdout)["runs"]
        assert {run["manifest"]["id"] for run in listed} == set(names)

    def test_a_level_is_not_gone_on_with_as_if_it_were_an_eval(
        self, closed: tuple[Program, LoadReport]
    ) -> None:
        program, report = closed
        for command in ("resume", "retry"):
            ended = program.run(command, report.levels[0].run)
            assert ended.returncode == 1
            assert "a level of a measurement under load" in one_line_of(ended.stderr)

    def test_a_report_is_written_of_the_levels(self, closed: tuple[Program, LoadReport]) -> None:
        program, report = closed
        ended = program.run("report", *(level.run for level in report.levels), "-o", "load.html")
        assert ended.returncode == 0, ended.stderr
        assert report.levels[2].run in (program.directory / "load.html").read_text()

    def test_whether_accuracy_changes_with_the_load_is_tested_over_the_same_samples(
        self, closed: tuple[Program, LoadReport]
    ) -> None:
        (table,) = closed[1].by_concurrency
        assert table.trend is not None
        assert (table.trend.samples, table.trend.levels) == (ROWS, 3)

    def test_the_server_s_own_metrics_stand_beside(self, closed: tuple[Program, LoadReport]) -> None:
        twelve = closed[1].levels[2].server
        assert twelve is not None
        assert twelve.looks >= 1
        assert twelve.running_most is not None
        assert twelve.running_most <= 4
        assert twelve.cache_most is None


def test_an_open_loop_counts_from_the_intended_start_and_tells_when_all_that_may_be_are_in_flight(
    program: Program,
) -> None:
    """40 requests in a second, of 100 ms each, through two connections: the last leaves a second late."""
    rows = program.rows(10)
    with simulated_endpoint("--first-token", "100") as url:
        report = measure(
            *(program, url, "--dataset", rows, "--rate", "40", "--arrivals", "constant", "--requests", "40"),
            *("--max-in-flight", "2", "--warmup", "0"),
        )
    (level,) = report.levels
    assert level.latency is not None
    assert level.sent_latency is not None
    assert level.late is not None
    assert level.limit_reached
    assert level.in_flight == 2
    assert 30 <= level.held_back <= 38
    assert level.offered == pytest.approx(40, rel=0.01)
    assert rate(level) < 30
    assert level.latency.p99.value > 0.9 > 0.5 > level.sent_latency.p50.value
    assert level.latency.mean == pytest.approx(level.sent_latency.mean + level.late.mean)


def test_without_a_limit_in_reach_requests_leave_when_they_are_due(program: Program) -> None:
    rows = program.rows(10)
    with simulated_endpoint("--first-token", "300") as url:
        report = measure(
            *(program, url, "--dataset", rows, "--rate", "40", "--arrivals", "constant", "--requests", "40")
        )
    (level,) = report.levels
    assert level.late is not None
    assert level.in_flight > 8, "300 ms at 40 per second"
    assert level.late.p50.value < 0.1
    assert not level.limit_reached
    assert level.held_back == 0


def test_the_latency_of_two_rates_is_not_compared_as_that_of_one_load(program: Program) -> None:
    rows = program.rows(10)
    with simulated_endpoint() as url:
        report = measure(
            *(program, url, "--dataset", rows, "--scorer", "exact", "--rate", "20,40", "--requests", "10")
        )
    compared = program.run("compare", *(level.run for level in report.levels))
    assert "the concurrency is not known on both sides" in compared.stdout


def test_a_trace_is_replayed_moment_by_moment(program: Program) -> None:
    offsets = [0, 0.05, 0.05, 0.4, 0.9]
    program.write("trace.txt", "".join(f"{100 + offset}\n" for offset in offsets))
    with simulated_endpoint() as url:
        report = measure(program, url, "--dataset", program.rows(3), "--trace", "trace.txt", "--warmup", "0")
    (run,) = runs_of(program, report)
    begun = sorted(trial.started_at - trial.late for trial in trials(run))
    assert [(moment - begun[0]) / 1e9 for moment in begun] == pytest.approx(offsets, abs=0.03)


def test_goodput_is_exact_where_the_prompts_say_what_is_slow_and_what_fails(program: Program) -> None:
    texts = [*(f"fine {number}" for number in range(14)), *["slow", "bad"] * 3]
    rows = prompts(program, texts)
    with scripted_server() as url:
        report = measure(
            *(program, url, "--dataset", rows, "--no-stream", "--slo", "latency=600ms", "--requests", "20"),
            *("--concurrency", "4", "--warmup", "0"),
        )
    (level,) = report.levels
    assert level.goodput is not None
    assert (level.goodput.met, level.goodput.counted, level.failed) == (14, 20, 3)
    assert level.goodput.share == 0.7
    assert level.goodput.rate is not None
    assert level.goodput.rate.value < rate(level)
    assert level.ttft is None
    assert sum(level.failures.values()) == 3


def test_failed_requests_are_not_tried_again(program: Program) -> None:
    rows = prompts(program, ["fine", "bad"])
    with scripted_server() as url:
        report = measure(program, url, "--dataset", rows, "--no-stream", "--requests", "2")
    (run,) = runs_of(program, report)
    assert [request.attempts for trial in trials(run) for request in trial.requests] == [1, 1]


def test_a_benchmark_is_asked_and_graded_under_load(program: Program) -> None:
    path = write_mmlu(program, 12)
    with knowing("mmlu", path, 0.75) as url:
        report = measure(
            program, url, "mmlu", "--source", str(path), "--concurrency", "4", "--requests", "12"
        )
    (level,) = report.levels
    assert report.task == "mmlu"
    assert level.judged is not None
    assert (level.judged.correct, level.judged.n) == (9, 12)


def test_a_judge_elsewhere_grades_and_its_requests_are_no_load_of_the_model(program: Program) -> None:
    verdict = [{"prompt": "<<TASK", "answer": "SCORE: 1"}]
    with simulated_endpoint() as url, simulated_endpoint(answers=verdict) as judge:
        report = measure(
            *(program, url, "--dataset", program.rows(6), "--scorer", "judge", "--judge-model", "j"),
            *("--judge-base-url", judge, "--scorer-option", "rubric=right?", "--requests", "6"),
        )
    (level,) = report.levels
    assert level.judged is not None
    assert (level.judged.correct, level.judged.n, level.requests) == (6, 6, 6)


def test_synthetic_prompts_are_as_long_as_the_server_counts_them(program: Program) -> None:
    with simulated_endpoint("--policy", "words", "--words", "50") as url:
        report = measure(
            *(program, url, "--synthetic-input", "200", "--synthetic-output", "30", "--requests", "10"),
            *("--concurrency", "1,2"),
        )
    assert "calibrated by the server's count" in report.prompts
    for level in report.levels:
        assert level.prompt_length == pytest.approx(200, abs=1)
        assert level.answer_length == 30
        assert level.judged is None
    asked = [
        (run / "bodies.jsonl").read_text().count("the") for run in runs_of(program, report)
    ]  # other words at each level, lest the server has seen them
    assert asked[0] != asked[1]


@pytest.mark.slow
def test_a_sweep_finds_the_slots_of_the_server(program: Program) -> None:
    with simulated_endpoint("--slots", "4", "--first-token", "500") as url:
        report = measure(
            *(program, url, "--dataset", program.rows(10)),
            *("--sweep", "--duration", "3", "--bisect", "0", "--gain", "0.3"),
        )
    found = report.saturation
    assert found is not None
    if any(level.client_limited for level in report.levels):
        pytest.skip("the machine is too busy for the client to keep up")
    assert found.found, found.reason
    assert found.level is not None
    assert found.level.concurrency == 4
    assert found.served == pytest.approx(8, rel=0.3)


def test_ctrl_c_ends_the_level_and_prints_what_is_there(program: Program) -> None:
    rows = program.rows(10)
    with simulated_endpoint("--first-token", "50") as url:
        process = program.start(
            *("load", "--model", "m", "--base-url", url, "--dataset", rows, "--concurrency", "1,2,4"),
            *("--requests", "12", "--duration", "60", "--warmup", "0", "--json", "-q", "-o", "load.json"),
        )
        while not any(len(trials(run)) >= 5 for run in program.runs[1:]):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    report = msgspec.json.decode(out, type=LoadReport)
    assert report.interrupted
    assert [level.level.concurrency for level in report.levels][:2] == [1, 2]
    assert len(report.levels) < 3 or report.levels[-1].state == "stopped"
    assert report.levels[0].state == "finished"
    assert json.loads((program.directory / "load.json").read_text())["id"] == report.id


def test_the_tables_fit_into_80_columns(program: Program) -> None:
    rows = program.rows(10)
    with simulated_endpoint("--first-token", "10", answers=key(10)) as url:
        ended = program.run(
            *("load", "--model", "m", "--base-url", url, "--dataset", rows, "--scorer", "exact"),
            *("--rate", "40,80", "--requests", "20", "--slo", "latency=1"),
        )
    assert ended.returncode == 0, ended.stderr
    tables = [line for line in ended.stdout.splitlines() if line.startswith((" ", "rate", "40/s", "80/s"))]
    assert len(tables) >= 12
    assert max(map(len, tables)) <= 80
    assert "SIMULATED" in ended.stdout
    assert "Runs: benchwright runs --tag load-" in ended.stderr


def test_a_dry_run_asks_nobody(program: Program) -> None:
    ended = program.run(
        *("load", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--dataset", program.rows(3)),
        *("--rate", "5", "--arrivals", "constant", "--requests", "11", "--dry-run"),
    )
    assert ended.returncode == 0, ended.stderr
    assert "5/s (constant): 11 requests in 2.0 s" in ended.stdout
    assert program.runs == []


def test_a_dry_run_as_json_describes_every_level(program: Program) -> None:
    ended = program.run(
        *("load", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--dataset", program.rows(3)),
        *("--concurrency", "1,4", "--requests", "11", "--dry-run", "--json"),
    )
    assert ended.returncode == 0, ended.stderr
    levels = json.loads(ended.stdout)["levels"]
    assert [(level["trials"], level["concurrency"]) for level in levels] == [(11, 1), (11, 4)]
    assert program.runs == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Choose what to send"),
        (["mmlu", "--synthetic-input", "5"], "Choose what to send"),
        (["--dataset", "none.jsonl"], "none.jsonl"),
        (["--synthetic-input", "5", "--slo", "speed=1"], "use ttft=S"),
        (["--synthetic-input", "5", "--warmup", "soon"], "--warmup"),
    ],
)
def test_what_cannot_be_measured_is_told_in_a_line(program: Program, arguments: list[str], told: str) -> None:
    ended = program.run("load", "--model", "m", *arguments)
    assert ended.returncode == 1
    assert told in one_line_of(ended.stderr)


def test_where_nobody_listens_it_says_so_and_ends(program: Program) -> None:
    ended = program.run(
        *("load", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--dataset", program.rows(3)),
        *("--concurrency", "1,2", "--requests", "3"),
    )
    assert ended.returncode == 1
    assert "127.0.0.1:9" in ended.stdout + ended.stderr
    assert program.runs == []


def test_lists_of_levels_may_stand_in_a_configuration_file(program: Program, tmp_path: Path) -> None:
    program.write("load.toml", '[load]\nconcurrency = [2, 3]\nrequests = 6\nslo = ["latency=5"]\n')
    with simulated_endpoint() as url:
        report = measure(program, url, "--config", "load.toml", "--dataset", program.rows(3))
    assert [level.level.concurrency for level in report.levels] == [2, 3]
    assert [one.seconds for one in report.objectives] == [5]


def test_an_error_between_two_levels_loses_none_of_those_that_were_measured(program: Program) -> None:
    rows = program.rows(10)
    with simulated_endpoint("--first-token", "100") as url:
        process = program.start(
            *("load", "--model", "m", "--base-url", url, "--dataset", rows, "--concurrency", "1,2"),
            *("--requests", "10", "--json", "-q"),
        )
        while not program.runs or not trials(program.runs[0]):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        (program.directory / rows).unlink()
        out, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert rows in one_line_of(err)
    (level,) = msgspec.json.decode(out, type=LoadReport).levels
    assert (level.state, level.requests) == ("finished", 10)


def test_tokens_of_reasoning_are_told_apart(program: Program) -> None:
    with simulated_endpoint("--reasoning", "one two three four", "--policy", "words", "--words", "2") as url:
        report = measure(program, url, "--synthetic-input", "20", "--requests", "8")
    (level,) = report.levels
    assert (level.answer_length, level.reasoning_length) == (6, 4)
    assert "Of the tokens of an answer, 4 were reasoning, on average" in report.notes
