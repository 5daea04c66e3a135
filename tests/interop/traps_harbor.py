"""Traps in jobs of Harbor, and in the trajectories in them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.interop.foreign_kit import WRITERS, run_of, runs_of
from tests.interop.trap_kit import (
    changed,
    cut,
    harbor_trial,
    imported,
    notes,
    trap,
    values,
)

from benchwright.interop.foreign_results import UnreadableResults


@trap("harbor", "prefix")
def _(folder: Path) -> None:
    """Folders are named by the beginning of a task's name: the name itself stands in the result."""
    job = WRITERS["harbor"](folder, "m", [1.0, 0.0])
    other = harbor_trial(job, 1).rename(job / "sum-0__gfedcba")
    changed(other / "result.json", lambda result: result.update(task_name="sum-0-and-more"))
    assert {trial.sample for trial in run_of(job)[1]} == {"sum-0", "sum-0-and-more"}


@trap("harbor", "version")
def _(folder: Path) -> None:
    """Results without a dataset, a checksum and an agent's model, as earlier versions wrote them."""
    job = WRITERS["harbor"](folder, "m", [1.0])

    def old(result: Any) -> None:
        del result["source"], result["task_checksum"], result["agent_info"]["model_info"]

    changed(harbor_trial(job) / "result.json", old)
    run, (trial,) = run_of(job)
    assert (run.task, run.targets[0].model, trial.sample, trial.sample_digest) == (
        "m",
        "mock/m",
        "sum-0",
        None,
    )


@trap("harbor", "missing")
def _(folder: Path) -> None:
    """Trials that the job counts and that were not copied with it."""
    job = WRITERS["harbor"](folder, "m", [1.0, 0.0])
    shutil.rmtree(harbor_trial(job, 1))
    assert "It tells of 2 trials; 1 are in its files." in notes(job)


@trap("harbor", "doubles")
def _(folder: Path) -> None:
    """Tasks of one name in two datasets are two samples; a copied folder is no attempt; a changed task no repeat."""
    job = WRITERS["harbor"](folder, "m", [1.0, 0.0])
    changed(harbor_trial(job, 1) / "result.json", lambda one: one.update(task_name="sum-0", source="other"))
    found = {run.task: values(list(run.trials), "reward") for run in runs_of(job)}
    assert found == {"sums": [1.0], "other": [0.0]}
    changed(harbor_trial(job, 1) / "result.json", lambda one: one.update(source="sums"))
    run, trials = run_of(job)
    assert (run.repeats, len({trial.sample for trial in trials})) == (1, 2)
    assert "The task was changed between attempts" in notes(job)
    shutil.rmtree(harbor_trial(job, 1))
    changed(harbor_trial(job) / "result.json", lambda one: one.update(id="4711"))
    shutil.copytree(harbor_trial(job), job / "copy of sum-0")
    assert len(run_of(job)[1]) == 1
    changed(job / "copy of sum-0" / "result.json", lambda one: one.update(verifier_result=None))
    with pytest.raises(UnreadableResults, match="are one trial of Harbor, and their results differ"):
        run_of(job)


@trap("harbor", "beside")
def _(folder: Path) -> None:
    """A reward that changes in a trial's folder is another import, though the job's own result stays."""
    job = WRITERS["harbor"](folder, "m", [1.0])
    imported(job)
    rewards = {"rewards": {"reward": 0.0}}
    changed(harbor_trial(job) / "result.json", lambda one: one.update(verifier_result=rewards))
    (again,) = imported(job)
    assert again.is_new


@trap("harbor", "damaged")
def _(folder: Path) -> None:
    job = WRITERS["harbor"](folder, "m", [1.0, 0.0])
    cut(harbor_trial(job, 1) / "result.json")
    assert values(run_of(job)[1], "reward") == [1.0]
    assert "The results of 1 trials are damaged, and left out" in notes(job)


def trajectory(job: Path, **more: Any) -> Path:
    steps = [
        {"step_id": 1, "source": "user", "message": "Add."},
        {"step_id": 2, "source": "agent", "message": "2"},
    ]
    path = harbor_trial(job) / "agent" / "trajectory.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"schema_version": "ATIF-v1.7", "steps": steps, **more}))
    return path


@trap("atif", "version")
def _(folder: Path) -> None:
    """Steps without metrics, calls or observations, and sources that are not known."""
    job = WRITERS["harbor"](folder, "m", [1.0])
    trajectory(
        job, schema_version="ATIF-v9", steps=[{"source": "judge"}, {"source": "agent", "message": "2"}]
    )
    (trial,) = run_of(job)[1]
    assert [message["content"] for message in trial.messages] == ["2"]


@trap("atif", "missing")
def _(folder: Path) -> None:
    job = WRITERS["harbor"](folder, "m", [1.0])
    (trial,) = run_of(job)[1]
    assert (trial.messages, values([trial], "reward")) == ([], [1.0])


@trap("atif", "beside")
def _(folder: Path) -> None:
    job = WRITERS["harbor"](folder, "m", [1.0])
    imported(job)
    trajectory(job)
    (again,) = imported(job)
    assert again.is_new


@trap("atif", "damaged")
def _(folder: Path) -> None:
    """A trajectory that is cut short costs the conversation, not the reward."""
    job = WRITERS["harbor"](folder, "m", [1.0])
    cut(trajectory(job))
    (trial,) = run_of(job)[1]
    assert (trial.messages, values([trial], "reward")) == ([], [1.0])
    assert "The trajectory is damaged, and left out; the reward counts: 1 trial" in notes(job)
