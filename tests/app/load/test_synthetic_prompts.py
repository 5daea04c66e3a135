"""Which synthetic prompts are sent: new ones in each measurement, or those of a seed."""

from __future__ import annotations

from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, runs_of
from tests.app.sampling_server import sampling_server

from benchwright.analysis.load.records import LoadReport
from benchwright.runs.manifest import read_manifest

CALIBRATING = 2
"""Requests before the first level."""


def sent(program: Program, *more: str) -> tuple[LoadReport, list[str]]:
    """A measurement of two levels of three requests, and the prompts of its levels as the server got them."""
    with sampling_server() as server:
        report = measure(
            *(
                program,
                server.base_url,
                "--synthetic-input",
                "100",
                "--concurrency",
                "1,2",
                "--requests",
                "3",
            ),
            *more,
        )
    return report, [body["messages"][0]["content"] for body in server.bodies[CALIBRATING:]]


def test_each_measurement_sends_prompts_that_the_server_has_not_seen(program: Program) -> None:
    (_, first), (_, second) = sent(program), sent(program)
    assert len({*first, *second}) == 12


def test_the_seed_that_was_chosen_is_recorded_and_sends_the_same_prompts_again(program: Program) -> None:
    report, first = sent(program)
    assert report.prompt_seed is not None
    again, second = sent(program, "--seed", str(report.prompt_seed))
    assert sorted(first) == sorted(second)
    assert again.prompt_seed == report.prompt_seed
    recorded = {read_manifest(run).about["load"]["prompt_seed"] for run in runs_of(program, report)}
    assert recorded == {report.prompt_seed}
    assert f"The prompts are new ones; --seed {report.prompt_seed} sends the same again" in report.notes
    assert not [note for note in again.notes if "The prompts are new" in note]
