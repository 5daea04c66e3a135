"""Stores of every landed version: today's commands read them, and show what the old version showed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import one_line_of
from tests.runs.old_store import AGENT_EVALUATION, ARCHIVES, EVALUATION, OldStore, commits_with
from tests.runs.old_stores.make_archive import MAX_BYTES
from tests.web.web_kit import viewing

PRECISION = 1e-6
"""Relative error of figures: sums of other orders, and percentiles in single precision."""

AT_ONCE = r"requests\.(prompt_tps_mean|gap_p50|gap_p99)"
"""Speeds of answers that came in one piece, which are no speeds."""

CHANGED = {
    "e7110fb": r"requests\.(dispatch_lag|detect_lag)_p99",  # were read from a histogram
    # An answer without a letter was left out of the mean; an interval went below 0; a note has other words.
    "d053297": rf"{AT_ONCE}|scores\[\d\]\.(mean_scored|n_scored|n_samples|low|high|bounds)|notes\[0\]",
    "46915c2": AT_ONCE,
    "e499303": AT_ONCE,
    "4cf5bb0": AT_ONCE,
}
"""Figures that later versions corrected, by the version that showed them otherwise, as the ends of their paths."""

every_store = pytest.mark.parametrize("store", commits_with(), indirect=True)


def stores_with(pattern: str) -> pytest.MarkDecorator:
    """Return the parametrization of a test by the stores that have such a file."""
    return pytest.mark.parametrize("store", commits_with(pattern), indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OldStore]:
    """An old store, one for each archive."""
    store = OldStore(tmp_path, request.param)
    yield store
    store.end()


def test_there_are_stores_of_the_landed_versions() -> None:
    assert {"d053297", "4cf5bb0"} <= ARCHIVES.keys()
    assert all(path.stat().st_size <= MAX_BYTES for path in ARCHIVES.values())


@every_store
def test_runs_lists_every_run(store: OldStore) -> None:
    assert {run["id"] for run in store.json("runs")["runs"]} == store.shown.keys()


@every_store
def test_show_has_the_figures_that_the_old_version_showed(store: OldStore) -> None:
    differing = [
        f"{run}: {line}"
        for run, old in store.shown.items()
        for line in differences(old, store.json("show", run), but=CHANGED.get(store.commit))
    ]
    assert differing == []


def differences(old: Any, new: Any, path: str = "", but: str | None = None) -> Iterator[str]:
    """Yield what an old version showed and today's does not; new keys are no difference. `but`: corrected figures."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            yield from differences(value, new.get(key), f"{path}.{key}", but)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{path}[{place}]", but)
    elif not is_same(old, new) and (but is None or not re.search(rf"\.({but})$", path)):
        yield f"{path} was {old}, is {new}"


def is_same(old: Any, new: Any) -> bool:
    """Return True if two values are the same figure."""
    if isinstance(old, float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=PRECISION)
    return bool(old == new)


@every_store
def test_an_unfinished_run_is_resumed_with_what_it_had(store: OldStore) -> None:
    before = store.json("show", store.unfinished)
    with store.serving():
        store.done("resume", store.unfinished)
    after = store.json("show", store.unfinished)
    assert (before["state"], after["state"]) == ("unfinished", "finished")
    assert 0 < before["done"] < after["done"] == after["planned"] == 6
    lines = (store.home / "runs" / store.unfinished / "trials.jsonl").read_text().splitlines()
    keys = [line["key"] for line in map(json.loads, lines) if line["type"] == "trial"]
    assert len(keys) == len(set(keys)) == 6  # none was asked twice


@every_store
def test_a_finished_evaluation_is_answered_from_the_cache_without_a_server(store: OldStore) -> None:
    more = ("--model", "simulated-a", "--n", "2", "--batch-size", "4", "--eval-fn", "rewards:length")
    store.done(*AGENT_EVALUATION, *more)
    assert len(store.runs) == len(store.shown)  # no new run


@every_store
def test_conversations_are_reused_where_the_scorer_has_changed(store: OldStore) -> None:
    baseline = ("--baseline-model", "simulated-b", "--baseline-base-url", EVALUATION[-1])
    store.done(*EVALUATION, "--model", "simulated-a", "--n", "2", *baseline, "--reuse", "--no-probe")
    made = {path.name for path in store.runs} - store.shown.keys() or {store.evaluation}
    (run,) = made
    new, old = store.json("show", run), store.shown[store.evaluation]
    assert [target["trials"] for target in new["targets"]] == [12, 12]
    assert means_of(new) == means_of(old)


def means_of(shown: dict[str, Any]) -> list[float]:
    """Return the mean of each score of each target."""
    return [score["mean"] for target in shown["targets"] for score in target["scores"]]


@every_store
def test_compare_compares_the_models_of_a_run_and_the_run_with_its_result_file(store: OldStore) -> None:
    run = store.evaluation
    assert "difference" in store.done("compare", f"{run}@primary", f"{run}@baseline")
    assert "difference" in store.done("compare", "out/eval.json", run)


