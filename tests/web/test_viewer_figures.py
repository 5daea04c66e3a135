"""Pages of a run that goes on, or has lost something: the figures of `show`, nobody else's conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import STARTED, Made, made
from tests.web.web_kit import Viewing, viewing, write

from benchwright.records import RunEvent, Status, Target, TrialRecord
from benchwright.runs.journal import BODIES_FILE, Journal, TrialBody, encode_json
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import DataFile
from benchwright.runs.tags_and_notes import TAGS_FILE

LIVE = "20260101T000000-live-00000000"
REPEATED = "20260102T000000-repeated-00000000"
CUT = "20260103T000000-cut-00000000"
SWAPPED = "20260104T000000-swapped-00000000"
LEVEL = "20260105T000000-level-00000000"
EQUAL = "20260106T000000-equal-00000000"


def conversations(directory: Path, answers: list[str]) -> None:
    """One trial for each answer."""
    journal = Journal(directory)
    for number, answer in enumerate(answers):
        key = fingerprint(number)
        body = TrialBody(key, messages=[{"role": "assistant", "content": answer}], answer=answer)
        record = TrialRecord(key, str(number), "primary", Status.ANSWERED, started_at=STARTED, duration=1)
        journal.write_trial(record, encode_json(body))
    journal.close()


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    write(shared_program, LIVE, made([1.0] * 5), finished=False)
    graded = [Made(str(n), None if n == 3 else float(n < 2), repeat=r) for n in range(6) for r in range(3)]
    write(shared_program, REPEATED, [*graded, Made("6", failed=Status.PROVIDER_ERROR)], finished=False)
    trials = [*made([1.0] * 3), *(Made(f"cut-{n}", failed=Status.CANCELLED) for n in range(2))]
    write(shared_program, CUT, trials, finished=False)
    conversations(write(shared_program, SWAPPED, [], finished=False), ["the first", "the other", "torn off"])
    bodies = shared_program.home / "runs" / SWAPPED / BODIES_FILE
    lines = bodies.read_bytes().splitlines(keepends=True)
    assert len(lines[0]) == len(lines[1])
    bodies.write_bytes(lines[1] + lines[0] + lines[2][:20])
    level = write(
        shared_program,
        LEVEL,
        [],
        about={"load": {"level": {"concurrency": 4}}},
        data=[DataFile("prompts.jsonl", "0" * 32, 300)],
        finished=False,
    )
    journal = Journal(level)
    journal.write_lines(RunEvent("started", STARTED))
    journal.close()
    conversations(level, ["a", "b"])
    (level / TAGS_FILE).write_text('["warm-cache"]')
    sampled = Target("primary", "model", "http://127.0.0.1:9/v1", {"temperature": 0.8})
    write(shared_program, EQUAL, [*made([1.0] * 5), *made([1.0] * 5, repeat=1)], targets=[sampled])
    with viewing(shared_program) as viewer:
        yield viewer


def scores_of(viewer: Viewing, run: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(viewer.program.run("show", run, "--json").stdout)
    first: dict[str, Any] = told["targets"][0]["scores"][0]
    return first


def test_five_of_five_are_shown_with_the_interval_of_show_while_the_run_goes_on(viewer: Viewing) -> None:
    score = scores_of(viewer, LIVE)
    assert score["low"] < 0.6
    page = viewer.get(f"/runs/{LIVE}").text
    assert f"[{score['low']:.3f}, {score['high']:.3f}]" in page
    assert "[1.000, 1.000]" not in page


def test_a_mean_and_its_pass_at_1_are_those_of_show_and_say_how_failures_count(viewer: Viewing) -> None:
    score = scores_of(viewer, REPEATED)
    page = viewer.get(f"/runs/{REPEATED}").text
    assert f"<strong>{score['mean_scored']:.3f}</strong>" in page
    assert f"{score['passes'][0]['pass_at_k']:.1%}" in page
    assert "exact pass@1, failures as 0" in page


def test_repeats_that_are_all_equal_are_told_of(viewer: Viewing) -> None:
    assert "Repeats are equal: at temperature 0.8" in viewer.get(f"/runs/{EQUAL}").text
    assert "Repeats are equal" not in viewer.get(f"/runs/{REPEATED}").text


def test_a_level_of_a_warm_cache_says_so(viewer: Viewing) -> None:
    assert "Warm cache:" in viewer.get(f"/runs/{LEVEL}").text
    assert "Warm cache:" not in viewer.get(f"/runs/{LIVE}").text


def test_trials_that_were_cut_off_are_listed_and_counted_by_nothing(viewer: Viewing) -> None:
    page = viewer.get(f"/runs/{CUT}").text
    assert '<span class="figure" data-figure="done">3</span> of <span data-figure="total">5</span>' in page
    assert page.count(">cut off</span>") == 2
    assert "2 more were cut off and do not count" in page
    assert scores_of(viewer, CUT)["n"] == 3


@pytest.mark.parametrize("sample", ["0", "1", "2"])
def test_a_lost_conversation_is_told_of_and_no_other_is_shown(viewer: Viewing, sample: str) -> None:
    path = viewer.sample(SWAPPED, sample)
    page = viewer.get(path).text
    assert "The conversation was lost." in page
    assert not any(text in page for text in ("the first", "the other", "torn off"))
    body = viewer.get(path.replace("/sample?", "/sample/file?") + "&part=body&attempt=0&exchange=0")
    assert (body.status, "lost" in body.text) == (404, True)
    listed = viewer.get(f"/runs/{SWAPPED}?part=samples").text
    assert not any(text in listed for text in ("the first", "the other", "torn off"))


def test_a_level_of_load_without_a_plan_says_how_many_trials_it_has(viewer: Viewing) -> None:
    page = viewer.get(f"/runs/{LEVEL}").text
    assert '<span class="figure" data-figure="done">2</span> of <span data-figure="total">?</span>' in page
    listed = viewer.get("/?q=level").text
    assert "counting…" not in listed
    assert "300" not in listed
