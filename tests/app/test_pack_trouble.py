"""What can go wrong in a pack's run, and that no finished cell is ever lost by it."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, GrowingJournal, Program, one_line_of, trials
from tests.app.pack_kit import Packs, events, faulty_pack, numbered, outline, rendered, scenario
from tests.simulated import simulated_endpoint

from benchwright.app.run_lookup.unfinished_runs import UNREPORTED_MARKER
from benchwright.endpoint.simulate import read_truth
from benchwright.records import Status


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def results(told: dict[str, Any], model: str = "endpoint:m") -> dict[str, dict[str, Any]]:
    return {result["scenarioId"]: result for result in told["resultsByModel"][model]}


def test_killed_before_its_summary_was_written_it_asks_nothing_again(packs: Packs, echo: str) -> None:
    pack = packs.pack("mixed")
    before = packs.run(pack, echo)
    run = packs.program.only_run
    (run / "rendered" / "summary.json").unlink()
    (run / UNREPORTED_MARKER).touch()
    assert packs.run(pack, echo)["resultsByModel"] == before["resultsByModel"]
    assert len(trials(packs.program.only_run)) == len(before["resultsByModel"]["endpoint:m"])
    assert events(run)[-1]["type"] == "run_finished"
    assert (run / "rendered" / "summary.json").exists()


# Packs that misbehave


def test_whatever_a_scenario_does_only_its_own_cell_fails_and_says_why(packs: Packs, echo: str) -> None:
    pack = faulty_pack(
        packs.directory / "faulty",
        throws="throw new TypeError('no such thing');",
        exits="process.exit(3);",
        hangs="return new Promise(() => {});",
        nothing="",
        nan="return passed(input, { score: NaN });",
        other="return passed(input, { scenarioId: 'ok' });",
        odd="return passed(input, { status: 'brilliant' });",
        forges="""
            const line = JSON.stringify({ id: 1, result: { scenarioId: "forges", status: "pass" } });
            process.stdout.write(line + "\\n"); console.log(line); console.error(line);
            return passed(input, { status: "fail", score: 0 });
        """,
        rejects="Promise.reject(new Error('nobody looks')); return passed(input);",
    )
    told = packs.run(
        str(pack), echo, "--scenario-seconds", "1", "--mode", "full_parallel", "--concurrency", "4", code=4
    )
    found = results(told)
    summaries = {name: result["summary"] for name, result in found.items()}
    assert found["ok"]["status"] == "pass"
    assert "TypeError: no such thing" in summaries["throws"]
    assert "the pack called process.exit(3)" in summaries["exits"]
    assert "its limit of 1 seconds" in summaries["hangs"]
    assert "nothing" in summaries["nothing"] or "undefined" in summaries["nothing"]
    assert "score is NaN" in summaries["nan"]
    assert "a result of scenario 'ok'" in summaries["other"]
    assert "the status 'brilliant'" in summaries["odd"]
    assert found["forges"]["status"] == "fail"
    (attempt,) = told["attemptsByModel"]["endpoint:m"]["hangs"]
    assert attempt["outcome"] == "limit"
    failed = [name for name in found if found[name].get("errorType") == "execution_error"]
    assert {"throws", "exits", "hangs", "nothing", "nan", "other", "odd"} <= set(failed)
    for name in failed:
        assert found[name]["score"] == 0
        assert found[name]["verifier"]["details"]["error"] == summaries[name]
    assert '"id":1' in rendered(packs.program.only_run, "host.log").replace(" ", "")


def test_a_cell_ends_by_the_packs_own_timeout_however_busy_it_is(packs: Packs, echo: str) -> None:
    busy = (
        'for (;;) { await emit({ type: "model_progress" }); await new Promise((go) => setTimeout(go, 50)); }'
    )
    pack = faulty_pack(packs.directory / "faulty", {"request_timeout_seconds": 1}, busy=busy)
    found = results(packs.run(str(pack), echo, code=0))
    assert found["ok"]["status"] == "pass"
    assert "its limit of 1 seconds" in found["busy"]["summary"]


def test_what_the_user_allows_a_cell_counts_more_than_the_packs_timeout(packs: Packs, echo: str) -> None:
    slow = "await new Promise((go) => setTimeout(go, 1500)); return passed(input);"
    pack = faulty_pack(packs.directory / "faulty", {"request_timeout_seconds": 1}, slow=slow)
    found = results(packs.run(str(pack), echo, "--scenario-seconds", "60"))
    assert found["slow"]["status"] == "pass"


def test_a_scorer_that_fails_leaves_the_results(packs: Packs, echo: str) -> None:
    pack = faulty_pack(packs.directory / "pack")
    entry = pack / "dist/benchlocal/index.js"
    entry.write_text(
        entry.read_text() + ";exports.scoreModelResults = () => { throw new Error('no sums'); };"
    )
    told = packs.run(str(pack), echo, code=4)
    assert results(told)["ok"]["status"] == "pass"
    assert told["scores"] == {}
    assert told["scoreErrors"] == {
        "endpoint:m": "the pack's scoreModelResults() failed: no sums (dist/benchlocal/index.js:13)"
    }


def test_a_pack_that_cannot_be_prepared_is_an_error_that_the_run_keeps(packs: Packs, echo: str) -> None:
    pack = faulty_pack(packs.directory / "pack")
    entry = pack / "dist/benchlocal/index.js"
    entry.write_text(entry.read_text() + ";exports.prepare = async () => { throw new Error('no tools'); };")
    ended = packs.program.run("pack", "run", str(pack), *packs.arguments(echo))
    assert ended.returncode == 1
    assert (
        one_line_of(ended.stderr)
        == "Error: the pack's prepare() failed: no tools (dist/benchlocal/index.js:13)"
    )
    run = packs.program.only_run
    assert outline(run) == [("run_error",)]
    assert (
        json.loads(rendered(run, "summary.json"))["error"]
        == "the pack's prepare() failed: no tools (dist/benchlocal/index.js:13)"
    )


@pytest.mark.slow
def test_a_request_has_a_limit_of_its_own(packs: Packs) -> None:
    pack = packs.pack("pack", [scenario("A-01", tags=["swallows"])])
    with simulated_endpoint("--first-token=5000") as base_url:
        more = packs.arguments(base_url, "--timeout", "0.5", "--cell-retries", "0")
        slow = packs.program.run("pack", "run", pack, *more, "--json")
    (result,) = json.loads(slow.stdout)["packs"][0]["resultsByModel"]["endpoint:m"]
    assert (result["errorType"], result["summary"][:9]) == ("provider_error", "HTTP 502:")
    assert "no answer within 0.5 s" in result["summary"]


# Providers that misbehave


@pytest.mark.parametrize("style", ["throws", "swallows"])
def test_passing_trouble_of_a_provider_is_tried_again(packs: Packs, tmp_path: Path, style: str) -> None:
    log = tmp_path / "truth.jsonl"
    faults = ["--fault=rate_limit=1", "--max-faults=2", "--retry-after=0.01", f"--log={log}"]
    more = ["--mode", "serial", "--max-wait", "0"]
    with simulated_endpoint(*faults) as base_url:
        told = packs.run(packs.pack("pack", [scenario("A-01", tags=[style])]), base_url, *more)
    assert results(told)["A-01"]["status"] == "pass"
    assert told["attemptsByModel"]["endpoint:m"]["A-01"][0]["requests"] == 3
    asked = [one for one in read_truth(log) if one.path != "/v1/models"]
    assert [one.fault for one in asked] == ["rate_limit", "rate_limit", None]
    again = [one["message"] for one in events(packs.program.only_run) if one["type"] == "model_progress"]
    assert sum("trying again" in message for message in again) == 2


def test_trouble_before_an_answer_is_tried_again_by_the_relay(packs: Packs, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    with simulated_endpoint("--fault=server_error=1", "--max-faults=2", f"--log={log}") as base_url:
        told = packs.run(packs.pack("pack", numbered(1)), base_url)
    assert told["attemptsByModel"]["endpoint:m"]["S-01"][0]["requests"] == 1
    assert len([one for one in read_truth(log) if one.path != "/v1/models"]) == 3


def test_lasting_trouble_is_a_typed_error_and_is_made_good_when_it_has_passed(
    packs: Packs, tmp_path: Path
) -> None:
    pack = packs.pack(
        "pack", [scenario("A-01"), scenario("A-02", tags=["swallows"]), scenario("B-01", "B", "never")]
    )
    faults = ["--fault=rate_limit=1", "--max-faults=3", "--retry-after=0.01"]
    more = ["--cell-retries", "0", "--max-wait", "0", "--mode", "serial"]
    with simulated_endpoint(*faults) as base_url:
        command = ["pack", "run", pack, *packs.arguments(base_url, *more), "--json"]
        first = packs.program.run(*command)
        (spoilt,) = json.loads(first.stdout)["packs"]
        for result in spoilt["resultsByModel"]["endpoint:m"]:
            assert (result["status"], result["errorType"], result["retryable"]) == (
                "fail",
                "provider_error",
                True,
            )
            assert "HTTP 429" in result["summary"]
        made = packs.run(pack, base_url, *more, "--provider-errors")
    assert len(packs.program.runs) == 1, "it is the same run"
    found = results(made)
    assert [found[name]["status"] for name in ("A-01", "A-02", "B-01")] == ["pass", "pass", "fail"]
    assert "errorType" not in found["B-01"]
    assert made["scores"]["endpoint:m"]["totalScore"] == pytest.approx(60)
    told = [event for event in outline(packs.program.only_run) if event[0] == "scenario_result"]
    assert len(told) == 6, "the new results are told after the old ones"


def test_what_did_not_pass_is_made_again_and_nothing_else(packs: Packs, tmp_path: Path) -> None:
    wanted = numbered(5)
    answers = [{"prompt": one["promptText"], "answer": one["expect"]} for one in wanted]
    log = tmp_path / "truth.jsonl"
    pack = packs.pack("pack", wanted)
    with simulated_endpoint("--accuracy=0.6", f"--log={log}", answers=answers) as base_url:
        first = packs.run(pack, base_url)
        failed = {name for name, result in results(first).items() if result["status"] != "pass"}
        second = packs.run(pack, base_url, "--retry-failed")
        third = packs.run(pack, base_url, "--retry-scenario", "S-01")
    assert len(failed) == 2
    assert len(packs.program.runs) == 1
    asked = [trial.sample for trial in trials(packs.program.only_run)]
    assert sorted(asked[5:7]) == sorted(failed)
    assert asked[7:] == ["S-01"]
    kept = {name: result for name, result in results(first).items() if name not in failed}
    assert kept.items() <= results(second).items()
    (target,) = third["statisticsByModel"].values()
    assert (target["trials"], target["requests"]["total_requests"]) == (5, 8), "the last attempt counts"
    assert {name for name in results(third) if name != "S-01"} == {f"S-{number:02}" for number in range(2, 6)}
    passed = sum(result["status"] == "pass" for result in results(third).values())
    (score,) = (one for one in target["scores"] if one["scorer"] == "passed")
    assert score["mean"] == pytest.approx(passed / 5)


def test_an_address_where_nobody_is_stops_the_run_and_says_so(packs: Packs) -> None:
    ended = packs.program.run(
        "pack",
        "run",
        packs.pack("pack", numbered(3)),
        *packs.arguments(NOWHERE, "--no-probe", "--cell-retries", "0"),
        "--json",
    )
    assert ended.returncode == 1
    (told,) = json.loads(ended.stdout)["packs"]
    assert {result["errorType"] for result in told["resultsByModel"]["endpoint:m"]} == {"provider_error"}
    assert "error" in told
    assert outline(packs.program.only_run)[-1] == ("run_error",)


# Stopping and going on


def test_ctrl_c_aborts_what_is_in_flight_and_the_same_command_goes_on(packs: Packs, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    pack = packs.pack("pack", numbered(32))
    with simulated_endpoint("--first-token=300", f"--log={log}") as base_url:
        command = ["pack", "run", pack, *packs.arguments(base_url)]
        process = packs.program.start(*command, "--json")
        GrowingJournal(packs.program).wait_for(2, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130, err
        assert "Re-run the same command to resume from where you left off." in err
        (stopped,) = json.loads(out)["packs"]
        assert stopped["cancelled"] is True
        assert outline(packs.program.only_run)[-1] == ("run_error",)
        done = results(stopped)
        assert 2 <= len(done) < 32
        assert stopped["scores"]["endpoint:m"]["totalScore"] > 0, "what there is is scored"
        told = packs.run(pack, base_url)
    assert len(packs.program.runs) == 1
    assert told["cancelled"] is False
    assert done.items() <= results(told).items()
    assert len(results(told)) == 32
    aborted = [one for one in trials(packs.program.only_run) if one.status is Status.CANCELLED]
    asked = sum(one.path.endswith("/chat/completions") for one in read_truth(log))
    assert 32 <= asked <= 32 + len(aborted), "only what was aborted is asked twice"
    assert outline(packs.program.only_run)[-1] == ("run_finished",)


def test_kill_9_loses_no_finished_cell(packs: Packs, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    pack = packs.pack("pack", numbered(12))
    more = ["--mode", "full_parallel", "--concurrency", "2"]
    with simulated_endpoint("--first-token=150", f"--log={log}") as base_url:
        process = packs.program.start("pack", "run", pack, *packs.arguments(base_url, *more))
        GrowingJournal(packs.program).wait_for(4, process)
        process.kill()
        process.communicate()
        before = {trial.key: trial for trial in trials(packs.program.only_run)}
        told = packs.run(pack, base_url, *more)
    assert 4 <= len(before) < 12
    after = trials(packs.program.only_run)
    assert len(after) == len({trial.key for trial in after}) == 12
    assert before.items() <= {trial.key: trial for trial in after}.items()
    assert {result["status"] for result in results(told).values()} == {"pass"}
    asked = sum(one.path.endswith("/chat/completions") for one in read_truth(log))
    assert asked <= 12 + 2, "at most what was in flight is asked again"
    summary = json.loads(rendered(packs.program.only_run, "summary.json"))
    finished = [event["scenarioId"] for event in summary["events"] if event["type"] == "scenario_finished"]
    assert sorted(finished) == [f"S-{number:02}" for number in range(1, 13)], "each is told once"


# Verifiers


@contextmanager
def verifier(healthy: int) -> Iterator[str]:
    """A verifier that is healthy for so many questions, and then is not any more."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if len(asked) <= healthy else 503)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def verified(address: str) -> list[dict[str, Any]]:
    custom = {"defaultUrl": address, "healthcheckPath": "/health"}
    return [
        {
            "id": "judge",
            "transport": "http",
            "required": True,
            "defaultMode": "custom_url",
            "customUrl": custom,
        }
    ]


