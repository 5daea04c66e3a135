"""Traps in logs of Inspect."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from tests.interop.foreign_kit import run_of
from tests.interop.inspect_kit import header, sample, write_log
from tests.interop.trap_kit import (
    notes,
    trap,
    values,
)

from benchwright.records import Status


@trap("inspect", "version")
def _(folder: Path) -> None:
    """The earliest logs have one score without a name, and events below `transcript`."""
    old = sample(1)
    old["score"] = old.pop("scores")["match"]
    old["transcript"] = {"events": [{"event": "model", "model": "openai/small", "working_time": 0.5}]}
    log = {**header(1), "samples": [old], "results": {"scorer": {"name": "match"}, "metrics": {}}}
    path = folder / "a.json"
    path.write_text(json.dumps(log))
    run, (trial,) = run_of(path)
    assert values([trial], "match") == [1.0]
    assert list(run.scores) == ["match"]
    assert [request.total for request in trial.requests] == [500_000_000]


@trap("inspect", "missing")
def _(folder: Path) -> None:
    """Samples that the results count and that are not in the log."""
    path = write_log(folder / "a.eval", [sample(1)], dataset={"samples": 3})
    assert "It tells of 3 trials; 1 are in its files." in notes(path)


@trap("inspect", "doubles")
def _(folder: Path) -> None:
    """A member that stands twice in the archive: the last one counts, and is read once."""
    path = write_log(folder / "a.eval", [sample(1, "C"), sample(2, "C")])
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample(1, "I")))
    assert sorted(values(run_of(path)[1], "match")) == [0.0, 1.0]  # type: ignore[type-var]
    assert "1 member of the archive stood there again" in notes(path)


@trap("inspect", "damaged")
def _(folder: Path) -> None:
    """A sample that is damaged does not keep the others from being read, and counts as a failure."""
    path = write_log(folder / "a.eval", [sample(2)])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/1_epoch_2.json", "{")
    found = {(trial.sample, trial.repeat): trial.status for trial in run_of(path)[1]}
    assert found == {("2", 0): Status.ANSWERED, ("1", 1): Status.EXECUTION_ERROR}
    assert "The records of 1 trial are damaged" in notes(path)
