"""`load --keep-bodies`: a share of the conversations is kept, and the figures do not change by it."""

from __future__ import annotations

from tests.app.app_kit import Program
from tests.app.load.load_kit import measure
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.cached_prompts import MAX_PROMPTS_READ
from benchwright.records import FAILED_STATUSES
from benchwright.runs.table import read_table

REQUESTS = 600


def test_a_share_of_the_conversations_and_all_that_failed_are_kept(program: Program) -> None:
    synthetic = ("--synthetic-input", "20", "--synthetic-output", "4", "--requests", str(REQUESTS))
    with simulated_endpoint("--fault", "server_error=0.05") as url:
        report = measure(program, url, *synthetic, "--concurrency", "8", "--keep-bodies", "0.25")
    (level,) = report.levels
    run = program.home / "runs" / level.run
    records = [trial.record for trial in read_table(run).read_trials(range(REQUESTS))]
    assert len(records) == level.requests == REQUESTS
    failed = [record for record in records if record.status in FAILED_STATUSES]
    assert failed
    assert all(record.body[1] for record in failed)
    answered_late = [record for record in records if record.status not in FAILED_STATUSES][MAX_PROMPTS_READ:]
    kept = [record for record in answered_late if record.body[1]]
    assert 0.1 < len(kept) / len(answered_late) < 0.4
    assert (run / "bodies.jsonl").read_bytes().count(b"\n") == sum(bool(record.body[1]) for record in records)


def test_what_was_not_kept_is_told_where_it_is_asked_for(program: Program) -> None:
    synthetic = (
        "--synthetic-input",
        "20",
        "--synthetic-output",
        "4",
        "--requests",
        str(MAX_PROMPTS_READ + 1),
    )
    with simulated_endpoint() as url:
        report = measure(program, url, *synthetic, "--concurrency", "1", "--keep-bodies", "0")
    run = report.levels[0].run
    shown = program.run("show", run, "--sample", str(MAX_PROMPTS_READ)).stdout
    assert "not kept" in shown
    assert "not kept" not in program.run("show", run, "--sample", "0").stdout
