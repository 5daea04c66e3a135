"""`pack run`: packs as they are built for the desktop host run unmodified, and get the score their own scorer gives."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of, settings
from tests.app.pack_kit import (
    MIXED,
    Packs,
    events,
    faulty_pack,
    most_at_once,
    numbered,
    outline,
    rendered,
    scenario,
)
from tests.app.sampling_server import sampling_server
from tests.simulated import simulated_endpoint

from benchwright.endpoint.simulate import read_truth
from benchwright.engine.seeds import repeat_seed

KEY = "sk-benchwright-test-0123456789abcdef"


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


@pytest.fixture(scope="module")
def locked() -> Iterator[str]:
    """An echo that wants a key."""
    with simulated_endpoint(f"--api-key={KEY}") as base_url:
        yield base_url


def statuses(told: dict[str, Any], model: str = "endpoint:m") -> dict[str, str]:
    return {result["scenarioId"]: result["status"] for result in told["resultsByModel"][model]}


# The score


@pytest.mark.parametrize("entry", ["./dist/benchlocal/index.js", "./dist/index.mjs"])
def test_a_javascript_pack_runs_as_it_is_and_gets_its_own_score(packs: Packs, echo: str, entry: str) -> None:
    if entry.endswith(".mjs"):
        (packs.directory / "pack").mkdir()
        packs.directory.joinpath("pack", "package.json").write_text('{"type": "module"}')
    place: dict[str, Any] = (
        {"entry": entry} if "benchlocal" in entry else {"entry": "./dist/benchlocal/index.mjs"}
    )
    told = packs.run(packs.pack("pack", **place), echo)
    assert statuses(told) == {"A-01": "pass", "A-02": "partial", "B-01": "pass", "B-02": "fail"}
    assert told["scores"]["endpoint:m"] == {
        "totalScore": pytest.approx(65),
        "categories": [
            {"id": "A", "label": "Category A", "score": 75, "weight": 0.6, "unit": "pts"},
            {"id": "B", "label": "Category B", "score": 50, "weight": 0.4, "unit": "pts"},
        ],
        "summary": "★ Weak",
        "totalUnit": "pts",
        "extra": 7,
    }
    (attempt,) = told["attemptsByModel"]["endpoint:m"]["A-01"]
    assert attempt["result"]["extra"] == "kept"
    assert (attempt["outcome"], attempt["requests"]) == ("scored", 1)
    assert attempt["promptTokens"] > 0


def test_a_python_pack_speaks_the_same_protocol(packs: Packs) -> None:
    answers = [
        {"prompt": "single word READY", "answer": "READY"},
        {"prompt": "12 boxes", "answer": "They have 21 left.\nAnswer: 21"},
    ]
    packs.program.run("pack", "init", "mine", "--language", "python")
    with simulated_endpoint(answers=answers) as base_url:
        told = packs.run("./mine", base_url)
    assert statuses(told) == {"A-01": "pass", "A-02": "fail", "B-01": "pass", "B-02": "fail"}
    assert told["scores"]["endpoint:m"]["totalScore"] == 50


def test_an_installed_pack_runs_by_its_id_and_from_the_general_command(packs: Packs, echo: str) -> None:
    packs.told("install", packs.pack("toolbox"), "--copy")
    assert packs.run("toolbox", echo)["scores"]["endpoint:m"]["totalScore"] == pytest.approx(65)
    ended = packs.program.run("run", "pack:toolbox", "--model", "m", "--base-url", echo, "--fresh", "--json")
    assert ended.returncode == 0, ended.stderr
    (told,) = json.loads(ended.stdout)["packs"]
    assert told["benchPackId"] == "toolbox"
    refused = packs.program.run("run", "pack:toolbox", "--where", "a=b", "--model", "m", "--base-url", echo)
    assert "Bench packs have no option --where." in refused.stderr


# What is sent


def test_a_setting_is_sent_where_pack_or_user_gives_it_and_the_user_comes_last(
    packs: Packs, echo: str
) -> None:
    given = {"temperature": 0, "top_p": 0.9, "maxTokens": 7, "request_timeout_seconds": 60}
    pack = packs.pack("pack", [scenario("A-01")], samplingDefaults=given)
    told = packs.run(pack, echo, "--top-p", "0.5", "--presence-penalty", "0.1", "--param", 'stop=["x"]')
    log = json.loads(told["resultsByModel"]["endpoint:m"][0]["rawLog"])
    expected = {"temperature": 0, "top_p": 0.5, "maxTokens": 7, "presence_penalty": 0.1, "stop": ["x"]}
    assert log["generation"] == {"request_timeout_seconds": 60, **expected}
    assert {name: log["sent"][name] for name in expected} == expected
    assert "top_k" not in log["sent"]
    assert told["generation"] == log["generation"]


def test_each_attempt_is_told_a_seed_of_its_own(packs: Packs) -> None:
    with sampling_server() as server:
        told = packs.run(packs.pack("pack", [scenario("A-01")]), server.base_url, "--n", "2", "--seed", "7")
    assert [body["seed"] for body in server.bodies] == [7, repeat_seed(7, 1)]
    assert told["generation"]["seed"] == 7


def test_attempts_that_are_all_equal_are_told_of(packs: Packs, echo: str) -> None:
    pack = packs.pack("pack", [scenario(f"A-0{number}") for number in range(5)])
    ended = packs.program.run("pack", "run", pack, *packs.arguments(echo, "--n", "2", "--temperature", "0.8"))
    assert "Repeats are equal: at temperature 0.8" in " ".join(ended.stdout.split())


def test_without_any_setting_only_the_time_limit_is_told(packs: Packs, echo: str) -> None:
    told = packs.run(packs.pack("pack", [scenario("A-01")], samplingDefaults={}), echo, "--timeout", "20")
    log = json.loads(told["resultsByModel"]["endpoint:m"][0]["rawLog"])
    assert log["generation"] == {"request_timeout_seconds": 20}
    assert set(log["sent"]) == {"model", "messages"}


@pytest.mark.parametrize("direct", [False, True])
def test_no_key_is_in_any_file_nor_in_what_is_printed(packs: Packs, locked: str, direct: bool) -> None:
    leaking = faulty_pack(
        packs.directory / "leaking",
        tells="""
            console.log(JSON.stringify(process.env));
            return passed(input, { rawLog: JSON.stringify(globalThis.given) });
        """,
        asks="""
            const { baseUrl } = globalThis.given.providers[0];
            const key = globalThis.given.secrets[0].value;
            const headers = { "content-type": "application/json", authorization: "Bearer " + key };
            const body = JSON.stringify({ model: input.model.model, messages: [{ role: "user", content: "hello" }] });
            const response = await fetch(baseUrl + "/chat/completions", { method: "POST", headers, body });
            return passed(input, { summary: response.status + " with " + key });
        """,
    )
    entry = leaking / "dist/benchlocal/index.js"
    entry.write_text(
        entry.read_text().replace(
            "prepare = async () =>", "prepare = async (given) => (globalThis.given = given) &&"
        )
    )
    files = [part for name in ("csv", "markdown") for part in (f"--{name}", f"out.{name}")]
    more = [*files, *(["--direct"] if direct else [])]
    ended = packs.program.run(
        "pack", "run", str(leaking), *packs.arguments(locked, *more), "--json", BENCHWRIGHT_API_KEY=KEY
    )
    assert ended.returncode == 0, ended.stderr
    (told,) = json.loads(ended.stdout)["packs"]
    summary = {result["scenarioId"]: result["summary"] for result in told["resultsByModel"]["endpoint:m"]}[
        "asks"
    ]
    assert summary.startswith("200 with ")
    assert told["metered"] is not direct
    assert told["attemptsByModel"]["endpoint:m"]["asks"][0]["requests"] == (0 if direct else 1)
    assert KEY not in ended.stdout + ended.stderr
    found = [
        path for path in packs.directory.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert found == []


# Modes, and how much at once


SERIAL = {
    "serial": [
        ("S-01", "endpoint:m"),
        ("S-01", "endpoint:n"),
        ("S-02", "endpoint:m"),
        ("S-02", "endpoint:n"),
    ],
    "serial_by_model": [
        ("S-01", "endpoint:m"),
        ("S-02", "endpoint:m"),
        ("S-01", "endpoint:n"),
        ("S-02", "endpoint:n"),
    ],
}


def results_in_order(run: Path) -> list[tuple[str, ...]]:
    return [event[1:] for event in outline(run) if event[0] == "scenario_result"]


@pytest.mark.parametrize(
    "mode", ["serial", "serial_by_model", "parallel_by_test_case", "parallel_by_model", "full_parallel"]
)
def test_each_mode_has_its_order_and_holds_the_cap(packs: Packs, tmp_path: Path, mode: str) -> None:
    log = tmp_path / "truth.jsonl"
    with simulated_endpoint("--first-token=80", f"--log={log}") as base_url:
        packs.run(
            packs.pack("pack", numbered(2)), base_url, "--mode", mode, "--concurrency", "3", models=("m", "n")
        )
    run = packs.program.only_run
    told = outline(run)
    assert told[0] == ("run_started",)
    assert told[-1] == ("run_finished",)
    for name in ("S-01", "S-02"):
        started, finished = told.index(("scenario_started", name)), told.index(("scenario_finished", name))
        results = [told.index(("scenario_result", name, model)) for model in ("endpoint:m", "endpoint:n")]
        assert started < min(results) <= max(results) < finished
    assert len(told) == 10, "each thing is told once"

    order = results_in_order(run)
    most = most_at_once(read_truth(log))
    if mode in SERIAL:
        assert order == SERIAL[mode]
        assert most == 1
    elif mode == "parallel_by_test_case":
        assert order == SERIAL["serial"], "by the order of the models, when the group is done"
        assert most == 2
    elif mode == "parallel_by_model":
        assert [model for _, model in order] == ["endpoint:m"] * 2 + ["endpoint:n"] * 2
        assert most == 2
    else:
        assert most == 3


def test_forty_scenarios_for_eight_models_hold_the_cap(packs: Packs, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    models = [f"model-{number}" for number in range(8)]
    with simulated_endpoint("--first-token=20", f"--log={log}") as base_url:
        told = packs.run(
            packs.pack("pack", numbered(40)),
            base_url,
            "--mode",
            "full_parallel",
            "--concurrency",
            "16",
            models=models,
        )
    truth = read_truth(log)
    assert sum(one.path.endswith("/chat/completions") for one in truth) == 320
    assert 8 <= most_at_once(truth) <= 16
    assert {len(results) for results in told["resultsByModel"].values()} == {40}
    assert all(score["totalScore"] == pytest.approx(100) for score in told["scores"].values())


# Repeats


def test_repeats_are_all_kept_and_the_majority_stands_for_them(packs: Packs) -> None:
    wanted = numbered(5)
    answers = [{"prompt": one["promptText"], "answer": one["expect"]} for one in wanted]
    with simulated_endpoint("--accuracy=0.6", answers=answers) as base_url:
        told = packs.run(packs.pack("pack", wanted), base_url, "--n", "5", "--mode", "full_parallel")
    passes = 0
    for result in told["resultsByModel"]["endpoint:m"]:
        attempts = [one["result"] for one in told["attemptsByModel"]["endpoint:m"][result["scenarioId"]]]
        passed = sum(attempt["status"] == "pass" for attempt in attempts)
        passes += passed
        assert len(attempts) == 5
        assert result["status"] == ("pass" if passed >= 3 else "fail")
        assert result["score"] == (100 if passed >= 3 else 0)
        counts = ", ".join(
            f"{count} {name}" for name, count in (("pass", passed), ("fail", 5 - passed)) if count
        )
        assert result["summary"].startswith(f"{counts} of 5 runs. ")
        assert result["rawLog"].count("--- run ") == 5
        durations = [attempt["timings"]["durationMs"] for attempt in attempts]
        assert result["timings"]["durationMs"] == pytest.approx(sum(durations))
    assert passes == 15, "the model answers three of five rightly, each time"
    (score,) = (one for one in told["statisticsByModel"]["endpoint:m"]["scores"] if one["scorer"] == "passed")
    assert score["passes"][0]["pass_at_k"] == pytest.approx(0.6)
    assert [one["k"] for one in score["passes"]] == [1, 3, 5]
    assert score["std"] == pytest.approx(0.24**0.5)
    messages = [one["message"] for one in events(packs.program.only_run) if one["type"] == "model_progress"]
    assert sum(text == "Running attempt 5/5." for text in messages) == 5


# Files and output


def test_a_run_leaves_the_documented_files(packs: Packs, echo: str) -> None:
    told = packs.run(packs.pack("pack"), echo, models=("m", "n"))
    run = packs.program.only_run
    summary = json.loads(rendered(run, "summary.json"))
    assert summary == told
    assert summary["runId"] == run.name
    assert summary["runDir"] == str(run)
    assert (summary["benchPackId"], summary["benchPackName"], summary["benchPackVersion"]) == (
        "pack",
        "Pack pack",
        "1.0.0",
    )
    assert (summary["modelCount"], summary["scenarioCount"], summary["runsPerTest"]) == (2, 4, 1)
    assert summary["executionMode"] == "parallel_by_test_case"
    assert summary["cancelled"] is False
    assert "error" not in summary
    assert summary["startedAt"] <= summary["completedAt"]
    assert summary["events"] == events(run)
    assert [model["id"] for model in summary["models"]] == ["endpoint:m", "endpoint:n"]
    assert summary["statisticsByModel"]["endpoint:n"]["requests"]["total_requests"] == 4
    started = events(run)[0]
    assert started == {
        "type": "run_started",
        "runId": run.name,
        "models": [{"id": "endpoint:m", "label": "m"}, {"id": "endpoint:n", "label": "n"}],
        "totalScenarios": 4,
    }
    assert events(run)[1] == {
        "type": "scenario_started", "scenarioId": "A-01", "title": "Title of A-01", "index": 1, "total": 4,
    }  # fmt: skip
    assert {
        "type": "model_progress",
        "modelId": "endpoint:n",
        "scenarioId": "A-01",
        "message": "Asking.",
    } in events(run)
    assert events(run)[-1] == {"type": "run_finished", "scores": told["scores"]}
    assert '[info] prepared {"model":["id","provider","model","label","enabled","group"]}' in rendered(
        run, "host.log"
    )


def test_the_terminal_shows_the_matrix_the_bars_and_the_packs_summary(packs: Packs, echo: str) -> None:
    ended = packs.program.run("pack", "run", packs.pack("pack"), *packs.arguments(echo, models=("m", "n")))
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0] == "Pack pack 1.0.0: 4 scenarios, 2 models"
    assert lines[1].split() == ["Scenario", "m", "n"]
    signs = {line.split()[0]: line.count(sign) for line in lines[2:6] for sign in "✓!✗" if sign in line}
    assert signs == {"A-01": 2, "A-02": 2, "B-01": 2, "B-02": 2}
    assert "m: 65 pts  ★ Weak" in ended.stdout
    assert "Category A  ███████████████       75 pts  weight 0.6" in ended.stdout
    assert "[8/8] " in ended.stderr


def test_attempts_are_written_as_csv_and_a_card_as_markdown(packs: Packs, echo: str) -> None:
    pack = packs.pack("pack", [scenario("A-01"), scenario("=1+1|x", "B")])
    packs.run(pack, echo, "--csv", "out.csv", "--markdown", "card.md", "--n", "3")
    rows = list(csv.DictReader((packs.directory / "out.csv").read_text().splitlines()))
    assert [(row["pack"], row["model"], row["repeat"], row["status"], row["score"]) for row in rows[:3]] == [
        ("pack", "endpoint:m", str(number), "pass", "100") for number in range(3)
    ]
    assert rows[3]["scenario"] == "'=1+1|x", "no spreadsheet takes it for a formula"
    card = (packs.directory / "card.md").read_text()
    assert "| m | 100 pts | ★★★ Good |" in card
    assert r"| Model | A-01 | =1+1\|x |" in card
    assert "| m | pass (3/3) | pass (3/3) |" in card


def test_a_formula_behind_a_tab_is_escaped_in_csv(packs: Packs, echo: str) -> None:
    pack = packs.pack("pack", [scenario("\t=1+1")])
    packs.run(pack, echo, "--csv", "out.csv")
    (row,) = csv.DictReader((packs.directory / "out.csv").read_text().splitlines())
    assert row["scenario"] == "'\t=1+1"


def test_several_packs_of_which_one_is_broken_are_one_json_object(packs: Packs, echo: str) -> None:
    broken = faulty_pack(packs.directory / "broken")
    (broken / "dist/benchlocal/index.js").write_text("throw new Error('no licence')")
    ended = packs.program.run(
        "pack", "run", str(broken), packs.pack("good", [scenario("A-01")]), *packs.arguments(echo), "--json"
    )
    assert ended.returncode == 1
    told = json.loads(ended.stdout)
    assert [pack["benchPackId"] for pack in told["packs"]] == ["good"]
    (error,) = told["errors"]
    assert error["pack"] == str(broken)
    assert error["error"] == "the pack did not load: no licence (dist/benchlocal/index.js:1)"
    assert "no licence" in one_line_of(ended.stderr)


def test_a_dry_run_tells_what_would_be_asked_and_asks_nothing(packs: Packs, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    with simulated_endpoint(f"--log={log}") as base_url:
        told = packs.run(packs.pack("pack"), base_url, "--dry-run", "--n", "3", models=("m", "n"))
    assert (told["cells"], told["scenarios"]) == (24, [one["id"] for one in MIXED])
    assert packs.program.runs == []
    assert read_truth(log) == []


# Models


def test_models_and_providers_come_from_the_configuration(packs: Packs, locked: str) -> None:
    packs.program.home.mkdir()
    (packs.program.home / "packs.toml").write_text(f"""
