"""Traps in output folders of EvalScope."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.interop.foreign_kit import WRITERS, run_of, runs_of
from tests.interop.trap_kit import (
    changed,
    cut,
    evalscope_part,
    imported,
    notes,
    objects,
    put_lines,
    trap,
    values,
)

from benchwright.interop import evalscope
from benchwright.interop.foreign_results import ForeignRun, ForeignTrial
from benchwright.interop.result_formats import import_runs


@trap("evalscope", "prefix")
def _(folder: Path) -> None:
    """An interrupted mmlu_pro has no report; its reviews are not those of a subset of mmlu. `acc` is not `accuracy`."""
    out = WRITERS["evalscope"](folder, "m", [1.0, 1.0])
    reviews = objects(evalscope_part(out, "reviews", "sums_default.jsonl"))
    wrong = json.loads(json.dumps(reviews[0]))
    wrong["sample_score"]["score"] |= {
        "value": {"acc": 0.0, "accuracy": 0.5},
        "metadata": {"metric_errors": {"acc": "LookupError"}},
    }
    put_lines(evalscope_part(out, "reviews", "sums_pro_math.jsonl"), [wrong])
    (out / "configs").mkdir()
    (out / "configs" / "task_config.yaml").write_text("api_url: x\ndatasets:\n- sums\n- sums_pro\nlimit: 2\n")
    found = {run.task: (run.state, list(run.trials)) for run in runs_of(out)}
    assert set(found) == {"sums", "sums_pro"}
    assert values(found["sums"][1], "acc") == [1.0, 1.0]
    assert found["sums_pro"][0] == "unfinished"
    (trial,) = found["sums_pro"][1]
    assert (trial.sample, trial.scores["acc"].value, trial.scores["accuracy"].value) == ("math/0", None, 0.5)
    (out / "configs" / "task_config.yaml").unlink()
    report = evalscope_part(out, "reports", "sums.json")
    changed(report, lambda one: one["metrics"][0].update(categories=[{"subsets": [{"name": "default"}]}]))
    assert {run.task for run in runs_of(out)} == {"sums", "sums_pro_math"}


@trap("evalscope", "version")
def _(folder: Path) -> None:
    """Before repeats had numbers, answers to one sample differ in their own id only."""
    out = WRITERS["evalscope"](folder, "m", [1.0, 0.0, 1.0, 1.0])
    file = evalscope_part(out, "reviews", "sums_default.jsonl")
    lines = objects(file)
    for place, line in enumerate(lines):
        line["sample_score"]["group_id"] = place // 2
        del line["sample_score"]["generation_index"]
    put_lines(file, lines[::-1])
    trials = run_of(out)[1]
    found = {(trial.sample, trial.repeat): trial.scores["acc"].value for trial in trials}
    assert found == {
        ("default/0", 0): 1.0,
        ("default/0", 1): 0.0,
        ("default/1", 0): 1.0,
        ("default/1", 1): 1.0,
    }
    assert "again" not in notes(out)
    put_lines(file, [{"index": 0, "choices": [{"review": {"result": 1.0}}]}])
    assert not run_of(out)[1][0].scores


@trap("evalscope", "missing")
def _(folder: Path) -> None:
    """A report without its reviews is told; so are reviews that are fewer than the report counts."""
    out = WRITERS["evalscope"](folder, "m", [1.0, 0.0])
    report = evalscope_part(out, "reports", "sums.json")
    shutil.copy(report, evalscope_part(out, "reports", "other.json"))
    changed(evalscope_part(out, "reports", "other.json"), lambda one: one.update(dataset_name="other"))
    file = evalscope_part(out, "reviews", "sums_default.jsonl")
    put_lines(file, objects(file)[:1])
    (error,) = import_runs(out).unreadable_results
    assert "there are no reviews of other beside this report" in str(error)
    assert "It tells of 2 trials; 1 are in its files." in notes(out)


@trap("evalscope", "doubles")
def _(folder: Path) -> None:
    """Of an answer that a resumed evaluation reviewed again the last review counts, as it does in EvalScope."""
    out = WRITERS["evalscope"](folder, "m", [1.0, 0.0])
    file = evalscope_part(out, "reviews", "sums_default.jsonl")
    lines = objects(file)
    again = json.loads(json.dumps(lines[1]))
    again["sample_score"]["score"]["value"]["acc"] = 1.0
    put_lines(file, [*lines, again])
    assert values(run_of(out)[1], "acc") == [1.0, 1.0]
    assert "1 review stood there again; the last one of an answer counts" in notes(out)


@trap("evalscope", "beside")
def _(folder: Path) -> None:
    """Reviews that grow beside an unchanged report are another import; those of another dataset are not."""
    out = WRITERS["evalscope"](folder, "m", [1.0, 0.0])
    (first,) = imported(out)
    file = evalscope_part(out, "reviews", "sums_default.jsonl")
    put_lines(evalscope_part(out, "reviews", "other_default.jsonl"), objects(file))
    assert sorted(run.is_new for run in imported(out)) == [False, True]
    put_lines(file, objects(file)[:1])
    assert {run.directory for run in imported(out) if run.is_new}.isdisjoint({first.directory})


@trap("evalscope", "damaged")
def _(folder: Path) -> None:
    """A last line that an interruption has torn is left out, and told."""
    out = WRITERS["evalscope"](folder, "m", [1.0, 0.0])
    cut(evalscope_part(out, "reviews", "sums_default.jsonl"))
    cut(evalscope_part(out, "reports", "sums.json"))
    assert values(run_of_first(out), "acc") == [1.0]
    assert "sums_default.jsonl, line 2" in notes(out)
    assert len(import_runs(out).unreadable_results) == 1


def run_of_first(path: Path) -> list[ForeignTrial]:
    (run, *_) = (one for one in evalscope.read(path) if isinstance(one, ForeignRun))
    return list(run.trials)
