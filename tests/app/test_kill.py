"""`kill -9` at any instant loses no finished trial, and nothing is asked twice: the server's log proves it."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from time import perf_counter_ns

import pytest
from tests.app.app_kit import GrowingJournal, Program, finished, scores, settings
from tests.simulated import simulated_endpoint

from benchwright.endpoint.simulate import TruthRecord, read_truth
from benchwright.records import TrialRecord

TRIALS = 500
KILLS = 10
CONCURRENCY = 8
FAULTS = ("rate_limit=0.05", "server_error=0.05", "reset=0.05", "truncate=0.05")
SEED = 20_260_101


def kill_at_instants(program: Program, command: list[str]) -> list[int]:
    """Starts the command again and again and kills it, each time some trials further on; returns when.

    The first instant lies somewhere in the start-up, the others are spread over the run by chance.
    """
    program.forked = False  # a start takes its whole time
    chance = random.Random(SEED)
    journal = GrowingJournal(program)
    killed_at = []
    for trials in [0, *sorted(chance.sample(range(1, TRIALS - 40), KILLS - 1))]:
        process = program.start(*command)
        if trials:
            journal.wait_for(trials, process)
        time.sleep(chance.uniform(0.0, 0.02 if trials else 0.4))
        killed_at.append(perf_counter_ns())
        process.kill()
        process.communicate()
        assert process.returncode == -9, "it was still at work"
    return killed_at


def session_of(truth: TruthRecord, killed_at: list[int]) -> int:
    """How many kills came before the server received a request."""
    return sum(truth.received > at for at in killed_at)


@pytest.mark.slow
def test_ten_kills_lose_nothing_and_ask_nothing_twice(program: Program, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    faults = [f"--fault={fault}" for fault in FAULTS]
    timing = settings(first_token="lognormal:40:0.4", retry_after=0.02, log=log)
    with simulated_endpoint(*faults, *timing, "--max-faults=1000") as base_url:
        options = settings(batch_size=CONCURRENCY, retries=12)
        command = program.evaluating(program.rows(TRIALS), base_url, *options)
        killed_at = kill_at_instants(program, command)
        summary = program.summary(*command)
        again = program.run(*command)

    assert (summary.state, summary.done) == ("finished", TRIALS)
    assert summary.targets[0].statuses == {"scored": TRIALS}
    assert summary.targets[0].scores[0].mean == 1.0
    assert "already completed (cached)" in again.stdout

    done = finished(program.only_run)
    assert len(done) == len({trial.key for trial in done}) == TRIALS
    assert len(scores(program.only_run)) == len({score.key for score in scores(program.only_run)}) == TRIALS
    prove_by_the_servers_log(read_truth(log), done, killed_at)


def prove_by_the_servers_log(log: list[TruthRecord], done: list[TrialRecord], killed_at: list[int]) -> None:
    """Every answer that the server gave is a finished trial, or was on its way when the client was killed."""
    asked = [truth for truth in log if truth.path.endswith("/chat/completions")]
    injected = [truth for truth in asked if truth.fault is not None]
    answered = Counter(truth.id for truth in asked if truth.complete)
    kept = {request.id for trial in done for request in trial.requests}
    assert len(kept) == TRIALS, "one request a trial"
    assert set(answered.values()) == {1}, "no request was answered twice"
    assert kept <= answered.keys(), "no answer was made up"
    assert injected, "the endpoint did fail"

    lost = Counter(session_of(truth, killed_at) for truth in asked if truth.complete and truth.id not in kept)
    assert all(count <= CONCURRENCY for count in lost.values())
    assert lost[KILLS] == 0, "the last session was not killed, so it lost nothing"
    assert len(answered) <= TRIALS + CONCURRENCY * KILLS
    assert len(asked) <= TRIALS + len(injected) + CONCURRENCY * KILLS
