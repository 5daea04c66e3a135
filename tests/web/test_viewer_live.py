"""A run is watched while another process writes it: to its end, over reloads, from several windows, and stopped."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect
from tests.app.app_kit import GrowingJournal, Program, finished, trials
from tests.known import known
from tests.simulated import simulated_endpoint
from tests.web.web_kit import PATIENCE, Viewing, viewing

from benchwright.runs.store import last_event_name

ROWS = 24


@pytest.fixture(scope="module")
def slow() -> Iterator[str]:
    """An endpoint that takes a quarter of a second to answer."""
    with simulated_endpoint("--first-token", "250") as url:
        yield url


def begin(program: Program, url: str, rows: int = ROWS, begun: int = 3) -> subprocess.Popen[str]:
    """An evaluation in another process; returns when a few trials are written."""
    process = program.start(*program.evaluating(program.rows(rows), url, "--batch-size", "2"))
    GrowingJournal(program).wait_for(begun, process)
    return process


def figure(page: Page, name: str) -> str:
    return page.locator(f'[data-figure="{name}"]').inner_text()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_run_is_watched_to_its_end_without_touching_the_page(
    viewer: Viewing, page: Page, program: Program, slow: str
) -> None:
    viewer.open(page, "/")
    expect(page.locator(".empty")).to_contain_text("There are no runs yet")
    process = begin(program, slow)
    row = page.locator(".runs tr.running")
    expect(row.locator("progress")).to_be_visible()
    row.locator("[data-row]").click()
    page.wait_for_url("**/runs/*")
    seen = {int(figure(page, "done"))}
    while (done := int(figure(page, "done"))) < ROWS:
        seen.add(done)
        page.wait_for_timeout(100)
    assert any(0 < done < ROWS for done in seen), "it was seen on its way"
    assert process.wait(timeout=30) == 0
    expect(page.locator(".head .chip")).to_have_text("finished")
    expect(page.locator("table.samples tbody tr")).to_have_count(ROWS)
    told = json.loads(program.run("show", program.only_run.name, "--json").stdout)
    score = told["targets"][0]["scores"][0]
    expect(page.locator("tr.noted")).to_contain_text(f"{score['n_scored']} of {score['n']}")


def test_a_reload_in_the_middle_and_a_second_window_show_the_same_end(
    viewer: Viewing, page: Page, program: Program, slow: str
) -> None:
    process = begin(program, slow)
    path = f"/runs/{program.only_run.name}"
    viewer.open(page, path)
    other = page.context.new_page()
    other.goto(viewer.base + path)
    page.reload()
    assert process.wait(timeout=30) == 0
    for window in (page, other):
        expect(window.locator(".head .chip")).to_have_text("finished")
        expect(window.locator("table.samples tbody tr")).to_have_count(ROWS)
    texts = [window.locator("table.samples tbody").inner_text() for window in (page, other)]
    assert texts[0] == texts[1]


def test_a_window_that_was_away_hears_of_what_it_missed(viewer: Viewing, program: Program, slow: str) -> None:
    process = begin(program, slow)
    path = f"/runs/{program.only_run.name}/live"
    first = known(next_event(viewer, path, ""))
    assert process.wait(timeout=30) == 0
    last = known(next_event(viewer, path, first.id))
    assert int(last.id.partition("-")[0]) > int(first.id.partition("-")[0])
    assert last.payload["done"] == str(ROWS)
    assert next_event(viewer, path, last.id, seconds=1.5) is None


def test_a_window_that_was_hidden_catches_up_when_it_is_seen_again(
    viewer: Viewing, page: Page, program: Program, slow: str
) -> None:
    process = begin(program, slow)
    viewer.open(page, f"/runs/{program.only_run.name}")
    turn = "hidden => {{ Object.defineProperty(document, 'hidden', {{ get: () => {}, configurable: true }}); "
    turn += "document.dispatchEvent(new Event('visibilitychange')); }}"
    page.evaluate(turn.format("true"))
    page.wait_for_timeout(500)
    seen = figure(page, "done")
    assert process.wait(timeout=30) == 0
    page.wait_for_timeout(1000)
    assert figure(page, "done") == seen
    page.evaluate(turn.format("false"))
    expect(page.locator('[data-figure="done"]')).to_have_text(str(ROWS))
    expect(page.locator(".head .chip")).to_have_text("finished")


class Event(NamedTuple):
    """An event of a live page: its id, and the texts that it tells by their names."""

    id: str
    payload: dict[str, str]


def next_event(viewer: Viewing, path: str, after: str, seconds: float = 20) -> Event | None:
    """The next event after this id, as a browser that comes back asks for it; None where there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=seconds)
    connection.request("GET", path, headers={"Cookie": viewer.cookie, "Last-Event-ID": after})
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    found: dict[str, str] = {}
    try:
        while "data" not in found:
            name, _, value = answer.readline().decode().strip().partition(": ")
            found[name] = value
    except TimeoutError:
        return None
    finally:
        connection.close()
    return Event(found["id"], json.loads(found["data"]))


@pytest.mark.slow
def test_a_run_is_stopped_and_resumed_from_its_page(
    viewer: Viewing, page: Page, program: Program, slow: str
) -> None:
    rows = 3 * ROWS  # enough to be stopped in their midst by a page that opens slowly
    process = begin(program, slow, rows)
    run = program.only_run
    viewer.open(page, f"/runs/{run.name}")
    page.get_by_role("button", name="Stop").click()
    assert process.wait(timeout=30) == 130
    expect(page.locator(".head .chip")).to_have_text("stopped")
    expect(page.locator(".banner").filter(has_text="Stopped early")).to_be_visible()
    before = len(finished(run))
    assert before < rows
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".head .chip")).to_have_text("running")
    expect(page.locator(".head .chip")).to_have_text("finished")
    assert len(finished(run)) == len(trials(run)) == rows
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)


def test_a_run_that_nobody_works_on_cannot_be_stopped_nor_a_finished_one_resumed(
    viewer: Viewing, program: Program, slow: str
) -> None:
    assert begin(program, slow, rows=4, begun=1).wait(timeout=30) == 0
    run = program.only_run.name
    assert "is not running." in viewer.post(f"/runs/{run}/stop").text
    assert "is finished" in viewer.post(f"/runs/{run}/resume").text


@pytest.mark.slow
def test_what_a_page_started_ends_with_the_viewer_and_can_be_gone_on_with(
    program: Program, slow: str
) -> None:
    process = begin(program, slow, rows=60)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    run = program.only_run
    before = len(finished(run))
    with viewing(program) as viewer:
        assert viewer.post(f"/runs/{run.name}/resume").status == 303
        wait_until(lambda: len(finished(run)) > before + 2)
    assert last_event_name(run) == "stopped"
    assert len(finished(run)) < 60
    assert program.run("resume", run.name).returncode == 0
    assert len(finished(run)) == 60


def test_watching_takes_no_lock_and_writes_nothing(viewer: Viewing, program: Program, slow: str) -> None:
    assert begin(program, slow, rows=4, begun=1).wait(timeout=30) == 0
    run = program.only_run

    def files() -> dict[Path, tuple[int, int]]:
        return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in run.iterdir()}

    before = files()
    for path in ("/", f"/runs/{run.name}", f"/runs/{run.name}/sample?id=0"):
        assert viewer.get(path).status == 200
    assert files() == before