[providers.local]
base_url = "{locked}"
api_key_env = "LOCAL_KEY"

[[models]]
id = "local:big"
provider = "local"
model = "vendor/big-model"
label = "Big"

[[models]]
id = "local:off"
provider = "local"
model = "off"
label = "Off"
enabled = false
""")
    pack = packs.pack("pack", [scenario("A-01")])
    ended = packs.program.run("pack", "run", pack, "--json", LOCAL_KEY=KEY)
    assert ended.returncode == 0, ended.stderr
    (told,) = json.loads(ended.stdout)["packs"]
    assert list(told["scores"]) == ["local:big"]
    assert statuses(told, "local:big") == {"A-01": "pass"}
    log = json.loads(told["resultsByModel"]["local:big"][0]["rawLog"])
    assert log["sent"]["model"] == "vendor/big-model"
    refused = packs.program.run("pack", "run", pack, "--model", "Off")
    assert one_line_of(refused.stderr) == "Error: The model 'Off' is not enabled in the configuration."


def test_without_a_model_one_line_says_what_to_do(packs: Packs) -> None:
    ended = packs.program.run("pack", "run", packs.pack("pack"))
    assert ended.returncode == 1
    assert one_line_of(ended.stderr).startswith("Error: No model: give --model and --base-url, or models in ")


def test_a_scenario_that_is_not_there_is_refused_with_the_nearest(packs: Packs, echo: str) -> None:
    ended = packs.program.run("pack", "run", packs.pack("pack"), *packs.arguments(echo, "--scenario", "A-10"))
    assert "There is no" not in ended.stdout
    assert one_line_of(ended.stderr).startswith("Error: The pack has no scenario 'A-10'. Did you mean")


def test_only_the_scenarios_that_were_asked_for_run(packs: Packs, echo: str) -> None:
    told = packs.run(packs.pack("pack"), echo, *settings(scenario="B-01"), *settings(scenario="A-01"))
    assert sorted(statuses(told)) == ["A-01", "B-01"]


def test_a_choice_of_scenarios_says_of_how_many(packs: Packs, echo: str) -> None:
    pack = packs.pack("box", numbered(15))
    chosen = ["--scenario", "S-03", "--scenario", "S-07", "--markdown", "card.md"]
    ended = packs.program.run("pack", "run", pack, *packs.arguments(echo, *chosen))
    assert "Pack box 1.0.0: 2 of 15 scenarios, 1 model" in ended.stdout
    assert "2 of 15 scenarios." in (packs.directory / "card.md").read_text()
    assert "2 of 15 scenarios:" in packs.program.run("show", str(packs.program.only_run)).stdout
    dry = packs.program.run("pack", "run", pack, *packs.arguments(echo, *chosen[:2], "--dry-run"))
    assert "(1 of 15 scenarios, 1 model, 1 attempt)" in dry.stdout
    whole = packs.program.run("pack", "run", pack, *packs.arguments(echo))
    assert "Pack box 1.0.0: 15 scenarios, 1 model" in whole.stdout


def test_one_model_uses_the_concurrency_that_was_asked_for(packs: Packs, tmp_path: Path) -> None:
    pack, most = packs.pack("box", numbered(8)), {}
    for mode in ("parallel_by_model", "parallel_by_test_case"):
        named = [] if mode == "parallel_by_model" else ["--mode", mode]
        log = tmp_path / f"{mode}.jsonl"
        with simulated_endpoint("--first-token=200", f"--log={log}") as base_url:
            told = packs.run(pack, base_url, "--concurrency", "4", *named)
        assert told["executionMode"] == mode
        most[mode] = most_at_once(read_truth(log))
    assert most == {"parallel_by_model": 4, "parallel_by_test_case": 1}