@stores_with("out/mmlu_pro_*.json")
def test_a_benchmarks_result_file_equals_its_run(store: OldStore) -> None:
    compared = store.done("compare", store.file("out/mmlu_pro_*.json"), store.named("mmlu-pro"))
    assert re.search(r"accuracy +0\.750  0\.750 +\+0\.000", compared)


@stores_with("out/load.json")
def test_a_measurement_under_load_is_found_by_its_tag_and_by_its_file(store: OldStore) -> None:
    file = store.file("out/load.json")
    tag = json.loads((store.directory / file).read_text())["id"]
    compared = store.done("compare", tag, file)
    assert "TTFT p50" in compared
    store.done("report", file, "-o", "load.html")


@every_store
def test_report_and_table_show_the_runs(store: OldStore) -> None:
    store.done("report", *store.shown, "--anyway", "-o", "report.html")
    assert "SIMULATED" in (store.directory / "report.html").read_text().upper()
    assert "questions" in store.done("table")


@stores_with("out/trials.jsonl")
def test_export_writes_the_trials_that_the_old_version_wrote(store: OldStore) -> None:
    store.done("export", store.evaluation, "-o", "trials.jsonl")
    new = read_lines(store.directory / "trials.jsonl")
    assert len(new) == 24
    old = read_lines(store.directory / store.file("out/trials.jsonl"))
    assert [line for one, other in zip(old, new, strict=True) for line in differences(one, other)] == []


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("store", "layout"),
    [
        pytest.param(*commit.values, layout, marks=commit.marks)
        for layout in ("inspect", "lm-eval")
        for commit in commits_with(f"out/{layout}")
    ],
    indirect=["store"],
)
def test_an_export_in_another_programs_layout_is_imported(store: OldStore, layout: str) -> None:
    folder = store.file(f"out/{layout}")
    run = store.named("mmlu-pro")
    store.done("import", folder)
    (imported,) = {path.name for path in store.runs} - store.shown.keys()
    assert means_of(store.json("show", imported)) == means_of(store.shown[run])


@every_store
def test_view_has_a_page_for_each_run_and_its_trials(store: OldStore) -> None:
    with viewing(store) as viewer:
        for run, shown in store.shown.items():
            page = viewer.get(f"/runs/{run}")
            assert (page.status, shown["name"] in page.text) == (200, True), run
        sample = viewer.get(viewer.sample(store.evaluation, "0"))
        assert sample.status == 200


@stores_with("old-pack.tar.gz")
def test_an_installed_pack_is_ready_and_its_run_can_be_seen_again(store: OldStore) -> None:
    run = store.named("old-pack")
    (pack,) = store.json("pack", "list")["packs"]
    assert (pack["id"], pack["status"]) == ("old-pack", "ready")
    assert "run finished: simulated-a 12.5" in store.done("replay", run)
    assert "simulated-a: 12.5" in store.done("pack", "card", run)


@stores_with("old-pack.tar.gz")
def test_an_archive_of_a_pack_is_installed(store: OldStore) -> None:
    archive = store.file("old-pack.tar.gz")
    store.done("pack", "delete", "old-pack", "--yes")
    store.done("pack", "install", f"./{archive}")
    assert store.json("pack", "list")["packs"][0]["status"] == "ready"


@stores_with("out/mmlu_pro_*.json")
@pytest.mark.parametrize("kind", ["mmlu-pro", "old-pack"])
def test_a_benchmark_and_a_pack_that_were_cut_off_are_resumed(store: OldStore, kind: str) -> None:
    run = store.named(kind)
    cut_off(store, run)
    if (store.commit, kind) in OTHER_RULES:
        assert "another version of Benchwright began it by other rules" in one_line_of(
            store.run("resume", run).stderr
        )
        return
    with store.serving():
        store.done("resume", run)
    after = store.json("show", run)
    assert (after["state"], after["done"]) == ("finished", store.shown[run]["planned"])


OTHER_RULES = {("d053297", "mmlu-pro")}
"""Runs that cannot be resumed, because the benchmark has another protocol since."""


@every_store
def test_an_evaluation_by_a_scorer_that_has_other_rules_is_not_begun_anew_by_resume(store: OldStore) -> None:
    cut_off(store, store.evaluation)
    with store.serving():
        ended = store.run("resume", store.evaluation)
    state = store.json("show", store.evaluation)["state"]
    assert len(store.runs) == len(store.shown)
    assert state == "finished" if ended.returncode == 0 else "by other rules" in one_line_of(ended.stderr)


def cut_off(store: OldStore, run: str) -> None:
    """Cut a run's journal before its last trial, as if the process had ended there."""
    journal = store.home / "runs" / run / "trials.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    trials = [place for place, line in enumerate(lines) if b'"type":"trial"' in line]
    journal.write_bytes(b"".join(lines[: trials[-1]]))