def test_a_required_verifier_that_is_not_there_is_told_before_any_model_is_asked(
    packs: Packs, tmp_path: Path
) -> None:
    log = tmp_path / "truth.jsonl"
    pack = packs.pack("pack", numbered(2), verifiers=verified("http://127.0.0.1:9"))
    with simulated_endpoint(f"--log={log}") as base_url:
        ended = packs.program.run("pack", "run", pack, *packs.arguments(base_url))
    assert ended.returncode == 1
    line = one_line_of(ended.stderr)
    assert line.startswith("Error: The verifier 'judge' of pack is not running: ")
    assert [one.path for one in read_truth(log)] == ["/v1/models"]
    assert line == f"Error: {json.loads(rendered(packs.program.only_run, 'summary.json'))['error']}"


def test_a_verifier_that_dies_in_mid_run_is_an_error_and_no_bad_model(packs: Packs, echo: str) -> None:
    wrong = [scenario(f"S-{number:02}", expect="never said") for number in range(1, 4)]
    with verifier(healthy=2) as address:
        told = packs.run(
            packs.pack("pack", wrong, verifiers=verified(address)), echo, "--mode", "serial", code=4
        )
    found = results(told)
    assert "errorType" not in found["S-01"], "it was there: the model was wrong"
    for name in ("S-02", "S-03"):
        assert found[name]["errorType"] == "execution_error"
        assert "The verifier 'judge' of pack is not running" in found[name]["summary"]


def test_the_address_of_a_verifier_is_set_in_the_configuration(packs: Packs, echo: str) -> None:
    with verifier(healthy=100) as address:
        packs.program.home.mkdir()
        own = f'[benchpacks.pack.verifiers.judge]\ncustom_url = "{address}"\n'
        (packs.program.home / "packs.toml").write_text(own)
        pack = packs.pack("pack", numbered(1), verifiers=verified("http://127.0.0.1:9"))
        assert results(packs.run(pack, echo))["S-01"]["status"] == "pass"
        (state,) = packs.told("verifiers", pack)["verifiers"]
    assert (state["status"], state["url"]) == ("running", address)
